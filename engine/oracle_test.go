package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/assaybench/assay"
)

// What an oracle finds right is what the first trial that counts gave, and a trial that something else
// voided, a warm-up or one that failed teaches nothing.
func TestOracles(t *testing.T) {
	said := func(text string) assay.Trial {
		return assay.Trial{Outcome: assay.OK, Valid: true, Cell: assay.Cell{"work": "fold"}, Measures: map[string]assay.Value{"said": assay.Txt(text)}}
	}
	warmup, void, failed, silent := said("a"), said("b"), said("c"), said("")
	warmup.Warmup, void.Valid, failed.Outcome = true, false, assay.Failed
	delete(silent.Measures, "said")
	spin := said("other")
	spin.Cell = assay.Cell{"work": "spin"}
	trials := []assay.Trial{warmup, void, failed, said("right"), spin, said("wrong"), silent, said("right"), spin}
	for _, test := range []struct {
		o    assay.Oracle
		want []int // trials that are void
	}{
		{assay.Oracle{First: true, Per: "work"}, []int{5, 6}},
		{assay.Oracle{First: true}, []int{4, 5, 6, 8}},
		{assay.Oracle{Want: "other"}, []int{3, 5, 6, 7}},
	} {
		o := oracles{}
		var got []int
		for i := range trials {
			o.consult(&trials[i], []assay.Measure{{Name: "plain"}, {Name: "said", Oracle: &test.o}}, func(guard, note string) {
				if guard != "oracle" || !strings.HasPrefix(note, "said was ") {
					t.Errorf("guard %s: %s", guard, note)
				}
				got = append(got, i)
			})
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v voids %v, want %v", test.o, got, test.want)
		}
	}
}
