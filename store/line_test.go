package store

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assaybench/assay"
)

// The lines that this package writes are read directly, and every line is read as encoding/json
// reads it.
func FuzzLine(f *testing.F) {
	full, err := json.Marshal(assay.Trial{Trial: 3, Cell: assay.Cell{"a": "1<2"}, StartedAt: time.Unix(1, 2).UTC(),
		Measures: map[string]assay.Value{"x": assay.Num(1.5e-9), "y": assay.Txt("é"), "z": assay.Num(-0.25)},
		Gates:    []assay.GateReading{{Condition: "load1 < 4", Reading: assay.Num(2)}}, Notes: []string{`"]}`}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	for _, line := range []string{`{}`, `{"trial":1}`, `{"trial":01}`, `{"trial":1.0}`, `{"trial":1,"trial":2}`, `{"cell":null}`,
		`{"measures":{"a":null,"b":true,"c":"d","e":1e400}}`, `{"valid":true,"warmup":false}`, `{"Trial":1}`, `{"unknown":[1,{"a":2}]}`,
		` {"trial":1}`, `{"trial":1}x`, `{"void_by":["guard:steal"],"notes":[]}`, `{"cell":{"a":"1"},"cell":{"b":"2"}}`, `{"notes":["\"]`} {
		f.Add([]byte(line))
	}
	r := lineReader{names: map[string]string{}}
	f.Fuzz(func(t *testing.T, line []byte) {
		var got, want assay.Trial
		gotErr, wantErr := r.decode(line, &got), json.Unmarshal(line, &want)
		if (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("decode = %v, encoding/json = %v", gotErr, wantErr)
		}
		if diff := cmp.Diff(want, got); wantErr == nil && diff != "" {
			t.Errorf("(-encoding/json +decode):\n%s", diff)
		}
	})
}

func TestOwnLinesAreReadDirectly(t *testing.T) {
	line, err := json.Marshal(assay.Trial{Cell: assay.Cell{"n": "4"}, Outcome: assay.OK, Valid: true, VoidBy: []string{},
		RefusedBy: []string{}, Measures: map[string]assay.Value{"wall_ns": assay.Num(12)}, Achieved: map[string]assay.Value{},
		Gates: []assay.GateReading{}, Notes: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	r := lineReader{b: line, names: map[string]string{}}
	if !r.trial(new(assay.Trial)) {
		t.Errorf("stopped at %d of %s", r.i, line)
	}
}

// Whatever is accepted is whole lines in a chain, and reading them again gives the same trials; what is
// not accepted is refused with its line.
func FuzzTrials(f *testing.F) {
	var good []byte
	prev := ""
	for n := 1; n <= 3; n++ {
		line, err := json.Marshal(assay.Trial{Trial: n, Cell: assay.Cell{"n": "1"}, Measures: map[string]assay.Value{"x": assay.Num(2)}, Prev: prev})
		if err != nil {
			f.Fatal(err)
		}
		prev = lineDigest(line)
		good = append(append(good, line...), '\n')
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(good[:len(good)-9])
	f.Add([]byte("{}\n"))
	f.Add([]byte("\n\n"))
	f.Add([]byte(`{"trial":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Contents
		if err := c.parse("trials.jsonl", b); err != nil {
			if !strings.HasPrefix(err.Error(), "trials.jsonl:") {
				t.Errorf("%v names no line", err)
			}
			return
		}
		if got := int(c.size) - len(b) + len(c.Torn); got != 0 && !c.unended {
			t.Errorf("%d whole and %d torn bytes of %d", c.size, len(c.Torn), len(b))
		}
		whole := b[:min(int(c.size), len(b))]
		if c.unended {
			whole = append(slices.Clone(whole), '\n')
		}
		var again Contents
		if err := again.parse("trials.jsonl", whole); err != nil || again.last != c.last {
			t.Fatalf("read again: %v, digest %s; want %s", err, again.last, c.last)
		}
		if diff := cmp.Diff(c.Trials, again.Trials); diff != "" || again.Torn != nil || again.unended {
			t.Errorf("read again, torn %q:\n%s", again.Torn, diff)
		}
	})
}
