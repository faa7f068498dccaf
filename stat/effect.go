package stat

import (
	"math"
	"sort"
)

// power is the chance of a decision that a plan should have (Cohen's convention).
const power = 0.8

// SmallestEffect is the smallest ratio above 1 that n blocks decide with power 0.8: if the true median
// ratio is so many times the claim's bound, the sign-test interval lies wholly beyond the bound in 80
// of 100 experiments. Its reciprocal is the same for ratios below. cv is the standard deviation of
// the per-block log ratio; for two independent cells of CV c each it is about c √2.
//
// The only approximation is that log ratios are taken to be normal: a block then falls on the right
// side with probability Φ(ln ratio / cv), and the interval clears the bound when at least n+1-r of n
// do. Heavier tails with the same cv need less, since cv overstates their middle. It is +Inf when n
// is too small at this confidence, and NaN for a negative cv.
func SmallestEffect(n int, confidence, cv float64) float64 {
	r := SignRank(n, confidence)
	switch {
	case math.IsNaN(cv) || cv < 0:
		return math.NaN()
	case r == 0:
		return math.Inf(1)
	}
	// The chance of a decision grows with the chance of one block; halve down to the last bits.
	const steps = 1 << 20
	i := sort.Search(steps, func(i int) bool {
		return binomialSurvival(n+1-r, n, 0.5+0.5*float64(i)/steps) >= power
	})
	share := 0.5 + 0.5*float64(i)/steps
	return math.Exp(cv * normalQuantile(share))
}

// normalQuantile is the inverse of the standard normal distribution function.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// normalCDF is the standard normal distribution function.
func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// BlocksFor is the smallest number of blocks, up to most, whose [SmallestEffect] is no larger than the
// ratio (or its reciprocal); ok is false when most is too few.
func BlocksFor(ratio, confidence, cv float64, most int) (n int, ok bool) {
	if !(ratio > 0) {
		return 0, false
	}
	goal := math.Exp(math.Abs(math.Log(ratio)))
	for n := 1; n <= most; n++ {
		if SmallestEffect(n, confidence, cv) <= goal {
			return n, true
		}
	}
	return 0, false
}
