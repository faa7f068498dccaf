package stat

import (
	"math"
	"sort"
)

// QuantileInterval is the exact interval on the q-quantile of n independent values as ranks, counted
// from 1: the lo-th and hi-th smallest hold it between them with at least the given confidence, each
// side missing with at most half the rest. A side without a bound has rank 0 (-Inf) or n+1 (+Inf);
// then, and for q outside (0, 1) or a confidence outside [0, 1), ok is false.
//
// Source: David and Nagaraja, "Order Statistics" (3rd ed.), section 7.1; ranks are exact binomial
// ones, since the normal approximation fails just where tails are quoted.
func QuantileInterval(n int, q, confidence float64) (lo, hi int, ok bool) {
	if n < 1 || !(q > 0 && q < 1) || !validConfidence(confidence) {
		return 0, max(n, 0) + 1, false
	}
	tail := (1 - confidence) / 2
	// Largest lo with P(Bin <= lo-1) <= tail: the first i that is too much counts those that are not.
	lo = sort.Search(n, func(i int) bool { return BinomialCDF(i, n, q) > tail })
	// Smallest hi with P(Bin >= hi) <= tail.
	hi = 1 + sort.Search(n, func(i int) bool { return binomialSurvival(i+1, n, q) <= tail })
	return lo, hi, lo >= 1 && hi <= n
}

// MinCount is the smallest number of values for which [QuantileInterval] is finite on both sides: the
// number below which a quantile is not printed. At 95%: p50 6, p90 36, p95 72, p99 368, p99.9 3,688.
// For q outside (0, 1) or a confidence outside [0, 1) it is math.MaxInt, which no count reaches.
func MinCount(q, confidence float64) int {
	if !(q > 0 && q < 1) || !validConfidence(confidence) {
		return math.MaxInt
	}
	tail := (1 - confidence) / 2
	// All n values fall on the common side of the quantile with probability max(q, 1-q)^n.
	rare := math.Min(q, 1-q)
	need := math.Log(tail) / math.Log1p(-rare)
	if need > maxCount {
		return math.MaxInt
	}
	n := max(1, int(need)-1)
	for _, _, ok := QuantileInterval(n, q, confidence); !ok; _, _, ok = QuantileInterval(n, q, confidence) {
		n++
	}
	return n
}

// maxCount is the largest count worth searching for; quantiles beyond 1 - 1e-11 need more.
const maxCount = 1e12
