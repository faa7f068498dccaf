package stat

import (
	"math"
	"sort"
)

// SignRank is the largest r >= 1 such that the r-th smallest and r-th largest of n values hold the
// median between them with at least the given confidence: 2 P(Bin(n, 1/2) <= r-1) <= 1 - confidence.
// It is 0 when n is too small for any, and for a confidence outside [0, 1).
//
// Source: David and Nagaraja, "Order Statistics" (3rd ed.), section 7.1.
func SignRank(n int, confidence float64) int {
	if !validConfidence(confidence) || n < 1 {
		return 0
	}
	alpha := 1 - confidence
	// The tail grows with r, so the first r that is too much is one past the answer.
	return sort.Search(n, func(i int) bool { return 2*BinomialCDF(i, n, 0.5) > alpha })
}

// SignInterval is the exact sign-test interval on the median: the order statistics r and n+1-r of xs
// with r from [SignRank]. It assumes independent values with a common median and nothing of their
// shape. Infinities are values. ok is false, and the interval everything, when there are too few
// values or one is NaN.
func SignInterval(xs []float64, confidence float64) (low, high float64, ok bool) {
	r := SignRank(len(xs), confidence)
	if r == 0 || hasNaN(xs) {
		return math.Inf(-1), math.Inf(1), false
	}
	ys := sorted(xs)
	return ys[r-1], ys[len(ys)-r], true
}

// MinBlocks is the smallest n for which a sign-test interval exists: 2^(1-n) <= 1 - confidence. For a
// confidence outside [0, 1), which no number of blocks gives, it is math.MaxInt.
func MinBlocks(confidence float64) int {
	if !validConfidence(confidence) {
		return math.MaxInt
	}
	n := 1
	for math.Ldexp(1, 1-n) > 1-confidence {
		n++
	}
	return n
}

// SignTest is the exact two-sided p value of the sign test for so many values below and above the
// supposed median; ties with it are left out by the caller (Conover, "Practical Nonparametric
// Statistics", section 3.4). It is 1 without values and NaN for negative counts.
func SignTest(below, above int) (p float64) {
	if below < 0 || above < 0 {
		return math.NaN()
	}
	return math.Min(1, 2*BinomialCDF(min(below, above), below+above, 0.5))
}

// validConfidence reports whether c is in [0, 1).
func validConfidence(c float64) bool { return c >= 0 && c < 1 }
