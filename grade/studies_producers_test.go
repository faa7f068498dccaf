package grade

import (
	"strings"
	"testing"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// producers is the campaign on a producer's plateau and the number of processes that lifts it.
func producers() []scene {
	layouts := func(v *variant, names ...string) *bench {
		return newBench(v.t, 12, append([]string{"layout"}, names...)).measure("sustained", "events/s", assay.More)
	}
	// What the pacers give in 10 s, burst included.
	pacer := func(b *bench, most map[string]float64) *bench {
		limit := map[string]float64{}
		for _, s := range b.e.Settings {
			limit[s.Cell.Key()] = most[s.Cell["layout"]]
		}
		b.e.Ceilings = []assay.Ceiling{{Measure: ref(b.t, "sustained"), Expr: "60000 + processes * 4096 / 10", Limit: limit}}
		return b
	}
	calm := func(v *variant) *variant { return &variant{v.t, v.seed, 0.0005} }
	maxima := map[string]float64{"6x2": 62458, "8x1": 63277, "4x3": 61638}
	return []scene{
		{"T4.1", "two layouts that both give what the pacer gives", func(v *variant) *bench {
			b := pacer(layouts(v, "6x2", "8x1"), maxima)
			return b.claim(v.same("sustained", "layout", "8x1", "6x2", 0.05, nil)).run(0, "s", calm(v).gives("sustained", by("layout", map[string]float64{"6x2": 61730, "8x1": 62289})))
		}, assay.Untested, assay.Censored, func(t *testing.T, j Judgement) {
			wantNote("execute them unpaced")(t, j)
			wantCaution("killed, bounded or unknown", "without that bound")(t, j)
		}},
		{"T4.1b", "and the capacity is at least that", func(v *variant) *bench {
			b := pacer(layouts(v, "6x2"), maxima)
			return b.claim(v.value("sustained", "> 50000", nil)).run(0, "s", calm(v).gives("sustained", func(assay.Cell) float64 { return 61730 }))
		}, assay.Pass, assay.Holds, nil},
		{"T4.1c", "unpaced, they rank", func(v *variant) *bench {
			return layouts(v, "6x2", "4x3").claim(v.ratio("sustained", "layout", "6x2", "4x3", "> 1.5", nil)).run(0, "s", v.gives("sustained", by("layout", map[string]float64{"6x2": 60682, "4x3": 34790})))
		}, assay.Pass, assay.Holds, nil},
		{"T4.15", "a limiter removed where it cannot bind is not ruled out where it can", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"layout", "4x3", "6x2"}, []string{"pacer", "on", "off"}).measure("sustained", "events/s", assay.More)
			pacer(b, maxima)
			for key := range b.e.Ceilings[0].Limit {
				if strings.HasSuffix(key, "pacer=off") {
					delete(b.e.Ceilings[0].Limit, key)
				}
			}
			b.claim(v.same("sustained", "pacer", "on", "off", 0.05, nil))
			return b.run(0, "s", calm(v).gives("sustained", func(c assay.Cell) float64 {
				return map[string]float64{"4x3on": 34700, "4x3off": 34790, "6x2on": 61730, "6x2off": 60682}[c["layout"]+c["pacer"]]
			}))
		}, assay.Untested, assay.Censored, wantNote("at layout=4x3", "PASS holds", "at layout=6x2", "UNTESTED censored")},
		{"T4.2", "no fix moves the plateau", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"fix", "none", "lingering", "batch", "pump", "revert"}).measure("sustained", "events/s", assay.More)
			b.claim(v.value("sustained", "9500..15000", nil))
			return b.run(0, "s", v.gives("sustained", by("fix", map[string]float64{"none": 10400, "lingering": 11900, "batch": 12400, "pump": 13100, "revert": 14500})))
		}, assay.Pass, assay.Holds, nil},
		{"T4.3", "93% of the time in a call is not waste", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"poll", "each", "batch"}).measure("sustained", "events/s", assay.More)
			return b.claim(v.ratio("sustained", "poll", "batch", "each", "> 1", nil)).run(0, "s", calm(v).gives("sustained", by("poll", map[string]float64{"each": 14500, "batch": 9565})))
		}, assay.Fail, assay.Contradicted, wantNote("-34")},
		{"T4.5", "the cold start is recorded and not counted", func(v *variant) *bench {
			b := layouts(v, "4x3")
			b.e.Warmup = 1
			b.claim(v.value("sustained", "> 13000", nil))
			return b.run(0, "s", func(s Step, tr *assay.Trial) {
				x := 14500.0
				if s.Warmup {
					x = 5949
				}
				v.gives("sustained", func(assay.Cell) float64 { return x + 10*float64(s.Block) })(s, tr)
			})
		}, assay.Pass, assay.Holds, func(t *testing.T, j Judgement) {
			if x := j.Measures[0].Values[0]; x < 5000 || x > 6500 {
				t.Errorf("the warm-up's own figure is %v, want it shown", x)
			}
		}},
		{"T4.6", "two replicates at 16 and 89 ms", func(v *variant) *bench {
			b := newBench(v.t, 2, []string{"layout", "8x1", "4x3"}).measure("p50", "ms", assay.Lower)
			b.claim(v.ratio("p50", "layout", "8x1", "4x3", "< 1", nil))
			return b.run(0, "s", func(s Step, tr *assay.Trial) {
				x := map[string][]float64{"8x1": {16.4, 88.9}, "4x3": {28, 28}}[tr.Cell["layout"]][s.Block-1]
				v.gives("p50", func(assay.Cell) float64 { return x })(s, tr)
			})
		}, assay.Undecided, assay.Underpowered, nil},
		{"T4.6b", "as many of each over twelve blocks", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"layout", "8x1", "4x3"}).measure("p50", "ms", assay.Lower)
			b.claim(v.ratio("p50", "layout", "8x1", "4x3", "< 1", nil))
			return b.run(0, "s", func(s Step, tr *assay.Trial) {
				x := map[string][]float64{"8x1": {16.4, 88.9}, "4x3": {28, 28}}[tr.Cell["layout"]][s.Block%2]
				v.gives("p50", func(assay.Cell) float64 { return x })(s, tr)
			})
		}, assay.Undecided, assay.Straddles, nil},
		{"T4.7", "the floor is cleared by one profile and not by the durable one", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"profile", "throughput", "durable"}).measure("sustained", "events/s", assay.More)
			return b.claim(v.value("sustained", "> 45000", nil)).run(0, "s", v.gives("sustained", by("profile", map[string]float64{"throughput": 47100, "durable": 40200})))
		}, assay.Fail, assay.Contradicted, wantNote("profile=throughput", "PASS", "profile=durable", "FAIL")},
		{"T4.8", "as many threads, in another layout", func(v *variant) *bench {
			return layouts(v, "4x3", "6x2").claim(v.same("sustained", "layout", "6x2", "4x3", 0.05, nil)).run(0, "s", v.gives("sustained", by("layout", map[string]float64{"4x3": 34790, "6x2": 60682})))
		}, assay.Fail, assay.Contradicted, nil},
		{"T4.9", "a law through one point, or two", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"held", "0.5", "1"}).measure("workers", "workers", "")
			b.claim(assay.Hypothesis{Kind: assay.Line, Along: "held", Measure: ref(v.t, "workers"), Slope: expect(v.t, "< 0")})
			return b.run(0, "s", v.gives("workers", by("held", map[string]float64{"0.5": 2, "1": 1})))
		}, assay.Untested, assay.Vacuous, wantNote("two points always lie on one")},
		{"T4.10", "a profiled run is no measure of a rate", func(v *variant) *bench {
			return layouts(v, "4x3").claim(v.value("sustained", "> 10000", nil)).run(0, "s", both(v.gives("sustained", func(assay.Cell) float64 { return 11500 }), voids("profiler")))
		}, assay.Void, assay.GuardReason("profiler"), nil},
		{"T4.11", "eight members, nothing consumed, no lag", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"members", "8"}).measure("lag_records", "records", assay.Lower).measure("consumed", "records", assay.More)
			b.claim(v.value("lag_records", "< 1000", nil))
			h := v.value("consumed", ">= 0", nil)
			h.ID = "H2"
			zero := func(assay.Cell) float64 { return 0 }
			return b.claim(h).run(0, "s", both(v.exactly("lag_records", zero), v.exactly("consumed", zero)))
		}, assay.Untested, assay.Vacuous, wantSecond(assay.Untested, assay.Vacuous)},
	}
}

func TestFixedAndPerWindowCost(t *testing.T) {
	l, ok := stat.FitLine([]float64{1, 12}, []float64{12.2, 59.7})
	if !ok || figure(l.Slope, "")[:3] != "4.3" || figure(l.Intercept, "")[:3] != "7.8" {
		t.Errorf("F %v, P %v; want 7.9 and 4.3", l.Intercept, l.Slope)
	}
	// t(m) = 33 + 135 m us a record, against 608,612 records a second.
	if m, err := Solve(stat.Line{Slope: 135, Intercept: 33}, 1e6/608612, 0, 12); err == nil {
		t.Errorf("m = %v; want a refusal: no m at or above 0 reaches it", m)
	}
	if m, err := Solve(stat.Line{Slope: 135, Intercept: 33}, 33+135*5, 0, 12); err != nil || m != 5 {
		t.Errorf("m = %v, %v; want 5", m, err)
	}
	if _, err := Solve(stat.Line{Intercept: 33}, 40, 0, 12); err == nil {
		t.Error("a level line was solved")
	}
}
