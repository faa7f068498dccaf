package grade

import (
	"testing"

	"github.com/assaybench/assay"
)

// One trial of eight stood apart on a busy machine and voided a claim about the median of all: a
// single outlier is no regime, two of a kind are.
func TestOneOutlierIsNoRegime(t *testing.T) {
	for _, tt := range []struct {
		slow map[int]bool
		want assay.Status
	}{
		{map[int]bool{3: true}, assay.Pass},
		{map[int]bool{2: true, 3: true, 6: true, 9: true}, assay.Void},
	} {
		b := newBench(t, 12, []string{"n", "1"}).measure("m", "ms", assay.Lower)
		b.claim(assay.Hypothesis{Kind: assay.Absolute, Measure: ref(t, "m"), Expect: expect(t, "< 100")})
		b.run(0, "s", func(s Step, x *assay.Trial) {
			v := 1 + float64(s.Block)/100
			if tt.slow[s.Block] {
				v += 50
			}
			x.Measures["m"] = assay.Num(v)
		})
		if v := Judge(b.folder()).Verdicts.Hypotheses[0]; v.Verdict != tt.want {
			t.Errorf("slow in blocks %v: %s %s, want %s", tt.slow, v.Verdict, v.Reason, tt.want)
		}
	}
}
