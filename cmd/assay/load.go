package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/driver"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/measure"
	"github.com/assaybench/assay/report"
)

// loadFlags are the flags that describe a load; they bear the names of the file's keys.
type loadFlags struct {
	rate, clients                 string
	think, duration, warmup       string
	timeout, inFlight, arrivals   string
	late, phases                  bool
	method, body, version         string
	headers, allowHosts           []string
	noKeepAlive, insecure         bool
	connections                   int
	seed                          uint64
	out, operations, unix, expect string
	counter                       string
}

func (f *loadFlags) bind(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.duration, "for", "10s", "how long the load lasts, after the warm-up")
	s.StringVar(&f.warmup, "warmup", "", "load before that, recorded apart (default none)")
	s.StringVar(&f.timeout, "timeout", "10s", "of one operation; also how long the end drains")
	s.StringVar(&f.method, "method", "GET", "HTTP `method`")
	s.StringVar(&f.body, "body", "", "request body: `text`, or @file, or @folder of files")
	s.StringArrayVar(&f.headers, "header", nil, "`'Name: value'` of a header (repeatable)")
	s.StringVar(&f.version, "http", "1.1", "HTTP `version`: 1.1 or 2")
	s.StringVar(&f.unix, "unix", "", "connect to this unix `socket`")
	s.StringVar(&f.expect, "expect", "", "expected `status` codes, such as 200,404 (default 200 to 299)")
	s.BoolVar(&f.noKeepAlive, "no-keep-alive", false, "one connection for each operation")
	s.IntVar(&f.connections, "connections", 0, "most connections (default as many as are in flight)")
	s.BoolVar(&f.insecure, "insecure", false, "do not verify the TLS certificate")
	s.StringArrayVar(&f.allowHosts, "allow-host", nil, "a `host` beyond this machine that may be sent load (repeatable)")
	s.Uint64Var(&f.seed, "seed", 1, "of arrivals and bodies")
}

// bindShape binds the flags that say when operations are sent.
func (f *loadFlags) bindShape(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.rate, "rate", "", "arrivals of an open loop, such as `1000/s`")
	s.StringVar(&f.clients, "clients", "", "number of `clients` of a closed loop")
	s.StringVar(&f.think, "think", "", "pause of a client between operations")
	s.StringVar(&f.inFlight, "in-flight", "auto", "most operations in flight in an open loop; auto is rate x timeout")
	s.StringVar(&f.arrivals, "arrivals", "constant", "constant or poisson")
	s.BoolVar(&f.late, "late", false, "send an arrival that finds no slot late instead of dropping it")
	s.StringVar(&f.operations, "operations", "", "all: keep every operation in operations.parquet (needs --out)")
	s.StringVar(&f.out, "out", "", "`folder` for the interval logs")
	s.BoolVar(&f.phases, "phases", false, "time the phases of operations too: resolve, connect, tls, write, wait, read")
	s.StringVar(&f.counter, "counter", "", "the target's own count of requests, `URL#FIELD` of metrics or JSON, read before and after")
}

func newLoad() *cobra.Command {
	var f loadFlags
	var asJSON, quiet bool
	c := &cobra.Command{
		Use:   "load URL",
		Short: "One open or closed loop with the delivery ledger",
		Long: `Load sends operations to one URL: at a rate, whatever the target does (an open loop), or by a number of
clients that wait for each answer (a closed loop). It says exactly what was planned, sent, dropped,
answered and failed; response times count from the intended time. Exit status 0: the figures are
valid (an overloaded target is a note); 3: void, with the reason.`,
		Example: `  assay load http://127.0.0.1:8080/ --rate 1000/s --for 30s
  assay load http://127.0.0.1:8080/ --clients 64 --for 10s
  assay load http://127.0.0.1:8080/score --rate 50/s --arrivals poisson --method POST --body @payload.json`,
		Args: one("URL", "http://127.0.0.1:8080/ --rate 100/s --for 10s"),
		RunE: func(c *cobra.Command, args []string) error { return loadVerb(c, args[0], &f, asJSON, quiet) },
	}
	f.bindShape(c)
	f.bind(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the account as JSON")
	c.Flags().BoolVar(&quiet, "quiet", false, "no live view; the answer and the notes")
	return c
}

func loadVerb(c *cobra.Command, address string, f *loadFlags, asJSON, quiet bool) error {
	l, err := f.load(address)
	if err != nil {
		return err
	}
	account, err := countLoad(c, l, f, liveView(c.ErrOrStderr(), quiet || asJSON))
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(c, account)
	} else {
		err = printAccount(c, account, quiet)
	}
	switch {
	case err != nil:
		return err
	case account.Interrupted:
		return exitStatus(exitInterrupted)
	case !account.Valid:
		return exitStatus(exitOpen)
	}
	return nil
}

// sendLoad carries a load out.
func sendLoad(c *cobra.Command, l assay.Load, f *loadFlags, tick func(load.Progress)) (load.Account, error) {
	plan, err := load.NewPlan(l, f.seed)
	if err != nil {
		return load.Account{}, err
	}
	d, err := driver.New(l, map[string]string{"block": "1", "trial": "1", "seed": fmt.Sprint(f.seed)}, f.seed)
	if err != nil {
		return load.Account{}, err
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return load.Account{}, errors.Join(fmt.Errorf("make folder: %w", err), d.Close())
		}
	}
	account, err := load.Run(c.Context(), plan, d, load.Options{Dir: f.out, Tick: tick, Batches: true, Phases: l.Phases})
	return account, errors.Join(err, d.Close())
}

