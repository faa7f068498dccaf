package grade

import (
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// offeredBench is a service that gives at most 7.75/s of half a second each, four at a time, while the
// processors idle.
func offeredBench(t *testing.T, idle float64) *bench {
	v := &variant{t, 1, 0.005}
	b := newBench(t, 8, []string{"offered", "2", "6", "9", "12"})
	for i := range b.e.Settings {
		b.e.Settings[i].Workload.Load = &assay.Load{Rate: parsed(t, b.e.Settings[i].Cell["offered"]), For: 30 * time.Second}
	}
	return b.run(0, "s", both(
		v.gives("rate_per_s", by("offered", map[string]float64{"2": 2, "6": 6, "9": 7.7, "12": 7.75})),
		v.gives("mean(response_time_ns)", by("offered", map[string]float64{"2": 0.52e9, "6": 0.6e9, "9": 5e9, "12": 11e9})),
		v.gives("in_flight", by("offered", map[string]float64{"2": 1.04, "6": 3.6, "9": 38.5, "12": 85.25})),
		v.gives("p50(service_time_ns)", func(assay.Cell) float64 { return 0.52e9 }),
		v.gives("cpu_idle_ratio", func(assay.Cell) float64 { return idle })))
}

func TestRemarks(t *testing.T) {
	r := offeredBench(t, 0.6).judge().Remarks
	if len(r) != 1 || !strings.Contains(r[0], "slow and idle") || !strings.Contains(r[0], "4.0") {
		t.Errorf("remarks %q, want one on a width of about 4", r)
	}
	if r := offeredBench(t, 0.02).judge().Remarks; len(r) != 0 {
		t.Errorf("remarks %q, though the processors are busy", r)
	}
	b := offeredBench(t, 0.02)
	for i := range b.trials {
		b.trials[i].Measures["in_flight"] = assay.Num(1000)
	}
	if r := b.judge().Remarks; len(r) != 4 || !strings.Contains(r[0], "Little's law") {
		t.Errorf("remarks %q, want one on Little's law a cell", r)
	}
}

func TestAdvice(t *testing.T) {
	levels := []string{"1", "2", "4", "8", "16"}
	b := axisBench(t, 12, levels, []float64{100, 200, 400, 402, 403}, 0.005, assay.Hypothesis{Kind: assay.Knee, Margin: 0.05, Expect: expect(t, "<= 4")})
	b.e.Base = assay.Cell{"n": "16"}
	b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Ratio, Measure: ref(t, "m"), Of: assay.Cell{"n": "16"}, To: assay.Cell{"n": "1"}, Expect: expect(t, "> 2")})
	a := b.judge().Advice
	if len(a) != 1 || a[0].Suggested != "4" || a[0].Default != "16" || a[0].By != "H1" || !strings.Contains(a[0].Flip, "5%") {
		t.Errorf("advice %+v; want 4 instead of 16, by the knee", a)
	}
	b.e.Hypotheses = b.e.Hypotheses[1:]
	if a := b.judge().Advice; len(a) != 1 || a[0].Suggested != "16" {
		t.Errorf("advice %+v; want the better side of the ratio", a)
	}
	b.e.Hypotheses[0].Expect = expect(t, "3..5")
	b.trials = b.trials[:20]
	if a := b.judge().Advice; len(a) != 1 || a[0].Suggested != "" || !strings.Contains(a[0].Flip, "incomplete") {
		t.Errorf("advice %+v; want none from a plan that is not done", a)
	}
}

func TestWholeBatchesAreRemarkedOn(t *testing.T) {
	run := func(x func(block int) float64) []string {
		b := newBench(t, 6, []string{"layout", "6x2"}).measure("produced", "events", assay.More)
		return b.run(0, "s", func(s Step, tr *assay.Trial) { tr.Measures["produced"] = assay.Num(x(s.Block)) }).judge().Remarks
	}
	if r := run(func(int) float64 { return 65536 }); len(r) != 1 || !strings.Contains(r[0], "multiple of 65536") {
		t.Errorf("remarks %q", r)
	}
	if r := run(func(b int) float64 { return 105472 * float64(b) }); len(r) != 1 || !strings.Contains(r[0], "multiple of 105472") {
		t.Errorf("remarks %q", r)
	}
	for _, x := range []func(int) float64{func(b int) float64 { return 65536 + float64(b) }, func(int) float64 { return 1000 }, func(int) float64 { return 0 }, func(int) float64 { return 1.5 }} {
		if r := run(x); len(r) != 0 {
			t.Errorf("remarks %q on counts of no batches", r)
		}
	}
}
