package grade

import (
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// draws are the per-block numbers of one finding, at both extremes of what killed and unknown trials
// could have given; without such trials the two are equal.
type draws struct {
	low, high []float64
	apart     bool // they differ somewhere
}

func (d *draws) add(low, high float64) {
	if math.IsNaN(low) || math.IsNaN(high) { // two equal infinities: nothing is known of the pair
		low, high = math.Inf(-1), math.Inf(1)
	}
	d.low, d.high = append(d.low, low), append(d.high, high)
	d.apart = d.apart || low != high
}

// A span is an interval at both extremes.
type span struct {
	estimate            float64 // NaN where the extremes disagree
	low, high           [2]float64
	ok                  bool // the blocks suffice for an interval
	confidence          float64
	apart               bool
	n                   int
	printLow, printHigh float64 // over both extremes
}

// span is the exact sign-test interval on the median.
func (d *draws) span(confidence float64) span {
	s := span{confidence: confidence, n: len(d.low), apart: d.apart, estimate: math.NaN()}
	if len(d.low) > 0 {
		if low, high := stat.Median(d.low), stat.Median(d.high); low == high {
			s.estimate = low
		}
	}
	for i, xs := range [][]float64{d.low, d.high} {
		s.low[i], s.high[i], s.ok = stat.SignInterval(xs, confidence)
	}
	s.printLow, s.printHigh = s.low[0], s.high[1]
	return s
}

// over is the span seen through an increasing function.
func (s span) over(f func(float64) float64) span {
	s.estimate = f(s.estimate)
	for i := range s.low {
		s.low[i], s.high[i] = f(s.low[i]), f(s.high[i])
	}
	s.printLow, s.printHigh = f(s.printLow), f(s.printHigh)
	return s
}

// judge holds the span against an expectation, whose bare bounds are in unit u; the span is in base
// units. There is no status without an interval.
func (s span) judge(e assay.Expectation, u assay.Unit) (assay.Status, assay.Reason) {
	if !s.ok {
		return assay.Undecided, assay.Underpowered
	}
	if e.Inside(s.printLow, s.printHigh, u) {
		return assay.Pass, assay.Holds
	}
	if e.Outside(s.printLow, s.printHigh, u) {
		return assay.Fail, assay.Contradicted
	}
	if s.apart && s.extreme(0, e, u) != s.extreme(1, e, u) {
		return assay.Untested, assay.Censored
	}
	return assay.Undecided, assay.Straddles
}

// extreme is the status at one extreme: what would be said if every unknown number were there.
func (s span) extreme(i int, e assay.Expectation, u assay.Unit) assay.Status {
	switch {
	case e.Inside(s.low[i], s.high[i], u):
		return assay.Pass
	case e.Outside(s.low[i], s.high[i], u):
		return assay.Fail
	}
	return assay.Undecided
}

// logRatio is the natural logarithm of a/b; NaN for numbers that have no ratio.
func logRatio(a, b float64) float64 {
	if a < 0 || b < 0 {
		return math.NaN()
	}
	return math.Log(a) - math.Log(b)
}

// constant reports whether all entries are the same number or the same text.
func constant(entries []entry) bool {
	for _, e := range entries {
		if e.state != entries[0].state || e.low != entries[0].low || e.text != entries[0].text || !e.exact() && e.state != text || e.bound {
			return false // what a bound cut off could have differed beyond it
		}
	}
	return len(entries) > 0
}

func anyEntry(entries []entry, f func(entry) bool) bool { return slices.ContainsFunc(entries, f) }

func countEntries(entries []entry, f func(entry) bool) (n int) {
	for _, e := range entries {
		if f(e) {
			n++
		}
	}
	return n
}
