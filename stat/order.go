package stat

import (
	"math"
	"slices"
)

// Median is the middle value of xs, or halfway between the two middle ones. It is NaN when xs is
// empty, holds a NaN, or has its middle between -Inf and +Inf. The order of xs is left alone.
func Median(xs []float64) float64 {
	if len(xs) == 0 || hasNaN(xs) {
		return math.NaN()
	}
	return medianOfSorted(sorted(xs))
}

// medianOfSorted is the median of a sorted, non-empty slice without NaN.
func medianOfSorted(xs []float64) float64 {
	low, high := xs[(len(xs)-1)/2], xs[len(xs)/2]
	if low == high { // also when both are the same infinity
		return low
	}
	return low/2 + high/2 // halves first: the sum of two large values may overflow
}

// sorted is a sorted copy of xs.
func sorted(xs []float64) []float64 {
	ys := slices.Clone(xs)
	slices.Sort(ys)
	return ys
}

func hasNaN(xs []float64) bool { return slices.ContainsFunc(xs, math.IsNaN) }

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// allFinite reports whether xs holds neither NaN nor an infinity.
func allFinite(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return !isFinite(x) })
}
