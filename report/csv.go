package report

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assaybench/assay"
)

// plainColumns are the columns of a CSV export that every experiment has.
var plainColumns = []string{"trial", "block", "position", "warmup", "session", "started_at", "outcome",
	"valid", "void_by", "refused_by", "exit", "signal", "output_sha256"}

// A csvColumns is the header of a CSV export: the plain columns, then factors, then measures, then
// achieved levels.
type csvColumns struct {
	factors, measures, achieved []string
	figures                     []int // indexes into Findings.Measures of those that no trial line has
}

// CSV writes one row a trial, warm-ups, voids and refusals included, nothing rounded: what was
// recorded, and the measures of the hypotheses that were read from a trial's files. Lists are
// joined by semicolons. A number worse than any is "inf"; a missing one is empty. A factor or a
// measure that bears the name of another column has its kind before it ("cell.block").
func CSV(w io.Writer, f Findings) error {
	out := csv.NewWriter(w)
	columns := f.csvColumns()
	if err := out.Write(columns.header(&f)); err != nil {
		return err
	}
	for i := range f.Trials {
		if err := out.Write(columns.row(&f, i)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (f *Findings) csvColumns() csvColumns {
	factors, measures, achieved := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range f.Trials {
		t := &f.Trials[i]
		for name := range t.Cell {
			factors[name] = true
		}
		for name := range t.Measures {
			measures[name] = true
		}
		for name := range t.Achieved {
			achieved[name] = true
		}
	}
	c := csvColumns{factors: sortedKeys(factors), measures: sortedKeys(measures), achieved: sortedKeys(achieved)}
	for i := range f.Measures {
		if ref := f.Measures[i].Ref; !measures[assay.MeasureKey(ref)] && !measures[ref.String()] {
			c.figures = append(c.figures, i)
		}
	}
	return c
}

func (c csvColumns) header(f *Findings) []string {
	header := slices.Clone(plainColumns)
	add := func(kind, name string) {
		for slices.Contains(header, name) {
			name = kind + "." + name
		}
		header = append(header, name)
	}
	for _, name := range c.factors {
		add("cell", name)
	}
	for _, name := range c.measures {
		add("measure", name)
	}
	for _, i := range c.figures {
		add("measure", assay.MeasureKey(f.Measures[i].Ref))
	}
	for _, name := range c.achieved {
		header = append(header, "achieved."+name)
	}
	return header
}

func (c csvColumns) row(f *Findings, i int) []string {
	t := &f.Trials[i]
	started := ""
	if !t.StartedAt.IsZero() {
		started = t.StartedAt.UTC().Format(time.RFC3339Nano)
	}
	row := []string{strconv.Itoa(t.Trial), strconv.Itoa(t.Block), strconv.Itoa(t.Position), strconv.FormatBool(t.Warmup),
		t.Session, started, string(t.Outcome), strconv.FormatBool(t.Valid), strings.Join(t.VoidBy, ";"),
		strings.Join(t.RefusedBy, ";"), strconv.Itoa(t.Exit), t.Signal, t.OutputSHA256}
	for _, name := range c.factors {
		row = append(row, t.Cell[name])
	}
	for _, name := range c.measures {
		row = append(row, csvValue(t.Measures, name))
	}
	for _, at := range c.figures {
		text := ""
		if values := f.Measures[at].Values; i < len(values) && !math.IsNaN(values[i]) {
			text = csvNumber(values[i])
		}
		row = append(row, text)
	}
	for _, name := range c.achieved {
		row = append(row, csvValue(t.Achieved, name))
	}
	return row
}

func csvValue(values map[string]assay.Value, name string) string {
	v, ok := values[name]
	switch {
	case !ok:
		return ""
	case v.IsText:
		return v.Text
	}
	return csvNumber(v.Number)
}

func csvNumber(x float64) string {
	switch {
	case math.IsNaN(x):
		return ""
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case x == math.Trunc(x) && math.Abs(x) < 1<<53:
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
