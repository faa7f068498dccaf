package engine

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/measure"
)

// loadStats are the statistics that every load trial records of its times.
var loadStats = []string{"mean", "p50", "p90", "p95", "p99", "p99.9", "max"}

// load sends the trial's load and records its account; end stops the trial's work for a cause.
func (t *trial) load(ctx context.Context, w *assay.Workload, end context.CancelCauseFunc) {
	seed := t.seedOf(w.Load)
	plan, err := load.NewPlan(*w.Load, seed)
	if err != nil {
		t.refuse(ctx, err)
		return
	}
	// What is sent is seeded by the trial, so that no cache can know it from the trial before.
	d, err := t.run.Driver(*w.Load, t.values, seed<<16+uint64(t.record.Trial))
	if err != nil {
		t.refuse(ctx, err)
		return
	}
	options := load.Options{Dir: t.dir, Phases: w.Load.Phases, Tick: t.progressing(w.Hung.After, end)}
	if t.pulse != nil {
		options.Beat, options.BeatEvery = t.pulse.beat, t.pulse.every
	}
	account, err := load.Run(ctx, plan, d, options)
	err = errors.Join(err, d.Close())
	switch {
	case errors.Is(context.Cause(ctx), errCap):
		t.record.Outcome = assay.Capped
	case errors.Is(context.Cause(ctx), errHung):
		t.record.Outcome = assay.Hung
	case account.Interrupted: // by a kill rule, or by the user
		t.record.Outcome = assay.Interrupted
	case err != nil:
		t.refuse(ctx, err)
		return
	default:
		t.record.Outcome = assay.OK
	}
	t.recordAccount(&account)
	t.printAccount(&account)
	t.shortfalls(w.Load, &account)
}

// printAccount writes the account where a command's output would stand, so that declared measures and
// achieved levels read it in the same way (json: connections).
func (t *trial) printAccount(a *load.Account) {
	b, err := json.MarshalIndent(a, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(t.dir, stdoutFile), append(b, '\n'), 0o666)
	}
	if err != nil {
		t.note("account: " + err.Error())
	}
}

// seedOf is the seed of the arrivals: of the block, unless the file says of the trial.
func (t *trial) seedOf(l *assay.Load) uint64 {
	seed, _ := strconv.ParseUint(t.values["seed"], 10, 64)
	if l.SeedBy == "trial" {
		seed += uint64(t.record.Trial) << 20
	}
	return seed
}

// errCap says that a trial was ended at its wall cap.
var errCap = errors.New("wall cap")

func (t *trial) recordAccount(a *load.Account) {
	if t.record.Outcome == assay.OK { // a load that was broken off was not delivered, and need not be
		t.record.Valid = t.record.Valid && a.Valid
		t.record.VoidBy = append(t.record.VoidBy, a.VoidBy...)
	}
	t.record.Notes = append(t.record.Notes, a.Notes...)
	if a.Overload {
		t.note("overload")
	}
	failed := a.Planned - a.Cancelled - a.OK
	t.measure(assay.MeasureRef{Name: "rate"}, a.CompletedPerS)
	t.measure(assay.MeasureRef{Name: "in_flight"}, a.InFlightMean)
	if due := a.Planned - a.Cancelled; due > 0 {
		t.measure(assay.MeasureRef{Name: "errors"}, float64(failed)/float64(due))
		t.measure(assay.MeasureRef{Name: "delivered"}, float64(a.Sent)/float64(due))
	}
	for name, x := range map[string]float64{
		"planned": float64(a.Planned), "sent": float64(a.Sent), "dropped": float64(a.Dropped),
		"cancelled": float64(a.Cancelled), "ok": float64(a.OK), "timed_out": float64(a.TimedOut),
		"in_flight_at_end": float64(a.InFlightAtEnd), "connections": float64(a.Connections),
		"generator_cpu_ratio": a.Generator.CPURatio, "generator_rss_bytes": float64(a.Generator.RSS),
	} {
		t.record.Measures[name] = assay.Num(x)
	}
	for class, n := range a.Errors {
		t.record.Measures["errors("+class.String()+")"] = assay.Num(float64(n))
	}
	// What failed, was dropped or timed out stands in the response time as infinite; the service
	// time and the lag are of the operations that ended.
	for name, of := range map[string]struct {
		key    string
		failed int64
	}{"response_time": {"response", failed}, "service_time": {"service", failed}, "lag": {"lag", 0}} {
		for _, stat := range t.run.stats[name] {
			v, err := measure.Operations(a.Histograms[of.key], of.failed, stat)
			if err == nil {
				t.record.Measures[assay.MeasureKey(assay.MeasureRef{Stat: stat, Name: name})] = v
			}
		}
	}
}

// measure records a built-in measure.
func (t *trial) measure(ref assay.MeasureRef, x float64) {
	if !math.IsNaN(x) {
		t.record.Measures[assay.MeasureKey(ref)] = assay.Num(x)
	}
}

// wantedStats are the statistics to record of each time: the usual ones and those that a hypothesis,
// a guard or a condition names.
func wantedStats(e *assay.Experiment) map[string][]string {
	stats := map[string][]string{}
	want := func(ref assay.MeasureRef) {
		if ref.Stat != "" && !slices.Contains(stats[ref.Name], ref.Stat) {
			stats[ref.Name] = append(stats[ref.Name], ref.Stat)
		}
	}
	for _, name := range []string{"response_time", "service_time", "lag"} {
		for _, stat := range loadStats {
			want(assay.MeasureRef{Stat: stat, Name: name})
		}
	}
	for _, h := range e.Hypotheses {
		want(h.Measure)
		for _, c := range h.Meets {
			want(c.Measure)
		}
	}
	for _, g := range e.Guards {
		want(g.Condition.Measure)
	}
	for _, m := range e.Measures {
		want(m.MaxOf)
	}
	return stats
}

// capped is ctx with the trial's wall cap.
func capped(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, errCap)
}
