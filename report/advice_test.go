package report

import (
	"strings"
	"testing"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

func TestAdviceText(t *testing.T) {
	for _, test := range []struct {
		a    grade.Advice
		want string
	}{
		{grade.Advice{Suggested: "4", Default: "16", Measured: "n=4", By: "H1", Flip: "a longer axis"}, "4 instead of today's default 16; measured at n=4 (H1). Flips: a longer axis."},
		{grade.Advice{Suggested: "4", Default: "4", Measured: "n=4", By: "H1", Flip: "a longer axis"}, "4, today's default; measured at n=4 (H1). Flips: a longer axis."},
		{grade.Advice{Suggested: "4", By: "H1", Flip: "a longer axis"}, "4, the file states no default (H1). Flips: a longer axis."},
		{grade.Advice{Default: "16", By: "H2", Flip: "not decided: straddles"}, "no change from 16 (H2): not decided: straddles."},
		{grade.Advice{By: "H2", Flip: "not decided: straddles"}, "no change (H2): not decided: straddles."},
	} {
		if got := adviceText(test.a); got != test.want {
			t.Errorf("%+v: %q, want %q", test.a, got, test.want)
		}
	}
}

// The least favourable reader of a report takes what it leaves out for good: advice and remarks are in
// every format, and only the quiet scorecard goes without.
func TestAdviceInEveryFormat(t *testing.T) {
	f := inflight(12)
	var markdown strings.Builder
	if err := Markdown(&markdown, f); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"text": text(t, f, 80, false, false), "page": string(htmlOf(t, f)), "markdown": markdown.String()} {
		for _, want := range []string{adviceHeading, "readfile", "stream", remarkHeading, "slow and idle"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
	if got := text(t, f, 80, true, false); strings.Contains(got, adviceHeading) || strings.Contains(got, remarkHeading) {
		t.Errorf("the quiet scorecard holds advice:\n%s", got)
	}
}

// planOf is a plan of cells n=1, 2, 4 with every trial ok, in order; after each trial, see may change it.
func planOf(blocks int, p assay.Plan, see func(t *assay.Trial)) Findings {
	for _, n := range []string{"1", "2", "4"} {
		p.Cells = append(p.Cells, assay.PlannedCell{Cell: assay.Cell{"n": n}})
	}
	if p.Blocks = blocks; p.SkipAbove == nil {
		p.Cells = append(p.Cells, assay.PlannedCell{Cell: assay.Cell{"n": "1"}, Twin: true})
	}
	f := Findings{Registration: &assay.Registration{Seed: 1, Plan: p}}
	for {
		step, ok := grade.Next(p, 1, f.Trials, "s1", nil)
		if !ok {
			return f
		}
		t := assay.Trial{Trial: len(f.Trials) + 1, Block: step.Block, Position: step.Position, Cell: p.Cells[step.Cell].Cell,
			Session: "s1", Outcome: assay.OK, Valid: true}
		see(&t)
		f.Trials = append(f.Trials, t)
	}
}

// A cell that is planned twice, one that is skipped after a kill and a block that is repeated must not
// make a finished plan look unfinished.
func TestBlocksThatAreDone(t *testing.T) {
	twin := planOf(3, assay.Plan{}, func(*assay.Trial) {})
	if planned, done := twin.blocks(); planned != 3 || done != 3 || len(twin.Trials) != 12 {
		t.Errorf("with a twin %d of %d blocks are done after %d trials, want 3 of 3 after 12", done, planned, len(twin.Trials))
	}
	twin.Trials = twin.Trials[:11]
	if _, done := twin.blocks(); done != 2 {
		t.Errorf("without the last trial %d blocks are done, want 2", done)
	}
	killed := planOf(3, assay.Plan{SkipAbove: map[string][]string{"n": {"1", "2", "4"}}}, func(t *assay.Trial) {
		if t.Cell["n"] == "2" {
			t.Outcome = assay.Killed
		}
	})
	if planned, done := killed.blocks(); planned != 3 || done != 3 || len(killed.Trials) != 7 {
		t.Errorf("after a kill %d of %d blocks are done after %d trials, want 3 of 3 after 7", done, planned, len(killed.Trials))
	}
	void := planOf(2, assay.Plan{Retries: 1}, func(t *assay.Trial) { t.Valid = t.Trial != 2 })
	if planned, done := void.blocks(); planned != 2 || done != 2 || len(void.Trials) != 12 {
		t.Errorf("after a repeat %d of %d blocks are done after %d trials, want 2 of 2 after 12", done, planned, len(void.Trials))
	}
}
