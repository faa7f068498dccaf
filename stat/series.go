package stat

import "math"

// Autocorrelation is the lag-1 autocorrelation of a series, between -1 and 1: 0 when neighbours say
// nothing of each other. It is NaN for fewer than three values, a value that is not finite, and a
// constant series, which has no correlation to speak of.
func Autocorrelation(xs []float64) float64 {
	n := len(xs)
	if n < 3 || !allFinite(xs) {
		return math.NaN()
	}
	center := mean(xs)
	var square, product float64
	for i, x := range xs {
		square += (x - center) * (x - center)
		if i > 0 {
			product += (x - center) * (xs[i-1] - center)
		}
	}
	if square == 0 {
		return math.NaN()
	}
	return product / square
}

// EffectiveCount is how many independent values n values with lag-1 autocorrelation rho are worth,
// n (1-ρ)/(1+ρ), as for a first-order autoregressive series (Geyer, "Practical Markov chain Monte
// Carlo", Stat. Science 7, 1992). It is never more than n, since a negative rho estimated from few
// values must not narrow an interval, and n where rho is NaN. It is at least 1 for n >= 1.
func EffectiveCount(n int, rho float64) float64 {
	m := float64(max(n, 0))
	if math.IsNaN(rho) || rho <= 0 {
		return m
	}
	rho = math.Min(rho, 1)
	return math.Max(math.Min(m, 1), m*(1-rho)/(1+rho))
}

// A SteadyState is where a series leaves its start behind.
type SteadyState struct {
	Cut int // values to leave out; a multiple of 5
	// AtLimit says that leaving out all that may be left out, half the series, is best: there is no
	// steady state in sight, and the rest is not one.
	AtLimit bool
	// StandardError is that of the mean of what stays, in the unit of the series.
	StandardError float64
}

// mserBatch is the batch of MSER-5, long enough to smooth single values.
const mserBatch = 5

// MSER5 finds how much of the start of a series to leave out: means of batches of five, and the cut
// that makes the standard error of the mean of the rest smallest, of at most half the batches. ok is
// false for fewer than ten batches (50 values) or a value that is not finite. One late spike misleads
// the rule: use it on a series of medians. Never use it to choose the window of the measure that is
// graded: it may veto a window and not move it. In short series chance alone puts the optimum at the
// limit: in 10 of 100 steady ones of 50 values, 2 of 100 values, 0.3 of 200 (simulated); give it a
// series of 200 values, in whatever step of time that is.
//
// Source: White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for
// simulation", Winter Simulation Conference 2000.
func MSER5(xs []float64) (s SteadyState, ok bool) {
	k := len(xs) / mserBatch
	if k < 10 || !allFinite(xs) {
		return SteadyState{}, false
	}
	batches := make([]float64, k)
	for i := range batches {
		batches[i] = mean(xs[i*mserBatch : (i+1)*mserBatch])
	}
	limit, best, cut := k/2, math.Inf(1), 0
	for d := 0; d <= limit; d++ {
		rest := batches[d:]
		center, sum := mean(rest), 0.0
		for _, z := range rest {
			sum += (z - center) * (z - center)
		}
		count := float64(len(rest))
		if score := sum / (count * count); score < best {
			best, cut = score, d
		}
	}
	return SteadyState{Cut: cut * mserBatch, AtLimit: cut == limit, StandardError: math.Sqrt(best)}, true
}

// mean is the arithmetic mean of a non-empty slice.
func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}
