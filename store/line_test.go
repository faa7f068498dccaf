package store

import (
	"encoding/json"
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
