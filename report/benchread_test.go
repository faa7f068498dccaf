package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/assaybench/assay"
)

// benchstat's own reader takes every line of the export, finds every figure of every trial that counts
// under its cell, and knows which direction is better.
func TestBenchfmtIsReadByBenchstat(t *testing.T) {
	odd := hostile()
	odd.Measures = odd.Measures[:1] // the others bear the same name, and no line could hold them apart
	for name, f := range map[string]Findings{"inflight": inflight(6), "every": every(), "hostile": odd} {
		var left []int // trials whose line is to come
		for i := range f.Trials {
			if t := &f.Trials[i]; t.Counts() && t.Outcome == assay.OK && len(benchValues(&f, i)) > 0 {
				left = append(left, i)
			}
		}
		lines := len(left)
		read := benchfmt.NewReader(bytes.NewReader(exported(t, Benchfmt, f)), name)
		for read.Scan() {
			switch r := read.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Errorf("%s: %v", name, r)
			case *benchfmt.Result:
				if len(left) == 0 {
					t.Fatalf("%s: a line more than the %d trials that count: %s", name, lines, r.Name)
				}
				sameTrial(t, r, &f, left[0])
				left = left[1:]
			}
		}
		if err := read.Err(); err != nil || len(left) > 0 {
			t.Errorf("%s: %d of %d trials were not read; %v", name, len(left), lines, err)
		}
		for i := range f.Measures {
			m := &f.Measures[i]
			want := map[assay.Better]int{assay.More: 1, assay.Lower: -1}[m.Better]
			if got := read.Units().GetBetter(benchUnit(m)); got != want {
				t.Errorf("%s: more of %s is better by %d, want %d", name, benchUnit(m), got, want)
			}
		}
	}
}

// benchValues are the figures that a trial's line must hold, by unit.
func benchValues(f *Findings, trial int) map[string]float64 {
	values := map[string]float64{}
	for i := range f.Measures {
		m := &f.Measures[i]
		if trial < len(m.Values) && finite(m.Values[trial]) {
			values[benchUnit(m)] = m.Values[trial]
		}
	}
	return values
}

// sameTrial holds a line as it was read against a trial: its levels, and its figures to the last digit as
// they were written, before the reader turned them into base units.
func sameTrial(t *testing.T, r *benchfmt.Result, f *Findings, trial int) {
	t.Helper()
	want := benchValues(f, trial)
	if len(r.Values) != len(want) || r.Iters != 1 {
		t.Errorf("trial %d: %d figures of %d iterations, want %d of 1", trial+1, len(r.Values), r.Iters, len(want))
	}
	for _, v := range r.Values {
		unit, x := v.Unit, v.Value
		if v.OrigUnit != "" {
			unit, x = v.OrigUnit, v.OrigValue
		}
		if y, ok := want[unit]; !ok || x != y && !(math.IsNaN(x) && math.IsNaN(y)) {
			t.Errorf("trial %d: %v %s, want %v", trial+1, x, unit, y)
		}
	}
	for factor, level := range f.Trials[trial].Cell {
		if part := "/" + benchWord(factor) + "=" + benchWord(level); !strings.Contains(r.Name.String()+"/", part+"/") {
			t.Errorf("trial %d: %s lacks %s", trial+1, r.Name, part)
		}
	}
	if _, parts := r.Name.Parts(); len(parts) != len(f.Trials[trial].Cell) {
		t.Errorf("trial %d: %s has %d parts, want %d", trial+1, r.Name, len(parts), len(f.Trials[trial].Cell))
	}
}
