package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// A columnScale is the scale and the decimals that all cells of one measure share in a table.
type columnScale struct {
	Scale
	decimals int
}

// scaleOf chooses the measure's unit by its largest median, and decimals that the middle one of its
// intervals supports.
func scaleOf(m *grade.Figures) columnScale {
	var xs []float64
	for _, c := range m.Cells {
		xs = append(xs, c.Median)
	}
	if len(xs) == 0 {
		xs = m.Values
	}
	s := ScaleOf(m.Unit, m.Share, xs...)
	var decimals []int
	for _, c := range m.Cells {
		switch {
		case finite(c.Low) && finite(c.High) && c.Low < c.High:
			decimals = append(decimals, Decimals(c.Low*s.Factor, c.High*s.Factor))
		case finite(c.Median):
			decimals = append(decimals, significant(c.Median*s.Factor, 4))
		}
	}
	if len(decimals) == 0 {
		return columnScale{s, 0}
	}
	slices.Sort(decimals)
	return columnScale{s, decimals[len(decimals)/2]}
}

func (s columnScale) median(c grade.CellFigures) string {
	if c.N == 0 {
		return "-"
	}
	return s.Format(c.Median, s.decimals)
}

func (s columnScale) interval(c grade.CellFigures) string {
	low, high := s.Format(c.Low, s.decimals), s.Format(c.High, s.decimals)
	if low == "-" && high == "-" {
		return "-"
	}
	return low + " to " + high
}

// constant says that a measure had one value in all trials that count and ended ok, "3 in all 54
// counted trials"; empty if it varied. A plot of it would show nothing.
func (f *Findings) constant(m *grade.Figures) string {
	n, value := 0, 0.0
	for i := range f.Trials {
		t := &f.Trials[i]
		if i >= len(m.Values) || math.IsNaN(m.Values[i]) || t.Warmup {
			continue
		}
		if !t.Counts() || t.Outcome != assay.OK || n > 0 && m.Values[i] != value {
			return "" // also what is only shown deserves its plot
		}
		n, value = n+1, m.Values[i]
	}
	if n < 2 {
		return ""
	}
	return One(value, m.Unit, m.Share) + " in all " + count(n, "counted trial")
}

// confidence is that of the measure's intervals.
func confidence(m *grade.Figures) float64 {
	for _, c := range m.Cells {
		if c.Confidence > 0 {
			return c.Confidence
		}
	}
	return 0.95
}

func direction(b assay.Better) string {
	switch b {
	case assay.More:
		return " (more is better)"
	case assay.Lower:
		return " (less is better)"
	}
	return ""
}

func (f *Findings) factorNames() []string {
	var names []string
	for _, factor := range f.factors() {
		names = append(names, factor.Name)
	}
	if len(names) == 0 {
		names = []string{"cell"}
	}
	return names
}

// levels are the cell's levels in the order of factorNames.
func (f *Findings) levels(c assay.Cell) []string {
	factors := f.factors()
	if len(factors) == 0 {
		return []string{f.cellText(c)}
	}
	texts := make([]string, len(factors))
	for i, factor := range factors {
		texts[i] = c[factor.Name]
	}
	return texts
}

// machineKeys are the entries of a fingerprint that say at a glance what machine it was, with the
// words that make them readable.
var machineKeys = []struct{ key, before, after string }{
	{"cpu", "", ""}, {"cpu_model", "", ""}, {"cpu_threads", "", " threads"}, {"memory", "", ""}, {"memory_gib", "", " GiB"},
	{"os", "", ""}, {"kernel", "kernel ", ""},
}

// machineLine is a session's machine in a few words.
func machineLine(s assay.Session) string {
	var parts []string
	for _, k := range machineKeys {
		v := s.Fingerprint[k.key]
		if k.key == "kernel" {
			v, _, _ = strings.Cut(v, " ")
		}
		if v != "" {
			parts = append(parts, k.before+v+k.after)
		}
	}
	return strings.Join(parts, ", ")
}

// fingerprintLine is a session in one line; the page has its whole fingerprint.
func fingerprintLine(s assay.Session) string {
	line := s.ID
	if machine := machineLine(s); machine != "" {
		line += ": " + machine
	}
	return line + " (" + count(len(s.Fingerprint), "more setting") + " in host.json)"
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// stamp is a time as it stands in a report: UTC, to the second.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04:05") + " UTC"
}

// short is the first twelve digits of a digest.
func short(digest string) string { return digest[:min(12, len(digest))] }

func (f *Findings) registeredLine() string {
	r := f.Registration
	text := stamp(r.Time) + ", digest " + short(r.Digest)
	if r.Commit != "" {
		text += ", commit " + short(r.Commit)
		if r.Dirty {
			text += " with uncommitted changes"
		}
	}
	return text + ", seed " + strconv.FormatUint(r.Seed, 10)
}
