package report

import (
	"strings"
	"testing"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// A claim whose cells were refused by their gates wants gates that hold, and not other cells.
func TestSettleRefused(t *testing.T) {
	for _, c := range []struct{ note, want string }{
		{"no block holds a number; 6 trials " + grade.RefusedByGates, "name it after what is there"},
		{"a side has not one ok trial with a number", "Choose cells"},
	} {
		v := claim{v: assay.Verdict{Verdict: assay.Untested, Reason: assay.Vacuous, Notes: []string{c.note}}, h: assay.Hypothesis{}}
		if got := v.settle(); !strings.Contains(got, c.want) {
			t.Errorf("after %q: %q, want %q", c.note, got, c.want)
		}
	}
}
