package engine

import (
	"math"
	"testing"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
	"github.com/assaybench/assay/load"
)

// ticks feeds a pulse one tick a second: of operations that ended ok after so long, some that timed
// out, and some still under way.
func ticks(p *pulse, each ...func(*load.Progress)) {
	var ledger load.Ledger
	for i, tick := range each {
		now := load.Progress{Elapsed: time.Duration(i+1) * time.Second, Ledger: ledger,
			Response: &hist.Histogram{}, Service: &hist.Histogram{}, Lag: &hist.Histogram{}}
		tick(&now)
		now.Ledger.OK += now.Response.Count()
		ledger = now.Ledger
		p.beat(now)
	}
}

// answers is a tick of n operations that took d.
func answers(n int64, d time.Duration) func(*load.Progress) {
	return func(p *load.Progress) { p.Response.RecordN(int64(d), n) }
}

func times(n int64, late int) func(*load.Progress) {
	return func(p *load.Progress) { p.Ledger.TimedOut += n; p.InFlight = late }
}

func TestPulse(t *testing.T) {
	fast, slow := answers(50, 10*time.Millisecond), answers(50, 200*time.Millisecond)
	silent := func(p *load.Progress) { p.InFlight = 50 }
	waiting := func(p *load.Progress) { answers(50, 10*time.Millisecond)(p); p.InFlight = 40 }
	for _, c := range []struct {
		name, when string
		each       []func(*load.Progress)
		holds, ok  bool
	}{
		{"few operations are enough", "p95(response_time) > 100ms over 1s", []func(*load.Progress){slow}, true, true},
		{"fast", "p95(response_time) > 100ms over 1s", []func(*load.Progress){fast}, false, true},
		{"only the window counts", "p95(response_time) > 100ms over 2s", []func(*load.Progress){slow, fast, fast}, false, true},
		{"all of the window counts", "p95(response_time) > 100ms over 2s", []func(*load.Progress){fast, slow, fast}, true, true},
		{"younger than the window", "p95(response_time) > 100ms over 3s", []func(*load.Progress){slow, slow}, false, false},
		{"the last tick", "max(response_time) > 100ms", []func(*load.Progress){slow, fast}, false, true},
		{"a timeout is infinite", "mean(response_time) > 1h over 1s", []func(*load.Progress){times(1, 0)}, true, true},
		{"what never comes back counts with its age", "p50(response_time) > 500ms over 1s", []func(*load.Progress){silent, silent}, true, true},
		{"what came back does not", "p99(response_time) > 500ms over 1s", []func(*load.Progress){waiting, waiting}, false, true},
		{"nothing happened", "p50(response_time) > 500ms over 1s", []func(*load.Progress){func(*load.Progress) {}}, false, false},
		{"errors", "errors > 5% over 2s", []func(*load.Progress){fast, times(10, 0)}, true, true},
		{"few errors", "errors > 20% over 2s", []func(*load.Progress){fast, times(10, 0)}, false, true},
		{"rate", "rate < 30/s over 2s", []func(*load.Progress){fast, silent}, true, true},
		{"in flight", "in_flight > 20 over 2s", []func(*load.Progress){fast, silent}, true, true},
		{"most in flight", "max(in_flight) > 45 over 2s", []func(*load.Progress){silent, fast}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			when, err := assay.ParseCondition(c.when)
			if err != nil {
				t.Fatal(err)
			}
			p := newPulse(&assay.Workload{Load: &assay.Load{}, Kills: []assay.KillRule{{When: when}}})
			ticks(p, c.each...)
			v, ok := p.window(when)
			b, _ := assay.BuiltinMeasure(when.Measure.Name)
			if holds := ok && when.HoldsFor(v, b.Unit, 0); ok != c.ok || holds != c.holds {
				t.Errorf("value %v, known %v, holds %v; want known %v, holds %v", v.Number, ok, holds, c.ok, c.holds)
			}
			if math.IsNaN(v.Number) {
				t.Error("no number")
			}
		})
	}
}

// A long load keeps no more than its rules look back.
func TestPulseForgets(t *testing.T) {
	when, _ := assay.ParseCondition("errors > 5% over 3s")
	p := newPulse(&assay.Workload{Load: &assay.Load{}, Kills: []assay.KillRule{{When: when}}})
	many := make([]func(*load.Progress), 1000)
	for i := range many {
		many[i] = answers(1, time.Millisecond)
	}
	ticks(p, many...)
	if n := len(p.beats); n > 5 {
		t.Errorf("%d ticks kept for a window of 3s", n)
	}
	if newPulse(&assay.Workload{Load: &assay.Load{}}) != nil {
		t.Error("a load without kill rules is watched for them")
	}
}
