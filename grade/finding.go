package grade

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
)

// A Finding is what one matching cell, or one pair of cells, says of a hypothesis.
type Finding struct {
	Of, To assay.Cell // To is nil in a claim about one cell
	Pool   string     // of several sessions or fingerprints, the one it stands for; else empty
	Status assay.Status
	Reason assay.Reason
	// Estimate, Low and High are in Unit; NaN where there is none, infinite where an end is open.
	Estimate, Low, High float64
	Unit                string
	Confidence          float64
	Blocks              int
	Pairs               []Pair
	// OfMedian and ToMedian are the medians of the two sides over the pairs, in the measure's unit.
	OfMedian, ToMedian float64
	Notes              []string
}

// newFinding claims nothing.
func newFinding(of, to assay.Cell) Finding {
	nan := math.NaN()
	return Finding{Of: of, To: to, Estimate: nan, Low: nan, High: nan, OfMedian: nan, ToMedian: nan}
}

func (f *Finding) say(s assay.Status, r assay.Reason, notes ...string) {
	f.Status, f.Reason = s, r
	f.Notes = append(f.Notes, notes...)
}

func (f *Finding) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// name is the cell or the pair of cells in words; the levels that both sides share stand once.
func (f *Finding) name() string {
	s := ""
	if f.To == nil {
		s = f.Of.String()
	} else {
		of, to, both := assay.Cell{}, assay.Cell{}, assay.Cell{}
		for name, level := range f.Of {
			if other, ok := f.To[name]; ok && other == level {
				both[name] = level
			} else {
				of[name] = level
			}
		}
		for name, level := range f.To {
			if _, ok := both[name]; !ok {
				to[name] = level
			}
		}
		s = of.Key() + " to " + to.Key()
		if len(both) > 0 {
			s += " at " + both.Key()
		}
	}
	if f.Pool != "" {
		s += " (" + f.Pool + ")"
	}
	return s
}

// figure is a number for a note, with its unit. Times and sizes are in the unit of their size, so that
// nobody has to count the digits of nanoseconds.
func figure(x float64, unit string) string {
	factor, unit := readable(unit, x)
	return withUnit(digits(x*factor), unit)
}

// interval is "LOW to HIGH UNIT", both in one unit.
func interval(low, high float64, unit string) string {
	factor, unit := readable(unit, low, high)
	return digits(low*factor) + " to " + withUnit(digits(high*factor), unit)
}

// digits is a whole number as it is, any other to five digits.
func digits(x float64) string {
	switch {
	case math.IsNaN(x):
		return "?"
	case math.IsInf(x, 1):
		return "infinite"
	case math.IsInf(x, -1):
		return "-infinite"
	case x == math.Trunc(x) && math.Abs(x) < 1e9:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 5, 64)
}

func withUnit(number, unit string) string {
	switch unit {
	case "":
		return number
	case "%":
		return number + unit
	}
	return number + " " + unit
}

// readable is the factor to, and the name of, the unit in which the largest of xs has one to three
// digits before the point; times and sizes only.
func readable(unit string, xs ...float64) (factor float64, name string) {
	ladders := map[string][]string{"ns": {"ns", "us", "ms", "s"}, "B": {"B", "KiB", "MiB", "GiB"}}
	u, err := assay.ParseUnit(unit)
	steps, ok := ladders[u.Dim.Base]
	if tens := []string{"kB", "MB", "GB"}; slices.Contains(tens, unit) {
		steps = tens // as the file writes sizes
	}
	if err != nil || !ok || u.Dim.PerSecond {
		return 1, unit
	}
	most := 0.0
	for _, x := range xs {
		if x = math.Abs(x) * u.Scale; x > most && !math.IsInf(x, 0) {
			most = x
		}
	}
	best := assay.Unit{Name: steps[0], Scale: 1}
	for _, step := range steps {
		if v, err := assay.ParseUnit(step); err == nil && most >= v.Scale {
			best = v
		}
	}
	return u.Scale / best.Scale, best.Name
}

// line is the finding in one note.
func (f *Finding) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", f.name())
	if !math.IsNaN(f.Estimate) {
		fmt.Fprintf(&b, "%s, ", figure(f.Estimate, f.Unit))
	}
	if !math.IsNaN(f.Low) || !math.IsNaN(f.High) {
		fmt.Fprintf(&b, "%s, ", interval(f.Low, f.High, f.Unit))
	}
	fmt.Fprintf(&b, "%d blocks: %s %s", f.Blocks, f.Status, f.Reason)
	return b.String()
}
