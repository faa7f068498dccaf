package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/assaybench/assay"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/name, or rewrites that file with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; -want +got (rewrite with -update):\n%s", path, diff)
	}
}

func text(t *testing.T, f Findings, width int, quiet, colour bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, f, width, quiet, colour); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	golden(t, "inflight.txt", []byte(text(t, inflight(12), 80, false, false)))
	golden(t, "inflight-quiet.txt", []byte(text(t, inflight(12), 80, true, false)))
	golden(t, "inflight-colour.txt", []byte(text(t, inflight(12), 100, true, true)))
	golden(t, "every.txt", []byte(text(t, every(), 80, true, false)))
}

func TestTextFitsItsWidth(t *testing.T) {
	for _, width := range []int{40, 60, 80, 132} {
		for _, f := range []Findings{inflight(12), every(), hostile()} {
			for _, line := range strings.Split(text(t, f, width, true, false), "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("width %d: line of %d: %s", width, n, line)
				}
			}
		}
	}
}

func TestTextObeysNoEscapesFromNames(t *testing.T) {
	got := text(t, hostile(), 80, false, false)
	if strings.ContainsAny(got, "\x1b\u202e") {
		t.Error("a name's escape sequence reached the terminal")
	}
}

// Every reason must have a sentence of its own that holds no left-over of a missing figure.
func TestEveryReasonHasItsSentence(t *testing.T) {
	f := every()
	seen := map[string]assay.Reason{}
	for _, c := range f.claims() {
		s := c.sentence()
		if other, ok := seen[s]; ok {
			t.Errorf("%s and %s say the same: %s", other, c.v.Reason, s)
		}
		seen[s] = c.v.Reason
		for _, bad := range []string{"NaN", "()", "  ", "reason recorded", ", ,", "%!"} {
			if strings.Contains(s, bad) {
				t.Errorf("%s: %q in: %s", c.v.Reason, bad, s)
			}
		}
		if Meaning(c.v.Reason) == "" {
			t.Errorf("%s has no meaning", c.v.Reason)
		}
		if decided := c.v.Verdict == assay.Pass || c.v.Verdict == assay.Fail; decided != (c.settle() == "") {
			t.Errorf("%s: settle says %q", c.v.Reason, c.settle())
		}
	}
	if got, want := len(seen), len(reasons)+2; got != want {
		t.Errorf("%d reasons have sentences, want %d", got, want)
	}
}

func TestAnswer(t *testing.T) {
	for _, test := range []struct {
		statuses []assay.Status
		want     string
	}{
		{nil, "Nothing was claimed; the figures stand for themselves."},
		{[]assay.Status{assay.Pass}, "The one claim holds."},
		{[]assay.Status{assay.Fail}, "The one claim is contradicted."},
		{[]assay.Status{assay.Pass, assay.Pass}, "All 2 claims hold."},
		{[]assay.Status{assay.Pass, assay.Fail}, "1 of 2 claims holds and 1 is contradicted."},
		{[]assay.Status{assay.Void, assay.Void, assay.Undecided}, "None of 3 claims holds, 1 is undecided and 2 are void."},
	} {
		var f Findings
		for _, s := range test.statuses {
			f.Verdicts.Hypotheses = append(f.Verdicts.Hypotheses, assay.Verdict{Verdict: s})
		}
		if got := f.answer(); got != test.want {
			t.Errorf("answer of %v = %q, want %q", test.statuses, got, test.want)
		}
	}
}

// Findings without anything in them must not be taken for good news, nor panic.
func TestTextOfNothing(t *testing.T) {
	got := text(t, Findings{}, 80, false, false)
	for _, bad := range []string{"PASS", "hold", "All"} {
		if strings.Contains(got, bad) {
			t.Errorf("text of empty findings says %q:\n%s", bad, got)
		}
	}
}
