package report

import (
	"math"
	"strings"
	"testing"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// several is a ratio that must hold at two levels of another factor, with the worse one stated.
func several() Findings {
	f := inflight(12)
	f.Experiment.Hypotheses[0].At = nil
	cell := func(reader, n string) assay.Cell { return assay.Cell{"reader": reader, "inflight": n} }
	f.Hypotheses = []grade.Grounds{{ID: "H1", Findings: []grade.Finding{
		{Of: cell("readfile", "4"), To: cell("stream", "4"), Status: assay.Pass, Reason: assay.Holds, Estimate: 1.4, Low: 1.3, High: math.Inf(1), Confidence: 0.9875, Blocks: 12},
		{Of: cell("readfile", "8"), To: cell("stream", "8"), Status: assay.Pass, Reason: assay.Holds, Estimate: 1.2311, Low: 1.1923, High: 1.2749, Confidence: 0.9875, Blocks: 12},
	}}}
	return f
}

func TestClaimNamesTheCellOfItsFigures(t *testing.T) {
	f := several()
	if got, want := f.claims()[0].sentence(), "at inflight=8 (the least favourable of 2)"; !strings.Contains(got, want) {
		t.Errorf("sentence = %q, want %q in it", got, want)
	}
	page := string(htmlOf(t, f))
	for _, want := range []string{"Each of 2 matching cells", "<td>inflight=4</td>", "1.30 to open"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
}

// Words and operators must mean the same.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"> 1.05": "above 1.05", ">= 2": "at least 2", "< 5ms": "below 5ms", "<= 4": "at most 4", "== 3": "exactly 3",
		"!= 3": "other than 3", "2.3GiB..2.7GiB": "between 2.3GiB and 2.7GiB",
	} {
		if got := words(expect(text)); got != want {
			t.Errorf("words(%s) = %q, want %q", text, got, want)
		}
	}
}

func TestSubjects(t *testing.T) {
	f := inflight(12)
	side := assay.Cell{"reader": "readfile"}
	other := assay.Cell{"reader": "stream"}
	for _, test := range []struct {
		h    assay.Hypothesis
		v    assay.Verdict
		want string
	}{
		{assay.Hypothesis{Kind: assay.Difference, Measure: ref("wall"), Of: side, To: other}, assay.Verdict{Estimate: ptr(-2e6), Low: ptr(-3e6), High: ptr(-1e6), Unit: "ns"},
			"wall with reader=readfile is 2.0 ms less than with reader=stream"},
		{assay.Hypothesis{Kind: assay.Absolute, Measure: ref("errors"), At: side}, assay.Verdict{Estimate: ptr(0.012), Low: ptr(0.01), High: ptr(0.02)},
			"errors at reader=readfile is 1.2%"},
		{assay.Hypothesis{Kind: assay.Knee, Measure: ref("throughput"), Along: "inflight"}, assay.Verdict{Estimate: ptr(4), High: ptr(4)},
			"the knee of throughput along inflight lies at most 4"},
		{assay.Hypothesis{Kind: assay.Highest, Along: "inflight", Meets: []assay.Condition{must(assay.ParseCondition("p99(response_time) < 100ms"))}},
			assay.Verdict{Estimate: ptr(16), Low: ptr(16), High: ptr(32)}, "the highest inflight that meets p99(response_time) < 100ms is at least 16, below 32"},
	} {
		if got := (claim{&f, test.v, test.h}).subject(); got != test.want {
			t.Errorf("subject of %s = %q, want %q", test.h.Kind, got, test.want)
		}
	}
}

