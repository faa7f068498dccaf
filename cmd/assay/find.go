package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/driver"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/stat"
)

// findFlags are the flags of find, with those of a load that it shares.
type findFlags struct {
	loadFlags
	meets                   []string
	from, to, width, budget string
}

func newFind() *cobra.Command {
	var f findFlags
	var asJSON, quiet bool
	c := &cobra.Command{
		Use:   "find URL --meets CONDITION",
		Short: "The highest rate that meets conditions, as a bracket",
		Long: `Find looks for the highest rate at which one URL meets conditions, and answers with a bracket: the
highest rate that met them and the lowest that missed one. Each probe is an open loop of its own. The
rate doubles from --from and is then bisected, again where a probe does not decide; both ends must be
shown twice. Fresh loads at 0.9, 1.0 and 1.1 times the estimate, shuffled and twice as long, confirm
it, and one after an overload asks whether the target recovers. Operations that fail, time out or are
dropped count as misses. A probe that the generator could not carry out is repeated and is never a
miss of the target. A probe is longer than --for where its conditions need more operations.

Conditions: pNN of response_time, service_time or lag; mean and max of them; errors; delivered; rate;
in_flight. Exit status 0: the bracket was found; 3: it was not, with the reason; 4: interrupted.`,
		Example: `  assay find http://127.0.0.1:8080/ --meets 'p99(response_time) < 50ms'
  assay find http://127.0.0.1:8080/ --meets 'p95(response_time) < 1s' --meets 'errors < 1%' --from 1/s --for 20s`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return findVerb(c, args[0], &f, asJSON, quiet) },
	}
	f.bind(c)
	s := c.Flags()
	for name, value := range map[string]string{"for": "5s", "warmup": "1s"} {
		flag := s.Lookup(name)
		flag.DefValue = value
		if err := flag.Value.Set(value); err != nil {
			panic(err) // the flags are texts
		}
	}
	s.Lookup("for").Usage = "how long a probe lasts at least, after its warm-up"
	s.Lookup("warmup").Usage = "load before each probe, recorded apart"
	s.StringArrayVar(&f.meets, "meets", nil, "`condition` that the rate must meet (repeatable)")
	s.StringVar(&f.from, "from", "10/s", "`rate` to start from, one that is safe")
	s.StringVar(&f.to, "to", "", "`rate` never to exceed (default none)")
	s.StringVar(&f.width, "width", "10%", "width of the bracket at which to stop")
	s.StringVar(&f.budget, "budget", "60,30m", "most `probes`, most time, or both")
	s.StringVar(&f.inFlight, "in-flight", "auto", "most operations in flight; auto is rate x timeout")
	s.StringVar(&f.arrivals, "arrivals", "constant", "constant or poisson")
	s.BoolVar(&asJSON, "json", false, "print the bracket and the probes as JSON")
	s.BoolVar(&quiet, "quiet", false, "no live view and no table; the answer and the notes")
	return c
}

func findVerb(c *cobra.Command, address string, f *findFlags, asJSON, quiet bool) error {
	s, err := f.finder(address)
	if err != nil {
		return err
	}
	tick := liveView(c.ErrOrStderr(), quiet || asJSON)
	s.send = func(ctx context.Context, l assay.Load, seed uint64) (load.Account, error) {
		return sendProbe(ctx, l, seed, tick)
	}
	found, err := s.find(c.Context())
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(c, found)
	} else {
		err = printFound(c.OutOrStdout(), found, quiet)
	}
	switch {
	case err != nil:
		return err
	case c.Context().Err() != nil:
		return exitStatus(exitInterrupted)
	case !found.Valid:
		return exitStatus(exitOpen)
	}
	return nil
}

func printFound(w io.Writer, found report.FoundRate, quiet bool) error {
	width, colour := terminal(w)
	return report.FindText(w, found, width, quiet, colour)
}

// sendProbe carries one load out, its arrivals and its bodies from the seed.
func sendProbe(ctx context.Context, l assay.Load, seed uint64, tick func(load.Progress)) (load.Account, error) {
	plan, err := load.NewPlan(l, seed)
	if err != nil {
		return load.Account{}, err
	}
	text := strconv.FormatUint(seed, 10)
	d, err := driver.New(l, map[string]string{"block": "1", "trial": text, "seed": text}, seed)
	if err != nil {
		return load.Account{}, err
	}
	account, err := load.Run(ctx, plan, d, load.Options{Tick: tick})
	return account, errors.Join(err, d.Close())
}

// finder is the search that the flags describe.
func (f *findFlags) finder(address string) (*finder, error) {
	s := &finder{seed: f.seed, rest: time.Second}
	var errs []error
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	from, err := rateOf("--from", f.from)
	note(err)
	f.rate = "1/s" // a load has one; every probe sets its own
	s.load, err = f.load(address)
	note(err)
	s.search.Start = from
	if s.load.Arrivals != "constant" && s.load.Arrivals != "poisson" {
		note(fmt.Errorf("--arrivals %q: want constant or poisson", s.load.Arrivals))
	}
	if f.to != "" {
		s.search.Most, err = rateOf("--to", f.to)
		note(err)
		if err == nil && s.search.Most < s.search.Start {
			note(fmt.Errorf("--to %s: want a rate of at least --from %s", f.to, f.from))
		}
	}
	s.search.Width, err = widthOf(f.width)
	note(err)
	s.budget, err = budgetOf(f.budget)
	note(err)
	if len(f.meets) == 0 {
		note(advise(errors.New("find: no condition to meet"), "--meets 'p99(response_time) < 50ms'"))
	}
	for _, text := range f.meets {
		o, err := newObjective(text)
		note(err)
		s.meets = append(s.meets, o)
	}
	s.search.Least = s.search.Start / leastShare
	return s, errors.Join(errs...)
}

func rateOf(flag, text string) (float64, error) {
	q, err := assay.ParseQuantity(text)
	if err != nil || !q.Unit.Dim.PerSecond && !q.Bare || !(q.Number > 0) || math.IsInf(q.Number, 0) {
		return 0, fmt.Errorf("%s %q: want a rate above 0, such as 1000/s", flag, text)
	}
	return q.Base(), nil
}

func widthOf(text string) (float64, error) {
	q, err := assay.ParseQuantity(text)
	if err != nil || q.Unit.Dim != (assay.Dimension{}) || !(q.Base() >= leastWidth) || q.Base() > 1 {
		return 0, fmt.Errorf("--width %q: want a share from 1%% to 100%%", text)
	}
	return q.Base(), nil
}

// A findBudget bounds a search.
type findBudget struct {
	probes int           // 0: not bounded
	time   time.Duration // 0: not bounded
}

// budgetOf reads "60", "30m" or both with a comma between.
func budgetOf(text string) (findBudget, error) {
	var b findBudget
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		n, err := strconv.Atoi(part)
		if err == nil && n > 0 && b.probes == 0 {
			b.probes = n
			continue
		}
		d, err := assay.ParseDuration(part)
		if err != nil || d <= 0 || b.time != 0 {
			return b, fmt.Errorf("--budget %q: want a number of probes, a time, or both, such as 60,30m", text)
		}
		b.time = d
	}
	return b, nil
}

const (
	leastWidth = 0.01
	// leastShare is how far below --from the search may go.
	leastShare = 64
)

// confidence of the decision of one probe; each end of the bracket takes two that agree.
const probeConfidence = 0.95

// word is what a probe says.
func word(d stat.Decision) string {
	switch d {
	case stat.Confirmed:
		return "met"
	case stat.Refuted:
		return "missed"
	}
	return "undecided"
}
