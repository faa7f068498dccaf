package stat

import "math"

// EffectiveShare is how many independent values the share of hits among batches of values is worth:
// hits[i] of of[i] values in batch i, batches in order of time and long beside the time over which
// values depend on one another. Two things widen: shares that vary between batches by more than
// independent values would (Pearson's χ² over its degrees of freedom), and batches that resemble their
// neighbours ([EffectiveCount]). It is never more than the number of values: few batches must not
// narrow an interval. Without hits, or with nothing but hits, there is nothing that could depend, and
// it is the number of values. ok is false for fewer than [MinBatches] batches with values, which
// cannot tell, and counts that are none.
//
// Source: batch means (Meketon and Schmeiser, "Overlapping batch means: something for nothing?",
// Winter Simulation Conference 1984), of the indicator of a quantile (Heidelberger and Lewis,
// "Quantile estimation in dependent sequences", Operations Research 32, 1984).
func EffectiveShare(hits, of []int64) (effective float64, ok bool) {
	if len(hits) != len(of) {
		return 0, false
	}
	var n, sum float64
	for i, m := range of {
		if m < 0 || hits[i] < 0 || hits[i] > m {
			return 0, false
		}
		n, sum = n+float64(m), sum+float64(hits[i])
	}
	p := sum / n
	var off []float64 // by batch, in standard deviations of independent values
	chi := 0.0
	for i, m := range of {
		if m == 0 {
			continue
		}
		z := 0.0
		if p > 0 && p < 1 {
			z = (float64(hits[i]) - float64(m)*p) / math.Sqrt(float64(m)*p*(1-p))
		}
		off, chi = append(off, z), chi+z*z
	}
	if len(off) < MinBatches {
		return n, false
	}
	freedom := float64(len(off) - 1)
	widening := math.Max(1, chi/freedom)
	if widening > 1 {
		widening *= uncertainty(freedom)
	}
	return math.Max(1, EffectiveCount(int(n), Autocorrelation(off))/widening), true
}

// MinBatches is the fewest batches by which [EffectiveShare] tells independent values from others.
const MinBatches = 10

// uncertainty is by how much a variance that was estimated with so many degrees of freedom must be
// taken as larger for a 95% interval: Student's quantile over the normal one, squared (Abramowitz and
// Stegun, 26.7.5).
func uncertainty(freedom float64) float64 {
	const z = 1.959963984540054
	const z3, z5, z7 = z * z * z, z * z * z * z * z, z * z * z * z * z * z * z
	t := z + (z3+z)/(4*freedom) + (5*z5+16*z3+3*z)/(96*freedom*freedom) + (3*z7+19*z5+17*z3-15*z)/(384*freedom*freedom*freedom)
	return t * t / (z * z)
}

// EffectiveInterval is [QuantileInterval] of n values that are worth fewer independent ones: its ranks
// hold shares of the values that effective independent ones would not leave. With effective = n it is
// the same; it is never narrower. A side without a bound has rank 0 or n+1, and ok is false.
func EffectiveInterval(n int, effective, q, confidence float64) (lo, hi int, ok bool) {
	if !(effective >= 1) || n < 1 {
		return 0, max(n, 0) + 1, false
	}
	m := min(int(effective), n)
	lo, hi, ok = QuantileInterval(m, q, confidence)
	scale := float64(n) / float64(m)
	if lo > 0 {
		lo = int(math.Floor(float64(lo-1)*scale+1e-9)) + 1
	}
	if hi > m {
		return lo, n + 1, ok
	}
	return lo, min(n, int(math.Ceil(float64(hi)*scale-1e-9))), ok
}
