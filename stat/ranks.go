package stat

import (
	"math"
	"slices"
)

// exactRanks is the largest group size for which the Mann-Whitney distribution is computed exactly.
const exactRanks = 50

// MannWhitney is the U of xs (pairs in which the value of xs is larger, half for equal ones) and the
// two-sided p value of "xs and ys are of one distribution": exact by counting all divisions of the
// values at hand, ties and all, for up to 50 on each side; the normal approximation with correction
// for ties and continuity beyond. It compares trials that are not paired; the paired comparison of
// blocks is [SignInterval]. Infinities are values. Both are NaN when a side is empty or has a NaN.
//
// Source: Mann and Whitney, Ann. Math. Statist. 18 (1947); two-sided p as twice the smaller tail.
func MannWhitney(xs, ys []float64) (u, p float64) {
	m, n := len(xs), len(ys)
	if m == 0 || n == 0 || hasNaN(xs) || hasNaN(ys) {
		return math.NaN(), math.NaN()
	}
	all := slices.Concat(xs, ys)
	groups := tieGroups(all)
	doubled := 0 // twice U, a whole number
	for _, x := range xs {
		for _, y := range ys {
			switch {
			case x > y:
				doubled += 2
			case x == y:
				doubled++
			}
		}
	}
	u = float64(doubled) / 2
	if max(m, n) > exactRanks {
		return u, mannWhitneyNormal(u, m, n, groups)
	}
	var below, above float64
	for k, chance := range rankSums(groups, m) {
		// The rank sum is U + m(m+1)/2; k is twice it.
		switch d := k - m*(m+1) - doubled; {
		case d < 0:
			below += chance
		case d > 0:
			above += chance
		default:
			below += chance
			above += chance
		}
	}
	return u, math.Min(1, 2*math.Min(below, above))
}

// rankSums is the distribution of twice the sum of the mid-ranks of m values drawn from groups of ties.
func rankSums(groups []int, m int) []float64 {
	total := 0
	for _, g := range groups {
		total += g
	}
	// chance[j][k]: j values drawn so far, twice their ranks sum to k.
	chance := make([][]float64, m+1)
	for j := range chance {
		chance[j] = make([]float64, 2*m*total+1)
	}
	chance[0][0] = 1
	seen := 0
	for _, g := range groups {
		rank := 2*seen + g + 1 // twice the mid-rank of the group
		for range g {
			left := float64(total - seen) // this value is drawn with chance (m - j) / left
			for j := min(m, seen+1); j >= 0; j-- {
				for k := len(chance[j]) - 1; k >= 0; k-- {
					stay := chance[j][k] * (1 - float64(m-j)/left)
					if j > 0 && k >= rank {
						stay += chance[j-1][k-rank] * float64(m-j+1) / left
					}
					chance[j][k] = stay
				}
			}
			seen++
		}
	}
	return chance[m]
}

// mannWhitneyNormal is the two-sided p value of U by the normal approximation.
func mannWhitneyNormal(u float64, m, n int, groups []int) float64 {
	a, b := float64(m), float64(n)
	ties := 0.0
	for _, g := range groups {
		t := float64(g)
		ties += t*t*t - t
	}
	variance := a * b / 12 * (a + b + 1 - ties/((a+b)*(a+b-1)))
	if !(variance > 0) {
		return 1 // all values equal
	}
	z := math.Max(0, math.Abs(u-a*b/2)-0.5) / math.Sqrt(variance)
	return math.Min(1, 2*normalCDF(-z))
}
