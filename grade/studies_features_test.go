package grade

import (
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// features is the campaign on sliding-window features, in a cluster and in one plain process.
func features() []scene {
	arms := func(v *variant) *bench {
		return newBench(v.t, 12, []string{"arm", "plain", "cluster"}).measure("steady", "events/s", assay.More)
	}
	steady := by("arm", map[string]float64{"plain": 12500, "cluster": 10000})
	return []scene{
		{"T3.1", "one arm's figure is promised and not measured", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"arm", "plain"}).measure("steady", "events/s", assay.More)
			value, err := assay.ParseQuantity("10000")
			if err != nil {
				v.t.Fatal(err)
			}
			b.e.Cited = []assay.Cited{{Cell: assay.Cell{"arm": "cluster"}, Measure: "steady", Value: value, Source: "the data sheet"}}
			return b.claim(v.ratio("steady", "arm", "plain", "cluster", "> 1", nil)).run(0, "s", v.gives("steady", steady))
		}, assay.Untested, assay.Vacuous, wantCaution("cited from the data sheet", "beside")},
		{"T3.2", "a run shorter than its window emits nothing", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"window", "24h"}).measure("emitted", "records", "")
			return b.claim(v.value("emitted", ">= 0", nil)).run(0, "s", v.exactly("emitted", func(assay.Cell) float64 { return 0 }))
		}, assay.Untested, assay.Vacuous, nil},
		{"T3.3", "a fifth of the events came late", func(v *variant) *bench {
			return arms(v).claim(v.ratio("steady", "arm", "plain", "cluster", "> 1", nil)).run(0, "s", both(v.gives("steady", steady), voids("late")))
		}, assay.Void, assay.GuardReason("late"), nil},
		{"T3.4", "the counts agree and the values do not", func(v *variant) *bench {
			b := arms(v).measure("records", "records", "").measure("digest", "", "")
			b.claim(assay.Hypothesis{Kind: assay.Identical, Measure: ref(v.t, "digest")})
			b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Identical, Measure: ref(v.t, "records")})
			return b.run(0, "s", both(v.exactly("records", func(assay.Cell) float64 { return 12000 }), func(_ Step, tr *assay.Trial) {
				tr.Measures["digest"] = assay.Txt("of " + tr.Cell["arm"])
			}))
		}, assay.Fail, assay.Contradicted, wantSecond(assay.Pass, assay.Holds)},
		{"T3.5", "after a restart one value came out twice, and differently", func(v *variant) *bench {
			b := arms(v).measure("digest", "", "")
			b.claim(assay.Hypothesis{Kind: assay.Identical, Measure: ref(v.t, "digest")})
			return b.run(0, "s", func(s Step, tr *assay.Trial) {
				tr.Measures["digest"] = assay.Txt("right")
				if s.Block == 7 && tr.Cell["arm"] == "plain" {
					tr.Measures["digest"] = assay.Txt("double-counted")
				}
			})
		}, assay.Fail, assay.Contradicted, wantNote("double-counted in arm=plain")},
		{"T3.6", "twelve features, it is said", func(v *variant) *bench {
			b := arms(v).measure("features", "features", "")
			return b.claim(v.value("features", "== 12", nil)).run(0, "s", v.exactly("features", func(assay.Cell) float64 { return 13 }))
		}, assay.Fail, assay.Contradicted, nil},
		{"T3.8", "the rule is changed after the review", func(v *variant) *bench {
			b := arms(v).claim(v.ratio("steady", "arm", "plain", "cluster", "> 1", nil)).run(0, "s", v.gives("steady", steady))
			b.amend = []assay.Amendment{{Time: time.Unix(0, 0), Trials: 24, Changes: []string{"hypotheses.H1.expect"}, Reason: "review", Plan: assay.NewPlan(&b.e, b.seed)}}
			return b
		}, assay.Pass, assay.Holds, func(t *testing.T, j Judgement) {
			if !j.Verdicts.Hypotheses[0].Exploratory {
				t.Error("not marked exploratory")
			}
		}},
		{"T3.9", "a wrong host at the start is no rate of 0", func(v *variant) *bench {
			return arms(v).claim(v.ratio("steady", "arm", "plain", "cluster", "> 1", nil)).run(0, "s", both(v.gives("steady", steady), when(assay.Cell{"arm": "cluster"}, ends(assay.Failed))))
		}, assay.Untested, assay.Vacuous, wantNote("12 trials failed")},
		{"T3.10", "recovery is a figure of its own", func(v *variant) *bench {
			b := arms(v)
			b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(v.t, "recovery(api)"), Of: assay.Cell{"arm": "plain"}, To: assay.Cell{"arm": "cluster"}, Expect: expect(v.t, "> 10")})
			return b.run(0, "s", v.gives("recovery_ns(api)", by("arm", map[string]float64{"plain": 1222e6, "cluster": 71e6})))
		}, assay.Pass, assay.Holds, nil},
	}
}
