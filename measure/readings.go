package measure

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"

	"github.com/assaybench/assay"
)

// ReadingsFile holds the readings of a trial, one a line: t_ns,name,object,value.
const ReadingsFile = "readings.csv"

// A Reading is one telemetry value at a time.
type Reading struct {
	TNS    int64 // since the trial began
	Name   string
	Object string
	Value  float64
}

// Readings reads a readings file. Names are those of the built-in measures with the unit that they
// are stored in, such as rss_peak_bytes, or without. Errors name the line.
func Readings(r io.Reader) ([]Reading, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = 4
	c.ReuseRecord = true
	var list []Reading
	for first := true; ; first = false {
		row, err := c.Read()
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("read readings: %w", err)
		case first && row[0] == "t_ns":
			continue
		}
		line, _ := c.FieldPos(0)
		t, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read readings: line %d: time %q is not a whole number of nanoseconds", line, row[0])
		}
		v, err := strconv.ParseFloat(row[3], 64)
		if err != nil || math.IsNaN(v) {
			return nil, fmt.Errorf("read readings: line %d: %q is not a number", line, row[3])
		}
		list = append(list, Reading{TNS: t, Name: row[1], Object: row[2], Value: v})
	}
}

// ofReadings is a statistic over the readings of one trial.
func ofReadings(files fs.FS, ref assay.MeasureRef) (assay.Value, error) {
	f, err := files.Open(ReadingsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return assay.Value{}, fmt.Errorf("measure %s: %w", ref, ErrAbsent)
	}
	if err != nil {
		return assay.Value{}, fmt.Errorf("measure %s: %w", ref, err)
	}
	defer f.Close()
	list, err := Readings(f)
	if err != nil {
		return assay.Value{}, fmt.Errorf("measure %s: %w", ref, err)
	}
	var xs []float64
	for _, r := range list {
		if r.Of(ref) {
			xs = append(xs, r.Value)
		}
	}
	if len(xs) == 0 {
		return assay.Value{}, fmt.Errorf("measure %s: %w", ref, ErrAbsent)
	}
	x, ok := statistic(xs, ref.Stat)
	if !ok {
		return assay.Value{}, fmt.Errorf("measure %s: %s is no statistic", ref, ref.Stat)
	}
	return assay.Num(x), nil
}

// Of reports whether the reading is of the measure and object that ref names, whatever its statistic.
func (r Reading) Of(ref assay.MeasureRef) bool {
	bare := assay.MeasureRef{Name: ref.Name}
	return r.Object == ref.Object && (r.Name == ref.Name || r.Name == assay.MeasureKey(bare))
}
