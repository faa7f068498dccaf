package grade

import (
	"testing"

	"github.com/assaybench/assay"
)

// storage is the campaign on how hard a shared network storage may be pressed.
func storage() []scene {
	workers := []string{"4", "8", "16", "32"}
	row := func(v *variant, factor string, levels ...string) *bench {
		return newBench(v.t, 12, append([]string{factor}, levels...)).measure("input", "MB/s", assay.More)
	}
	return []scene{
		{"T5.1", "inputs partly in the page cache", func(v *variant) *bench {
			return row(v, "readers", "2", "4").claim(v.ratio("input", "readers", "4", "2", "> 1", nil)).run(0, "s", ends(assay.Refused))
		}, assay.Untested, assay.Vacuous, func(t *testing.T, j Judgement) {
			wantNote("refused by their gates")(t, j)
			if n := j.Verdicts.Trials.Refused; n < 24 {
				t.Errorf("%d refused, want every one counted", n)
			}
		}},
		{"T5.2", "the rate of a run that was killed", func(v *variant) *bench {
			b := row(v, "readers", "4", "32").claim(v.ratio("input", "readers", "32", "4", "< 1", nil))
			return b.run(0, "s", func(s Step, tr *assay.Trial) {
				v.gives("input", by("readers", map[string]float64{"4": 30, "32": 8.2}))(s, tr)
				if tr.Cell["readers"] == "32" && s.Block > 1 {
					tr.Outcome = assay.Killed
				}
			})
		}, assay.Untested, assay.Censored, func(t *testing.T, j Judgement) {
			if n := j.Verdicts.Trials.Killed; n != 11 {
				t.Errorf("%d killed, want 11", n)
			}
		}},
		{"T5.3", "a drift that favours whoever comes later", func(v *variant) *bench {
			b := row(v, "order", "first", "second").claim(v.ratio("input", "order", "second", "first", "> 1", nil))
			n := 0.0
			return b.run(0, "s", func(s Step, tr *assay.Trial) {
				n++
				v.gives("input", func(assay.Cell) float64 { return 30 * (1 + 0.02*n) })(s, tr)
			})
		}, assay.Undecided, assay.Straddles, nil},
		{"T5.4", "33.2 and 37.4 within 15%", func(v *variant) *bench {
			b := row(v, "scans", "1", "4").measure("rtt_ms", "ms", assay.Lower).claim(v.ratio("input", "scans", "4", "1", "> 1.05", nil))
			h := v.ratio("rtt_ms", "scans", "4", "1", "> 2", nil)
			h.ID = "H2"
			b.claim(h)
			return b.run(0, "s", both(func(s Step, tr *assay.Trial) {
				x := map[string]float64{"1": 33.2, "4": 35.4}[tr.Cell["scans"]]
				if (s.Block+len(tr.Cell["scans"])+s.Position)%2 == 0 {
					x *= 1.15
				} else {
					x /= 1.15
				}
				v.gives("input", func(assay.Cell) float64 { return x })(s, tr)
			}, v.gives("rtt_ms", by("scans", map[string]float64{"1": 9.7, "4": 35}))))
		}, assay.Undecided, assay.Straddles, wantSecond(assay.Pass, assay.Holds)},
		{"T5.5", "a split of threads that caps nothing", func(v *variant) *bench {
			b := row(v, "threads", "1", "8").claim(v.ratio("input", "threads", "1", "8", "> 1", nil))
			b.e.Factors[0].Achieved = &assay.Achieved{AtLeast: 0.9}
			return b.run(0, "s", both(v.gives("input", func(assay.Cell) float64 { return 8.2 }), achieves("threads", func(assay.Cell) float64 { return 32 })))
		}, assay.Void, assay.NoEffect, wantNote("achieved stayed at 32")},
		{"T5.7", "32 nominal in flight that were 14", func(v *variant) *bench {
			b := row(v, "nominal", "4", "32").claim(v.ratio("input", "nominal", "32", "4", "< 1", nil))
			b.e.Factors[0].Achieved = &assay.Achieved{AtLeast: 0.9}
			return b.run(0, "s", both(v.gives("input", by("nominal", map[string]float64{"4": 30, "32": 20})), achieves("nominal", by("nominal", map[string]float64{"4": 4, "32": 13.9}))))
		}, assay.Void, assay.NoEffect, nil},
		{"T5.8", "nine seconds by a clock of one", func(v *variant) *bench {
			return row(v, "readers", "2").claim(v.value("input", "> 50", nil)).run(0, "s", both(v.gives("input", func(assay.Cell) float64 { return 88 }), voids("clock")))
		}, assay.Void, assay.GuardReason("clock"), nil},
		{"T5.9", "no cost to oneself, and twice the wait for others", func(v *variant) *bench {
			b := row(v, "workers", "4", "32").measure("victim", "ms", assay.Lower).claim(v.same("input", "workers", "32", "4", 0.05, nil))
			b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Ratio, Measure: ref(v.t, "victim"), Of: assay.Cell{"workers": "32"}, To: assay.Cell{"workers": "4"}, Expect: expect(v.t, "> 1.6")})
			return b.run(0, "s", both(v.gives("input", func(assay.Cell) float64 { return 60 }), v.gives("victim", by("workers", map[string]float64{"4": 39, "32": 80}))))
		}, assay.Pass, assay.Holds, wantSecond(assay.Pass, assay.Holds)},
		{"T5.10", "four is best on an axis that starts at four", func(v *variant) *bench {
			return row(v, "workers", workers...).claim(v.knee("input", "workers", "== 4", 0.08, nil)).run(0, "s", v.gives("input", by("workers", map[string]float64{"4": 60, "8": 60, "16": 59.8, "32": 59.5})))
		}, assay.Untested, assay.AxisEdge, wantNote("axis-edge: the first level")},
		{"T5.11", "each byte crosses the link twice", func(v *variant) *bench {
			b := row(v, "csv", "share", "local")
			b.e.Ceilings = []assay.Ceiling{{Measure: ref(v.t, "input"), Expr: "117 / 4.2", Limit: map[string]float64{"csv=share": 27.9e6}}}
			return b.claim(v.ratio("input", "csv", "local", "share", "> 2", nil)).run(0, "s", (&variant{v.t, v.seed, 0.001}).gives("input", by("csv", map[string]float64{"share": 26.5, "local": 70})))
		}, assay.Pass, assay.Holds, wantNote("% of the ceiling 27.9 MB/s")},
		{"T5.12", "the wait grows with the readers", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"readers", "1", "2", "4", "8"}).measure("rtt_ms", "ms", assay.Lower)
			b.claim(assay.Hypothesis{Kind: assay.Line, Along: "readers", Measure: ref(v.t, "rtt_ms"), Slope: expect(v.t, "10ms..13ms"), Intercept: expect(v.t, "< 5ms")})
			return b.run(0, "s", v.gives("rtt_ms", by("readers", map[string]float64{"1": 12.5, "2": 24, "4": 47, "8": 93})))
		}, assay.Pass, assay.Holds, nil},
	}
}