// Claims that are decided by more than their figure must not be worded as if the figure did it.
func TestSentencesOfOddKinds(t *testing.T) {
	f := inflight(12)
	v := assay.Verdict{Verdict: assay.Pass, Reason: assay.Holds, Estimate: ptr(2.07), Low: ptr(2.01), High: ptr(2.15), Confidence: 0.95, Blocks: 12}
	throughput := ref("throughput")
	for _, test := range []struct {
		h    assay.Hypothesis
		unit string
		want string
	}{
		{assay.Hypothesis{Kind: assay.Trend, Measure: throughput, Along: "inflight", Direction: "up"}, "",
			"along inflight, from 1 to 32, throughput becomes 2.07 times what it was (95% interval, 2.01 to 2.15 over 12 blocks); claimed was up, and that holds."},
		{assay.Hypothesis{Kind: assay.Trend, Measure: throughput, Along: "inflight", Direction: "none"}, "",
			"along inflight, from 1 to 32, throughput becomes 2.07 times what it was (95% interval, 2.01 to 2.15 over 12 blocks); claimed was a change of less than 5%, and that holds."},
		{assay.Hypothesis{Kind: assay.Line, Measure: ref("wall"), Along: "inflight", Slope: expect("> 1ms"), Intercept: expect("< 9ms")}, "ms",
			"the slope of wall along inflight is 2.07 ms (95% interval, 2.01 to 2.15 over 12 blocks); claimed was a slope above 1ms and an intercept below 9ms, and that holds."},
		{assay.Hypothesis{Kind: assay.LadderKind, Measure: throughput, Ladder: "tuning", Largest: assay.Cell{"inflight": "4"}}, "",
			"on the ladder tuning the rung inflight=4 gains throughput 2.07 times (95% interval, 2.01 to 2.15 over 12 blocks); claimed was the largest step, and that holds."},
	} {
		v.Unit = test.unit
		c := claim{&f, v, test.h}
		if got := c.sentence(); got != test.want {
			t.Errorf("sentence of %s\n got: %s\nwant: %s", test.h.Kind, got, test.want)
		}
		if strip := c.strip(); (test.h.Kind != assay.LadderKind) != strings.Contains(strip, "allow") {
			t.Errorf("strip of %s: %s", test.h.Kind, strip)
		}
	}
}

// What is shaded must be what the claim allows.
func TestAllowed(t *testing.T) {
	inf := math.Inf(1)
	for text, want := range map[string][2]float64{"> 1.05": {1.05, inf}, "<= 2": {-inf, 2}, "1..3": {1, 3}, "== 4": {4, 4}} {
		c := claim{&Findings{}, assay.Verdict{}, assay.Hypothesis{Kind: assay.Ratio, Expect: expect(text)}}
		if low, high, ok := c.allowed(); !ok || low != want[0] || high != want[1] {
			t.Errorf("allowed by %s = %v to %v, %v", text, low, high, ok)
		}
	}
	ms := claim{&Findings{}, assay.Verdict{Unit: "ms"}, assay.Hypothesis{Kind: assay.Absolute, Expect: expect("< 2s")}}
	if _, high, _ := ms.allowed(); high != 2000 {
		t.Errorf("below 2 s is below %v ms", high)
	}
	if _, _, ok := (claim{&Findings{}, assay.Verdict{}, assay.Hypothesis{}}).allowed(); ok {
		t.Error("a claim without an expectation allows a range")
	}
}

func TestSettle(t *testing.T) {
	f := inflight(12)
	h := assay.Hypothesis{Kind: assay.Ratio, Measure: ref("throughput"), Expect: expect("> 1.05")}
	for _, test := range []struct {
		low, estimate, high float64
		want                string
	}{
		{1.00, 1.10, 1.20, "Roughly 58 blocks instead of 12"},
		{0.95, 1.05, 1.15, "lies on the bound"},
		{1.00, 1.0501, 1.15, "lies on the bound"},
	} {
		v := assay.Verdict{Verdict: assay.Undecided, Reason: assay.Straddles, Estimate: &test.estimate, Low: &test.low, High: &test.high, Blocks: 12}
		if got := (claim{&f, v, h}).settle(); !strings.Contains(got, test.want) {
			t.Errorf("settle of %v to %v = %q, want %q", test.low, test.high, got, test.want)
		}
	}
}

// A guard that voids a claim and no trial must not be followed by a count of trials that others voided.
func TestGuardOnAClaimAlone(t *testing.T) {
	f := inflight(12)
	f.Verdicts.Hypotheses[0].Verdict, f.Verdicts.Hypotheses[0].Reason = assay.Void, assay.GuardReason("steady")
	if s := f.claims()[0].sentence(); !strings.Contains(s, "throughout the window") || strings.Contains(s, "are void") {
		t.Errorf("sentence %q", s)
	}
}
