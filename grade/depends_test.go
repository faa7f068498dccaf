package grade

import (
	"slices"
	"strings"
	"testing"

	"github.com/assaybench/assay"
)

// A claim that falls flags what rests on it, and that alone; the verdict of what rests on it stays.
func TestDependants(t *testing.T) {
	judged := func(bound string, amend ...assay.Amendment) []assay.Verdict {
		b := newBench(t, 8, []string{"n", "1", "2"}).measure("m", "", assay.More)
		b.amend = amend
		b.run(0, "s", noisy("m", 0.01, 1, by("n", map[string]float64{"1": 100, "2": 200})))
		ratio := assay.Hypothesis{Kind: assay.Ratio, Measure: ref(t, "m"), Of: assay.Cell{"n": "2"}, To: assay.Cell{"n": "1"}, Expect: expect(t, "> 1.5")}
		for _, h := range []struct {
			id, from string
			depends  []string
		}{{"H1", "", nil}, {"H2", "", []string{"H1"}}, {"H3", "", nil}, {"bar[1]", "bar", nil}, {"H5", "", []string{"bar", "H1"}}} {
			ratio.ID, ratio.From, ratio.Depends = h.id, h.from, h.depends
			r := ratio
			if h.id == "H1" || h.from == "bar" {
				r.Expect = expect(t, bound)
			}
			b.claim(r)
		}
		f := b.folder()
		for i := range f.Registration.Amendments {
			f.Registration.Amendments[i].Plan = f.Registration.Plan
		}
		return Judge(f).Verdicts.Hypotheses
	}
	flags := func(v assay.Verdict) (list []string) {
		for _, note := range v.Notes {
			if strings.HasPrefix(note, "depends on ") {
				list = append(list, strings.Fields(note)[2])
			}
		}
		return list
	}
	for _, test := range []struct {
		name     string
		verdicts []assay.Verdict
		want     [5][]string
	}{
		{"all hold", judged("> 1.5"), [5][]string{}},
		{"contradicted", judged("> 3"), [5][]string{1: {"H1,"}, 4: {"H1,", "bar[1],"}}},
		{"amended", judged("> 1.5", assay.Amendment{Changes: []string{"hypotheses.H1.expect"}, Trials: 4}), [5][]string{1: {"H1,"}, 4: {"H1,"}}},
	} {
		for i, v := range test.verdicts {
			if got := flags(v); !slices.Equal(got, test.want[i]) {
				t.Errorf("%s: %s is flagged by %v, want %v", test.name, v.ID, got, test.want[i])
			}
			if i == 1 && v.Verdict != assay.Pass {
				t.Errorf("%s: %s is %s; what it depends on must not change its verdict", test.name, v.ID, v.Verdict)
			}
		}
	}
}