// load is the load that the flags describe.
func (f *loadFlags) load(address string) (assay.Load, error) {
	l := assay.Load{Driver: "http", Arrivals: f.arrivals, Late: f.late, Operations: f.operations, SeedBy: "block", Phases: f.phases}
	var errs []error
	if f.rate != "" && f.clients != "" || f.rate == "" && f.clients == "" {
		errs = append(errs, errors.New("load: want exactly one of --rate (an open loop) and --clients (a closed one)"))
	}
	if f.operations != "" && f.out == "" {
		errs = append(errs, errors.New("--operations all: want --out FOLDER for operations.parquet"))
	}
	for _, d := range []struct {
		name, text string
		to         *time.Duration
	}{{"for", f.duration, &l.For}, {"warmup", f.warmup, &l.Warmup}, {"timeout", f.timeout, &l.Timeout}, {"think", f.think, &l.Think}} {
		if d.text == "" {
			continue
		}
		v, err := assay.ParseDuration(d.text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", d.name, err))
		}
		*d.to = v
	}
	if f.rate != "" {
		q, err := assay.ParseQuantity(f.rate)
		if err != nil || !q.Unit.Dim.PerSecond && !q.Bare || q.Number <= 0 {
			errs = append(errs, fmt.Errorf("--rate %q: want a rate above 0, such as 1000/s", f.rate))
		}
		l.Rate = q.Base()
	}
	l.Clients = count(f.clients, "clients", &errs)
	if f.inFlight != "auto" {
		l.InFlight = count(f.inFlight, "in-flight", &errs)
	}
	var err error
	if l.HTTP, err = f.http(address); err != nil {
		errs = append(errs, err)
	}
	return l, errors.Join(errs...)
}

// count reads a whole number above 0; the empty text is 0.
func count(text, flag string, errs *[]error) int {
	if text == "" {
		return 0
	}
	var n int
	if _, err := fmt.Sscanf(text+"\n", "%d\n", &n); err != nil || n <= 0 {
		*errs = append(*errs, fmt.Errorf("--%s %q: want a whole number above 0", flag, text))
	}
	return n
}

func (f *loadFlags) http(address string) (*assay.HTTPLoad, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("URL %q: want http://host:port/path or https://host:port/path", address)
	}
	h := &assay.HTTPLoad{URL: assay.ParseTemplate(address), Method: f.method, Version: f.version, NoKeepAlive: f.noKeepAlive,
		Connections: f.connections, Insecure: f.insecure, Unix: f.unix, AllowHosts: f.allowHosts}
	for _, line := range f.headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("--header %q: want 'Name: value'", line)
		}
		h.Headers = append(h.Headers, assay.Header{Name: strings.TrimSpace(name), Value: assay.ParseTemplate(strings.TrimSpace(value))})
	}
	if path, ok := strings.CutPrefix(f.body, "@"); ok {
		h.Body.Path = path
	} else {
		h.Body.Text = assay.ParseTemplate(f.body)
	}
	if f.expect != "" {
		for _, text := range strings.Split(f.expect, ",") {
			var status int
			if _, err := fmt.Sscanf(text, "%d", &status); err != nil || status < 100 || status > 599 {
				return nil, fmt.Errorf("--expect %q: want status codes, such as 200,404", f.expect)
			}
			h.Expect.Status = append(h.Expect.Status, status)
		}
	}
	return h, nil
}

func printAccount(c *cobra.Command, a load.Account, quiet bool) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	var plain report.LoadAccount
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&plain); err != nil {
		return err
	}
	plain.Within = intervalsOf(&a)
	width, colour := terminal(c.OutOrStdout())
	return report.LoadText(c.OutOrStdout(), plain, width, quiet, colour)
}

// intervalsOf are the intervals on the quantiles that the account prints.
func intervalsOf(a *load.Account) (intervals []report.LoadInterval) {
	for _, q := range []struct {
		name  string
		q     float64
		value *int64
	}{{"p50", .5, a.Response.P50}, {"p90", .9, a.Response.P90}, {"p95", .95, a.Response.P95}, {"p99", .99, a.Response.P99}, {"p99.9", .999, a.Response.P999}} {
		w, ok := measure.QuantileWithin(a.Batches, q.q)
		if q.value == nil || !ok {
			continue
		}
		intervals = append(intervals, report.LoadInterval{Quantile: q.name, Low: w.Low, High: w.High, N: w.N, Effective: w.Effective, Asked: w.Asked})
	}
	return intervals
}

// liveView shows on a terminal, once a second, how a load goes on; nil elsewhere.
func liveView(w io.Writer, quiet bool) func(load.Progress) {
	f, ok := w.(*os.File)
	if quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	ns, _ := assay.ParseUnit("ns")
	return func(p load.Progress) {
		text := fmt.Sprintf("%s  sent %d  done %.0f/s  in flight %d", clock(p.Elapsed), p.Ledger.Sent, p.CompletedPerS, p.InFlight)
		if p.Last.P50 != nil {
			text += "  p50 " + report.One(float64(*p.Last.P50), ns, false)
		}
		if p.Last.P99 != nil {
			text += "  p99 " + report.One(float64(*p.Last.P99), ns, false)
		}
		if n := p.Ledger.Dropped; n > 0 {
			text += fmt.Sprintf("  dropped %d", n)
		}
		if n := p.Ledger.Failed(); n > 0 {
			text += fmt.Sprintf("  failed %d", n)
		}
		width, _ := terminal(w)
		fmt.Fprint(w, "\r\x1b[K"+clip(text, width-1)+"\r")
	}
}
