package spec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Read says either an experiment or its mistakes, each with a place in the file, and never panics.
func FuzzRead(f *testing.F) {
	for _, dir := range []string{"good", "bad"} {
		names, err := filepath.Glob("testdata/" + dir + "/*.yaml")
		if err != nil || len(names) == 0 {
			f.Fatalf("no seeds in %s: %v", dir, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := Read("e.yaml", text, machine)
		if (e == nil) == (err == nil) {
			t.Fatalf("Read = %v, %v", e, err)
		}
		if err == nil {
			for _, h := range e.Hypotheses {
				if Rule(h) == "" || strings.Contains(Rule(h), "\n") {
					t.Errorf("Rule(%s) = %q", h.ID, Rule(h))
				}
			}
			if d, err := Digest(text); len(d) != 64 || err != nil {
				t.Errorf("Digest = %q, %v", d, err)
			}
			return
		}
		var mistakes Mistakes
		if !errors.As(err, &mistakes) || len(mistakes) == 0 {
			t.Fatalf("Read = %v, want mistakes", err)
		}
		lines := strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + 1
		for i, m := range mistakes {
			if m.Line < 1 || m.Column < 1 || m.Line > lines+1 || m.Message == "" {
				t.Errorf("mistake %+v in a file of %d lines", m, lines)
			}
			if i > 0 && m.Line < mistakes[i-1].Line {
				t.Errorf("line %d comes behind line %d", m.Line, mistakes[i-1].Line)
			}
		}
	})
}
