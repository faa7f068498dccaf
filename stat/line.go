package stat

import (
	"math"
)

// A Line is y = Intercept + Slope x.
type Line struct{ Slope, Intercept float64 }

// At is the line's value at x.
func (l Line) At(x float64) float64 { return l.Intercept + l.Slope*x }

// FitLine is the Theil-Sen line through the points: the slope is the median of the slopes of all pairs
// of points that differ in x, the intercept the median of y - slope x. Up to 29% of wild points do not
// carry it away, and points that lie on a line give that line. Points with a NaN are left out; an
// infinite y makes steep slopes and no more. ok is false with fewer than two different x.
//
// Source: Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968).
func FitLine(xs, ys []float64) (line Line, ok bool) {
	var slopes, rests []float64
	n := min(len(xs), len(ys))
	for i := range n {
		for j := range i {
			if slope := rise(ys[i], ys[j]) / (xs[i] - xs[j]); xs[i] != xs[j] && !math.IsNaN(slope) {
				slopes = append(slopes, slope)
			}
		}
	}
	line.Slope = Median(slopes)
	for i := range n {
		if rest := ys[i] - line.Slope*xs[i]; !math.IsNaN(rest) {
			rests = append(rests, rest)
		}
	}
	line.Intercept = Median(rests)
	if math.IsNaN(line.Slope) || math.IsNaN(line.Intercept) {
		return Line{math.NaN(), math.NaN()}, false
	}
	return line, true
}

// rise is a - b, where two equal infinities do not differ.
func rise(a, b float64) float64 {
	if a == b {
		return 0
	}
	return a - b
}

// A LineInterval is the median line of several blocks, each end with its exact sign-test interval.
type LineInterval struct {
	Line
	SlopeLow, SlopeHigh         float64
	InterceptLow, InterceptHigh float64
	Blocks                      int // blocks in which a line could be fitted
}

// FitLines fits a line to every block (blocks[b][l] at xs[l]) and takes slope and intercept as one
// value a block each: the interval is over blocks and needs no model of the noise within one. Slope
// and intercept are covered with the given confidence each, not both at once. ok is false, and the
// intervals everything, with too few blocks.
func FitLines(xs []float64, blocks [][]float64, confidence float64) (fit LineInterval, ok bool) {
	var slopes, intercepts []float64
	for _, ys := range blocks {
		if line, ok := FitLine(xs, ys); ok {
			slopes = append(slopes, line.Slope)
			intercepts = append(intercepts, line.Intercept)
		}
	}
	fit.Blocks = len(slopes)
	fit.Slope, fit.Intercept = Median(slopes), Median(intercepts)
	fit.SlopeLow, fit.SlopeHigh, ok = SignInterval(slopes, confidence)
	fit.InterceptLow, fit.InterceptHigh, _ = SignInterval(intercepts, confidence)
	return fit, ok
}

// A Misfit is a level at which a line does not hold: its residuals lie on one side.
type Misfit struct {
	Level     int     // index into xs
	Low, High float64 // interval on the median residual over blocks, in the unit of y
}

// LackOfFit finds the levels at which blocks contradict the straight line: the interval on the median
// residual, over blocks, lies wholly beyond tolerance (in the unit of y; the smallest bend that
// matters). The chance of a finding on a true line is at most 1 - confidence over all levels
// together, which Bonferroni divides. ok is false when there are fewer than three levels or too few
// blocks: then no bend could have been seen, and a fit is not evidence for a line.
func LackOfFit(xs []float64, blocks [][]float64, confidence, tolerance float64) (misfits []Misfit, ok bool) {
	if len(xs) < 3 || !validConfidence(confidence) {
		return nil, false
	}
	each := 1 - (1-confidence)/float64(len(xs))
	residuals := make([][]float64, len(xs))
	scale := 0.0
	for _, ys := range blocks {
		line, ok := FitLine(xs, ys)
		if !ok {
			continue
		}
		for l := range min(len(xs), len(ys)) {
			if rest := ys[l] - line.At(xs[l]); !math.IsNaN(rest) {
				residuals[l] = append(residuals[l], rest)
			}
			if isFinite(ys[l]) {
				scale = math.Max(scale, math.Abs(ys[l]))
			}
		}
	}
	tolerance = math.Max(tolerance, scale*1e-9) // rounding is no bend
	ok = true
	for l, rests := range residuals {
		low, high, enough := SignInterval(rests, each)
		ok = ok && enough
		if enough && (low > tolerance || high < -tolerance) {
			misfits = append(misfits, Misfit{l, low, high})
		}
	}
	return misfits, ok
}
