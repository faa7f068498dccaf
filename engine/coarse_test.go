package engine

import (
	"testing"
	"time"

	"github.com/assaybench/assay"
)

func TestTimesOfACoarseClockAreVoid(t *testing.T) {
	for _, c := range []struct {
		name string
		unit string
		got  assay.Value
		wall time.Duration
		void bool
	}{
		{"nine seconds by a clock of one", "s", assay.Num(9), 9400 * time.Millisecond, true},
		{"rounded up", "s", assay.Num(10), 9400 * time.Millisecond, true},
		{"milliseconds", "ms", assay.Num(12), 12300 * time.Microsecond, true},
		{"a fine clock", "s", assay.Num(9.37), 9400 * time.Millisecond, false},
		{"twenty steps and more", "s", assay.Num(20), 20400 * time.Millisecond, false},
		{"of a part of the trial", "s", assay.Num(3), 9400 * time.Millisecond, false},
		{"nothing at all", "s", assay.Num(0), 20 * time.Millisecond, false},
		{"no time", "files", assay.Num(9), 9 * time.Nanosecond, false},
		{"a rate", "/s", assay.Num(9), 9 * time.Nanosecond, false},
		{"a text", "s", assay.Txt("9"), 9400 * time.Millisecond, false},
	} {
		unit, err := assay.ParseUnit(c.unit)
		if err != nil {
			t.Fatal(err)
		}
		one := &trial{run: &Run{Experiment: &assay.Experiment{Measures: []assay.Measure{{Name: "elapsed", Unit: unit}}}}}
		one.record.Valid = true
		one.record.Measures = map[string]assay.Value{"elapsed": c.got, "wall_ns": assay.Num(float64(c.wall))}
		one.coarse()
		if one.record.Valid == c.void {
			t.Errorf("%s: valid %t, notes %q", c.name, one.record.Valid, one.record.Notes)
		}
	}
}
