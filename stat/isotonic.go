package stat

import "math"

// Isotonic is the non-decreasing series nearest to ys in weighted least squares, by pooling adjacent
// violators (Barlow et al., "Statistical Inference under Order Restrictions", 1972, section 1.2).
// Nil weights are all 1; a weight of 0 or less, or NaN, is refused with nil, as are ys that are not
// finite and weights of another length.
func Isotonic(ys, weights []float64) []float64 {
	if !allFinite(ys) || weights != nil && len(weights) != len(ys) {
		return nil
	}
	type pool struct {
		value, weight float64
		count         int
	}
	var pools []pool
	for i, y := range ys {
		next := pool{y, 1, 1}
		if weights != nil {
			next.weight = weights[i]
		}
		if !(next.weight > 0) || math.IsInf(next.weight, 1) {
			return nil
		}
		for len(pools) > 0 && pools[len(pools)-1].value >= next.value {
			last := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			weight := last.weight + next.weight
			next.value = last.value + (next.value-last.value)*(next.weight/weight)
			next.weight, next.count = weight, last.count+next.count
		}
		pools = append(pools, next)
	}
	fit := make([]float64, 0, len(ys))
	for _, p := range pools {
		for range p.count {
			fit = append(fit, p.value)
		}
	}
	return fit
}

// IsotonicRoot is where a non-decreasing series through the points (xs[i], fit[i]), xs increasing,
// crosses target, by straight lines between points; halfway along a stretch that lies at the target.
// ok is false when all of it lies on one side: then the root is beyond the points and not known.
func IsotonicRoot(xs, fit []float64, target float64) (root float64, ok bool) {
	n := len(fit)
	if n == 0 || len(xs) != n || !(fit[0] <= target && target <= fit[n-1]) {
		return math.NaN(), false
	}
	first := 0 // first point at or above the target
	for fit[first] < target {
		first++
	}
	if fit[first] > target {
		a, b := first-1, first
		return xs[a] + (xs[b]-xs[a])*(target-fit[a])/(fit[b]-fit[a]), true
	}
	last := first
	for last+1 < n && fit[last+1] == target {
		last++
	}
	return xs[first]/2 + xs[last]/2, true
}
