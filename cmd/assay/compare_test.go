package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/spec"
)

func TestFittingBlocks(t *testing.T) {
	for _, test := range []struct {
		left, each time.Duration
		least      int
		want       int
	}{
		{30 * time.Second, time.Second, 10, 30},
		{30*time.Second - 1, time.Second, 10, 29},
		{30 * time.Second, 4 * time.Second, 10, 10}, // seven fit, ten are needed
		{30 * time.Second, 4 * time.Second, 12, 12},
		{time.Hour, time.Second, 10, 100},
		{-time.Second, time.Second, 10, 10},
		{time.Second, 0, 10, 100},
	} {
		if got := fitting(test.left, test.each, test.least); got != test.want {
			t.Errorf("fitting(%v, %v, %d) = %d, want %d", test.left, test.each, test.least, got, test.want)
		}
	}
}

// laid is what the arguments ask for.
func laid(t *testing.T, vary []string, commands ...string) *comparing {
	t.Helper()
	m := &comparing{}
	if err := m.take(commands, vary); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWhatIsComparedWithWhat(t *testing.T) {
	for _, test := range []struct {
		name     string
		vary     []string
		commands []string
		want     []string // the pairs, as "of ~ to"
	}{
		{"two", nil, []string{"x", "y"}, []string{"x ~ y"}},
		{"all against the first", nil, []string{"x", "y", "z"}, []string{"x ~ y", "x ~ z"}},
		{"twice the same", nil, []string{"x", "x"}, []string{"x ~ x"}},
		{"levels against the first", []string{"n=1,2,3"}, []string{"x {n}"}, []string{"x 1 ~ x 2", "x 1 ~ x 3"}},
		{"commands at each level", []string{"n=1,2"}, []string{"x {n}", "y {n}"}, []string{"x 1 ~ y 1", "x 2 ~ y 2"}},
		{"the first factor at each level of the second", []string{"n=1,2", "m=3,4"}, []string{"x {n}{m}"},
			[]string{"x 13 ~ x 23", "x 14 ~ x 24"}},
	} {
		m := laid(t, test.vary, test.commands...)
		var got []string
		for _, p := range m.pairs {
			got = append(got, m.arms[p.of].text+" ~ "+m.arms[p.to].text)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestLetters(t *testing.T) {
	for i, want := range map[int]string{0: "a", 25: "z", 26: "aa", 27: "ab", 51: "az", 52: "ba", 701: "zz", 702: "aaa"} {
		if got := letter(i); got != want {
			t.Errorf("letter(%d) = %q, want %q", i, got, want)
		}
	}
}

func TestTemplateKeepsBraces(t *testing.T) {
	m := &comparing{vary: []assay.Factor{{Name: "n"}}}
	for command, want := range map[string]string{
		"a {n} b":     "a {n} b",
		"${n} {n}":    "${{n}} {n}",
		"{x} }} {{":   "{{x}} }}}} {{{{",
		"{{n}}":       "{{{n}}}",
		"{n}}":        "{n}}}",
		`{"n": "{n}"`: `{{"n": "{n}"`,
	} {
		if got := m.template(command); got != want {
			t.Errorf("template(%q) = %q, want %q", command, got, want)
		}
	}
}

// Whatever a command holds, the file that compare writes says the same command.
func TestWrittenFileMeansTheCommands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab{}n$'\"\\ \n\t:#-&*!%@`|>?é\u2028\x07,[]")), 1, 30, -1)
		commands := []string{text.Draw(t, "a"), text.Draw(t, "b") + " {n}"}
		m := &comparing{shell: true, patience: time.Second}
		if err := m.take(commands, []string{"n=1, 2:,x'{y}"}); err != nil {
			t.Fatal(err)
		}
		if m.check() != nil {
			return // blank
		}
		file, err := m.read(10)
		if err != nil {
			t.Fatalf("read: %v\n%s", err, m.text(10))
		}
		if len(file.experiment.Settings) != len(m.arms) {
			t.Fatalf("%d cells, want %d", len(file.experiment.Settings), len(m.arms))
		}
		for _, s := range file.experiment.Settings {
			got, err := s.Workload.Command.Args[0].Expand(nil)
			if want := m.armOf(s.Cell).text; err != nil || got != want {
				t.Fatalf("cell %s executes %q (%v), want %q", s.Cell, got, err, want)
			}
		}
	})
}

// The claims of the written file are those of the pairs, in their order.
func TestWrittenFileClaimsThePairs(t *testing.T) {
	m := laid(t, []string{"n=1,2,3", "m=4,5"}, "x {n} {m}")
	m.margin = 0.05
	file, err := m.read(20)
	if err != nil {
		t.Fatal(err)
	}
	e := file.experiment
	if e.Blocks != 20 || e.Warmup != 1 || len(e.Hypotheses) != len(m.pairs) {
		t.Fatalf("%d blocks, %d warm-ups, %d claims", e.Blocks, e.Warmup, len(e.Hypotheses))
	}
	for i, h := range e.Hypotheses {
		of, to := m.arms[m.pairs[i].of].cell, m.arms[m.pairs[i].to].cell
		if got := h.At.With(h.Of).Key(); got != of.Key() {
			t.Errorf("%s: of is %s, want %s", h.ID, got, of)
		}
		if got := h.At.With(h.To).Key(); got != to.Key() {
			t.Errorf("%s: to is %s, want %s", h.ID, got, to)
		}
		if h.ID != pairID(i) || spec.Rule(h) == "" || h.Expect.String() != "0.95..1.05" {
			t.Errorf("%s expects %s", h.ID, h.Expect)
		}
	}
}

func TestVerdictInWords(t *testing.T) {
	number := func(x float64) *float64 {
		if math.IsInf(x, 0) {
			return nil
		}
		return &x
	}
	inf := math.Inf(1)
	for _, test := range []struct {
		margin    float64
		low, high float64
		status    assay.Status
		reason    assay.Reason
		verdict   string
		because   string
	}{
		{0, 1.1, 1.2, assay.Pass, assay.Holds, report.Differs, "holds"},
		{0, 0.8, 0.9, assay.Pass, assay.Holds, report.Differs, "holds"},
		{0, 1.1, inf, assay.Pass, assay.Holds, report.Differs, "holds"},
		{0, 0.9, 1.1, assay.Undecided, assay.Straddles, report.CannotTell, "straddles"},
		{0, 0.9, inf, assay.Undecided, assay.Straddles, report.CannotTell, "straddles"},
		{0.05, 0.99, 1.02, assay.Pass, assay.Holds, report.SameWithin, "holds"},
		{0.05, 1.01, 1.02, assay.Pass, assay.Holds, report.SameWithin, "holds"},
		{0.05, 1.1, 1.2, assay.Fail, assay.Contradicted, report.Differs, "holds"},
		{0.05, 1.01, 1.2, assay.Undecided, assay.Straddles, report.Differs, "holds"},
		{0.05, 0.99, 1.2, assay.Undecided, assay.Straddles, report.CannotTell, "straddles"},
		{0, 1.1, 1.2, assay.Undecided, assay.UnequalVoids, report.CannotTell, "unequal-voids"},
		{0, 1.1, 1.2, assay.Undecided, assay.Incomplete, report.CannotTell, "incomplete"},
		{0, 1.1, 1.2, assay.Untested, assay.Vacuous, report.CannotTell, "vacuous"},
		{0, 1.1, 1.2, assay.Void, assay.GuardReason("steal"), report.CannotTell, "guard:steal"},
	} {
		r := &comparisonRun{comparing: laid(t, nil, "x", "y")}
		r.margin = test.margin
		v := assay.Verdict{Verdict: test.status, Reason: test.reason, Low: number(test.low), High: number(test.high)}
		got := r.ratio(r.pairs[0], &v)
		if got.Verdict != test.verdict || got.Reason != test.because {
			t.Errorf("%s %s, %v to %v, margin %v: %s %s, want %s %s", test.status, test.reason, test.low, test.high, test.margin,
				got.Verdict, got.Reason, test.verdict, test.because)
		}
	}
}

// The pilot's number of blocks can decide, however many comparisons there are.
func TestLeastBlocksCanDecide(t *testing.T) {
	for commands := 2; commands < 200; commands++ {
		m := laid(t, nil, strings.Split(strings.Repeat("x,", commands-1)+"x", ",")...)
		// The two-sided sign test of n blocks cannot be more certain than 2^(1-n).
		if n := m.least(); n < leastBlocks || math.Ldexp(1, 1-n) > 0.05/float64(commands-1) {
			t.Fatalf("%d commands: %d blocks", commands, n)
		}
	}
}
