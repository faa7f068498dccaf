package report

import (
	"strings"
	"testing"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// What grading really finds must come out in words and figures, not only what these tests made up.
func TestJudgedFindings(t *testing.T) {
	made := inflight(12)
	e := made.Experiment
	e.Hypotheses[4].Expect = expect("> 2s")
	e.Hypotheses = append(e.Hypotheses,
		assay.Hypothesis{ID: "H6", Claim: "More in flight is faster.", Kind: assay.Trend, Measure: ref("throughput"), Along: "inflight", Direction: "up"},
		assay.Hypothesis{ID: "H7", Claim: "Every way is slow.", Kind: assay.Absolute, Measure: ref("throughput"), Expect: expect("< 100 files/s")})
	for i := range made.Trials {
		t := &made.Trials[i]
		t.Measures["output"] = assay.Txt("abc")
		t.Valid, t.VoidBy, t.Outcome, t.RefusedBy = true, nil, assay.OK, nil
	}
	f := Judged(grade.Folder{Experiment: e, Registration: made.Registration, Host: made.Host, Trials: made.Trials})
	got := strings.Join(strings.Fields(text(t, f, 100, false, false)), " ")
	for _, want := range []string{
		"PASS H1 Reading whole files beats streaming them.",
		"PASS H3 All ways read the same bytes.",
		"PASS H6", "and that holds",
		"output is the same in all 144 counted trials",
		"(the least favourable of 12)",
		"FAIL H7",
		"throughput, files/s (more is better)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("text lacks %q:\n%s", want, text(t, f, 100, false, false))
		}
	}
	for _, bad := range []string{"NaN", "not known", "%!"} {
		if strings.Contains(got, bad) {
			t.Errorf("text holds %q:\n%s", bad, text(t, f, 100, false, false))
		}
	}
	if page := string(htmlOf(t, f)); !strings.Contains(page, "matching cells") || strings.Contains(page, "NaN") {
		t.Error("page lacks the matching cells, or has a NaN")
	}
}
