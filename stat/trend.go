package stat

import "math"

// A Trend is what blocks say of the direction of a measure along an ordered axis.
type Trend struct {
	// Tau is the pairs of levels in order less those against it, as a share of all pairs of all
	// blocks: 1 always up, -1 always down.
	Tau float64
	// PUp and PDown are the exact one-sided p values of "it goes up" and "it goes down".
	PUp, PDown float64
}

// TrendTest tests for a monotone trend along the levels of every block: blocks[b][l] is block b at
// level l, levels in order of the axis. S is Kendall's, counted within blocks and added up, so that
// what differs between blocks (drift, sessions) cancels. Its distribution under "the order of a
// block's values is chance" is exact: the product of those of the blocks (Kendall, "Rank
// Correlation Methods", section 5.2 and, with ties, the permutations of the values at hand). Blocks
// may differ in length; NaN is a level without a value and is left out. All is NaN without a pair.
//
// It supports a verdict and does not make one: it assumes that chance moves all levels alike, and
// says nothing of size. The verdict is the [SignInterval] on the blocks' slopes ([FitLine]), which
// needs neither.
func TrendTest(blocks [][]float64) Trend {
	null := []float64{1} // null[i] is P(S = i - reach)
	reach, s, pairs := 0, 0, 0
	for _, block := range blocks {
		values := withoutNaN(block)
		if len(values) < 2 {
			continue
		}
		s += kendallS(values)
		pairs += len(values) * (len(values) - 1) / 2
		one := kendallNull(values)
		null = convolve(null, one)
		reach += (len(one) - 1) / 2
	}
	if pairs == 0 {
		return Trend{math.NaN(), math.NaN(), math.NaN()}
	}
	up, down := 0.0, 0.0
	for i, p := range null {
		if i-reach >= s {
			up += p
		}
		if i-reach <= s {
			down += p
		}
	}
	return Trend{float64(s) / float64(pairs), math.Min(up, 1), math.Min(down, 1)}
}

// kendallS is the number of pairs that rise less the number that fall.
func kendallS(ys []float64) int {
	s := 0
	for i, y := range ys {
		for _, z := range ys[:i] {
			switch {
			case y > z:
				s++
			case y < z:
				s--
			}
		}
	}
	return s
}

// kendallNull is the distribution of Kendall's S over all orders of ys, from -reach to reach, where
// reach is half its length. Values enter from the smallest, a group of ties at a time: the number of
// inversions a group of g adds to m smaller values is distributed as a Gaussian binomial coefficient,
// and S is the untied pairs less twice the inversions.
func kendallNull(ys []float64) []float64 {
	inversions := []float64{1}
	smaller, untied := 0, 0
	for _, g := range tieGroups(ys) {
		untied += smaller * g
		inversions = convolve(inversions, gaussianBinomial(smaller, g))
		smaller += g
	}
	null := make([]float64, 2*untied+1)
	for i, p := range inversions {
		null[2*untied-2*i] = p // S = untied - 2i, and untied is reach
	}
	return null
}

// tieGroups is the sizes of the groups of equal values, from the smallest value up.
func tieGroups(ys []float64) []int {
	var groups []int
	zs := sorted(ys)
	for i, z := range zs {
		if i == 0 || z != zs[i-1] {
			groups = append(groups, 0)
		}
		groups[len(groups)-1]++
	}
	return groups
}

// gaussianBinomial is the distribution of the sum of g values from 0 to m in non-decreasing order,
// all such choices equally likely: the inversions of g equal values among m smaller ones. It is also
// the null distribution of the Mann-Whitney U (Mann and Whitney 1947).
func gaussianBinomial(m, g int) []float64 {
	row := make([][]float64, g+1) // row[j]: the distribution for j equal values among i smaller ones
	for j := range row {
		row[j] = []float64{1}
	}
	for i := 1; i <= m; i++ {
		next := make([][]float64, g+1)
		next[0] = []float64{1}
		for j := 1; j <= g; j++ {
			// The last in order is one of the i, with chance i/(i+j) and behind all j, or one of the j.
			dist := make([]float64, i*j+1)
			for k, p := range row[j] {
				dist[k+j] += p * float64(i) / float64(i+j)
			}
			for k, p := range next[j-1] {
				dist[k] += p * float64(j) / float64(i+j)
			}
			next[j] = dist
		}
		row = next
	}
	return row[g]
}

// convolve is the distribution of the sum of two independent whole numbers.
func convolve(a, b []float64) []float64 {
	out := make([]float64, len(a)+len(b)-1)
	for i, p := range a {
		if p == 0 {
			continue
		}
		for j, q := range b {
			out[i+j] += p * q
		}
	}
	return out
}

func withoutNaN(xs []float64) []float64 {
	var out []float64
	for _, x := range xs {
		if !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}
