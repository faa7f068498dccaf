package grade

import (
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// crossings is the campaign on what a call across a boundary costs, and the engine around it.
func crossings() []scene {
	ladder := func(v *variant, mechanisms ...string) *bench {
		b := newBench(v.t, 12, append([]string{"mechanism"}, mechanisms...), []string{"work", "noop", "spin"}).measure("ns", "ns", assay.Lower)
		spin, noop := assay.Cell{"work": "spin"}, assay.Cell{"work": "noop"}
		b.e.Instrument.Inject = &assay.Inject{Each: "mechanism", Of: spin, To: noop, Moves: ref(v.t, "ns"), Tolerance: 0.25}
		return b
	}
	injected := when(assay.Cell{"work": "spin"}, func(_ Step, tr *assay.Trial) { tr.Measures[assay.InjectedKey] = assay.Num(1000) })
	durable := func(v *variant, of, to string, low, median, high map[string]float64) *bench {
		b := newBench(v.t, 12, []string{"arm", of, to}).measure("records", "rec/s", assay.More)
		b.claim(v.ratio("records", "arm", of, to, "> 1", nil))
		// Each block somewhere in the arm's own range, spread evenly below and above its median.
		return b.run(0, "s", func(s Step, tr *assay.Trial) {
			arm := tr.Cell["arm"]
			place := float64((s.Block*map[bool]int{true: 1, false: 11}[arm == of])%12) / 5.5
			x := low[arm] + min(place, 1)*(median[arm]-low[arm]) + max(place-1, 0)*(high[arm]-median[arm])
			v.gives("records", func(assay.Cell) float64 { return x })(s, tr)
		})
	}
	return []scene{
		{"T6.1", "a delay that the compiler removed", func(v *variant) *bench {
			b := ladder(v, "direct", "channel").claim(v.value("ns", "< 1350ns", assay.Cell{"work": "noop", "mechanism": "direct"}))
			return b.run(0, "s", both(injected, v.gives("ns", func(c assay.Cell) float64 {
				return map[string]float64{"directnoop": 19.9, "directspin": 19.9, "channelnoop": 300, "channelspin": 1310}[c["mechanism"]+c["work"]]
			})))
		}, assay.Void, assay.BadInstrument, wantNote("a delay of 1 us moved ns by")},
		{"T6.1b", "a delay that is seen", func(v *variant) *bench {
			b := ladder(v, "direct", "channel").claim(v.value("ns", "< 1350ns", assay.Cell{"work": "noop"}))
			return b.run(0, "s", both(injected, v.gives("ns", func(c assay.Cell) float64 {
				return map[string]float64{"directnoop": 19.9, "directspin": 1021, "channelnoop": 300, "channelspin": 1310}[c["mechanism"]+c["work"]]
			})))
		}, assay.Pass, assay.Holds, nil},
		{"T6.2", "a runtime that fell back to its interpreter", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"mechanism", "wasm"}).measure("ns", "ns", assay.Lower)
			return b.claim(v.value("ns", "< 1350ns", nil)).run(0, "s", both(v.gives("ns", func(assay.Cell) float64 { return 108e3 }), voids("mode")))
		}, assay.Void, assay.GuardReason("mode"), nil},
		{"T6.3", "today's arm against last week's control", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"arm", "today", "control"}).measure("records", "rec/s", assay.More)
			b.claim(v.ratio("records", "arm", "today", "control", "> 1", nil))
			b.run(0, "s", v.gives("records", by("arm", map[string]float64{"today": 73442, "control": 55600})))
			for i := range b.trials {
				b.trials[i].Session = "week " + map[bool]string{true: "32", false: "31"}[b.trials[i].Cell["arm"] == "today"]
			}
			return b
		}, assay.Void, assay.CrossSession, wantCaution("different sessions", "interleaved")},
		{"T6.4", "twelve values in two clusters", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"arm", "H"}).measure("rate_r", "rec/s", assay.More).measure("records", "records", "")
			b.claim(v.value("rate_r", "> 200000", nil))
			xs := []float64{458013, 92254, 471200, 97310, 464550, 105000, 487071, 99870, 440120, 95400, 476300, 101900}
			return b.run(0, "s", func(s Step, tr *assay.Trial) {
				v.gives("rate_r", func(assay.Cell) float64 { return xs[s.Block-1] })(s, tr)
				tr.Measures["records"] = assay.Num(map[bool]float64{true: 128000, false: 64000}[xs[s.Block-1] < 200000])
			})
		}, assay.Void, assay.Regimes, func(t *testing.T, j Judgement) {
			wantNote("two regimes", "records: at least 128000 in the low one, at most 64000 in the high one")(t, j)
			if v := j.Verdicts.Hypotheses[0]; v.Estimate != nil {
				t.Errorf("a median across regimes is quoted: %v", *v.Estimate)
			}
		}},
		{"T6.5", "a wait within the window, priced as throughput", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"arm", "H"}).measure("records", "rec/s", assay.More)
			return b.claim(v.value("records", "> 50000", nil)).run(0, "s", both(v.gives("records", func(assay.Cell) float64 { return 89821 }), voids("stall")))
		}, assay.Void, assay.GuardReason("stall"), nil},
		{"T6.6", "a pause of 15 ms explains no second", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"arm", "H"}).measure("pause", "ms", assay.Lower)
			return b.claim(v.value("pause", ">= 1s", nil)).run(0, "s", v.gives("pause", func(assay.Cell) float64 { return 8 }))
		}, assay.Fail, assay.Contradicted, nil},
		{"T6.7", "a slow mode once in twelve, and three pairs without it", func(v *variant) *bench {
			b := newBench(v.t, 3, []string{"toggle", "on", "off"}).measure("records", "rec/s", assay.More)
			return b.claim(v.ratio("records", "toggle", "on", "off", ">= 0.9", nil)).run(0, "s", v.gives("records", func(assay.Cell) float64 { return 480000 }))
		}, assay.Undecided, assay.Underpowered, nil},
		{"T6.8", "a cache that was off for exact counts", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"cache", "on", "off"}).measure("records", "rec/s", assay.More)
			return b.claim(v.ratio("records", "cache", "on", "off", "> 3", nil)).run(0, "s", (&variant{v.t, v.seed, 0.0001}).gives("records", by("cache", map[string]float64{"on": 67797, "off": 16758})))
		}, assay.Pass, assay.Holds, wantNote("+304", "-75")},
		{"T6.9", "the durable arm that is not durable is the fastest", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"wait", "yes", "no"}).measure("records", "rec/s", assay.More)
			b.claim(v.ratio("records", "wait", "no", "yes", "> 1", nil))
			return b.run(0, "s", both(v.gives("records", by("wait", map[string]float64{"yes": 42028, "no": 45922})), when(assay.Cell{"wait": "no"}, voids("ledger"))))
		}, assay.Void, assay.GuardReason("ledger"), nil},
		{"T6.11a", "the wrapper against the naive durable arm", func(v *variant) *bench {
			return durable(v, "cache", "naive", map[string]float64{"cache": 52718, "naive": 27716}, map[string]float64{"cache": 73442, "naive": 42028}, map[string]float64{"cache": 85447, "naive": 44117})
		}, assay.Pass, assay.Holds, nil},
		{"T6.11b", "the wrapper against the careful durable arm", func(v *variant) *bench {
			return durable(v, "cache", "careful", map[string]float64{"cache": 52718, "careful": 184926}, map[string]float64{"cache": 73442, "careful": 282575}, map[string]float64{"cache": 85447, "careful": 302246})
		}, assay.Fail, assay.Contradicted, nil},
		{"T6.11c", "two arms whose ranges overlap", func(v *variant) *bench {
			return durable(v, "tumbling", "re-made", map[string]float64{"tumbling": 99835, "re-made": 40000}, map[string]float64{"tumbling": 327385, "re-made": 213388}, map[string]float64{"tumbling": 339282, "re-made": 289593})
		}, assay.Undecided, assay.Straddles, nil},
		{"T6.11d", "which reimplementation is meant decides", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"who", "re-made", "wrapper"}, []string{"care", "naive", "careful"}).measure("records", "rec/s", assay.More)
			b.claim(v.ratio("records", "who", "re-made", "wrapper", "> 1", nil))
			return b.run(0, "s", v.gives("records", func(c assay.Cell) float64 {
				return map[string]float64{"re-madenaive": 42028, "re-madecareful": 282575, "wrappernaive": 73442, "wrappercareful": 73442}[c["who"]+c["care"]]
			}))
		}, assay.Fail, assay.Contradicted, wantNote("care=naive: 0.5", "care=careful: 3.8")},
		{"T6.14", "the whole backlog between two readings of the clock", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"arm", "H"}).measure("records", "rec/s", assay.More)
			return b.claim(v.value("records", "> 1", nil)).run(0, "s", both(func(_ Step, tr *assay.Trial) { tr.Measures["records"] = assay.Num(1e300) }, voids("clock")))
		}, assay.Void, assay.GuardReason("clock"), nil},
		{"T6.16", "a counter that reads 0, and was never seen to read anything else", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"cache", "large"}).measure("evictions", "evictions", assay.Lower)
			return b.claim(v.value("evictions", "== 0", nil)).run(0, "s", v.exactly("evictions", func(assay.Cell) float64 { return 0 }))
		}, assay.Untested, assay.Vacuous, wantNote("seen to be able to be another")},
		{"T6.16b", "the same counter, after it was forced", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"cache", "large", "tiny"}).measure("evictions", "evictions", assay.Lower)
			return b.claim(v.value("evictions", "== 0", assay.Cell{"cache": "large"})).run(0, "s", v.exactly("evictions", by("cache", map[string]float64{"large": 0, "tiny": 19080})))
		}, assay.Pass, assay.Holds, nil},
		{"T6.18", "a restore of one side only", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"who", "re-made", "wrapper"}).measure("restore", "s", assay.Lower)
			return b.claim(v.ratio("restore", "who", "re-made", "wrapper", "< 1", nil)).run(0, "s", v.gives("restore", by("who", map[string]float64{"re-made": 1.222, "wrapper": -1})))
		}, assay.Untested, assay.Vacuous, nil},
		{"T6.20", "killed before there was anything to restore", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"who", "re-made"}).measure("restore", "s", assay.Lower)
			return b.claim(v.value("restore", "< 1s", nil)).run(0, "s", ends(assay.Refused))
		}, assay.Untested, assay.Vacuous, wantNote("refused")},
		{"T6.21", "placement outweighs mechanism", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"mechanism", "wasm", "wasm_copy"}).measure("ns", "ns", assay.Lower)
			return b.claim(v.ratio("ns", "mechanism", "wasm_copy", "wasm", "> 5", nil)).run(0, "s", v.gives("ns", by("mechanism", map[string]float64{"wasm": 747, "wasm_copy": 9160})))
		}, assay.Pass, assay.Holds, nil},
		{"T6.23", "a bar moved after the data", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"mechanism", "direct"}).measure("ns", "ns", assay.Lower).claim(v.value("ns", "< 1350ns", nil))
			b.run(0, "s", v.gives("ns", func(assay.Cell) float64 { return 1115 }))
			b.amend = []assay.Amendment{{Time: time.Unix(0, 0), Trials: 12, Changes: []string{"hypotheses.H1.expect"}, Reason: "the tail straddled", Plan: assay.NewPlan(&b.e, b.seed)}}
			return b
		}, assay.Pass, assay.Holds, func(t *testing.T, j Judgement) {
			if v := j.Verdicts.Hypotheses[0]; !v.Exploratory || !strings.Contains(v.Notes[0], "the tail straddled") {
				t.Errorf("exploratory %v, notes %q", v.Exploratory, v.Notes)
			}
		}},
		{"T6.25", "the median clears the bar and the tail straddles it", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"mechanism", "cgo"}).measure("ns", "ns", assay.Lower).measure("ns_p99", "ns", assay.Lower).claim(v.value("ns_p99", "< 1350ns", nil))
			h := v.value("ns", "< 1350ns", nil)
			h.ID = "H2"
			return b.claim(h).run(0, "s", both(v.gives("ns", func(assay.Cell) float64 { return 1115 }), func(s Step, tr *assay.Trial) {
				v.gives("ns_p99", func(assay.Cell) float64 { return 1230 + 24*float64(s.Block) })(s, tr)
			}))
		}, assay.Undecided, assay.Straddles, wantSecond(assay.Pass, assay.Holds)},
	}
}
