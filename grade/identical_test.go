package grade

import (
	"testing"

	"github.com/assaybench/assay"
)

func TestIdenticalToTheLastDigit(t *testing.T) {
	fails := func(x *assay.Trial) { x.Outcome = assay.Failed }
	gives := func(v float64) func(*assay.Trial) {
		return func(x *assay.Trial) { x.Measures["m"] = assay.Num(v) }
	}
	for _, tt := range []struct {
		name   string
		cells  map[string]func(*assay.Trial)
		status assay.Status
		reason assay.Reason
	}{
		{"all the same", map[string]func(*assay.Trial){"a": gives(7), "b": gives(7), "c": gives(7)}, assay.Pass, assay.Holds},
		{"the last of many digits", map[string]func(*assay.Trial){"a": gives(123456789012), "b": gives(123456789013), "c": gives(123456789012)}, assay.Fail, assay.Contradicted},
		{"a small fraction", map[string]func(*assay.Trial){"a": gives(1.0000001), "b": gives(1), "c": gives(1)}, assay.Fail, assay.Contradicted},
		{"one cell silent", map[string]func(*assay.Trial){"a": gives(7), "b": gives(7), "c": func(*assay.Trial) {}}, assay.Untested, assay.Vacuous},
		{"one cell failed, two differ", map[string]func(*assay.Trial){"a": gives(7), "b": gives(8), "c": fails}, assay.Fail, assay.Contradicted},
		{"one cell silent, two differ", map[string]func(*assay.Trial){"a": gives(7), "b": gives(8), "c": func(*assay.Trial) {}}, assay.Fail, assay.Contradicted},
	} {
		b := newBench(t, 6, []string{"n", "a", "b", "c"}).measure("m", "", "")
		b.claim(assay.Hypothesis{Kind: assay.Identical, Measure: ref(t, "m")})
		b.run(0, "s", func(_ Step, x *assay.Trial) { tt.cells[x.Cell["n"]](x) })
		if v := b.verdict(); v.Verdict != tt.status || v.Reason != tt.reason {
			t.Errorf("%s: %s %s, want %s %s (%v)", tt.name, v.Verdict, v.Reason, tt.status, tt.reason, v.Notes)
		}
	}
}
