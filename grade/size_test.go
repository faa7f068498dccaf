package grade

import (
	"testing"

	"github.com/assaybench/assay"
)

// BenchmarkJudge100000Trials stands for the bound on grading: a folder of 100,000 trials within 2 s and 500 MB, its
// reading included.
func BenchmarkJudge100000Trials(b *testing.B) {
	f := manyTrials(8333)
	b.ReportAllocs()
	for b.Loop() {
		if v := Judge(f).Verdicts; v.Hypotheses[0].Verdict != assay.Pass {
			b.Fatal(v)
		}
	}
}

func manyTrials(blocks int) Folder {
	t := &testing.T{}
	b := newBench(t, blocks, []string{"side", "a", "b"}, []string{"n", "1", "2", "4", "8", "16", "32"}).measure("rate_m", "files/s", assay.More)
	b.measure("output", "", "")
	b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: assay.MeasureRef{Name: "rate_m"}, Of: assay.Cell{"side": "a"}, To: assay.Cell{"side": "b"},
		Expect: assay.Expectation{Op: assay.Greater, Bound: assay.Quantity{Number: 1.05, Bare: true}}})
	b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Identical, Measure: assay.MeasureRef{Name: "output"}})
	plain := noisy("rate_m", 0.01, 3, rates(120, 100))
	return b.run(0, "s", func(s Step, tr *assay.Trial) {
		plain(s, tr)
		tr.Measures["output"] = assay.Txt("digest")
		for _, name := range []string{"wall_ns", "user_ns", "system_ns", "rss_peak_bytes", "ctx_switches", "page_faults"} {
			tr.Measures[name] = assay.Num(1)
		}
		tr.ExecutableSHA256 = "x"
	}).folder()
}
