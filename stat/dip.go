package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Dip is Hartigan's dip: the largest difference between the distribution of xs and the nearest one
// with a single mode, from 1/(2n) (as unimodal as can be) to 1/4 (two spikes). Equal
// values count as close ones, a step each, which is kind to them; still, a clock coarser than the
// noise makes modes of its own. It is NaN without values or with one that is not finite.
//
// Source: Hartigan and Hartigan, "The dip test of unimodality", Ann. Statist. 13 (1985), section 4,
// and P. M. Hartigan, "Algorithm AS 217", Appl. Statist. 34 (1985).
func Dip(xs []float64) float64 {
	if len(xs) == 0 || !allFinite(xs) {
		return math.NaN()
	}
	return dipOfSorted(sorted(xs))
}

// DipTest is the dip of xs and its p value against the uniform distribution, for which dips are
// largest among distributions with one mode (Hartigan 1985, section 3), from so many seeded draws:
// (1 + draws at least as large) / (1 + draws), never 0. 2,000 draws give a p value of .05 to within
// .01. p is NaN for fewer than four values, which always look unimodal, and where Dip is.
func DipTest(xs []float64, draws int, seed uint64) (dip, p float64) {
	dip = Dip(xs)
	if math.IsNaN(dip) || len(xs) < 4 || draws < 1 {
		return dip, math.NaN()
	}
	return dip, rankP(dip, dipNull(len(xs), draws, seed))
}

// dipNull is the sorted dips of seeded draws of n uniform values.
func dipNull(n, draws int, seed uint64) []float64 {
	source := rand.New(rand.NewPCG(seed, uint64(n)))
	dips := make([]float64, draws)
	xs := make([]float64, n)
	for i := range dips {
		// Sorted uniform values are sums of exponential gaps, up to a scale that no dip depends on.
		for j := 1; j < n; j++ {
			xs[j] = xs[j-1] + source.ExpFloat64()
		}
		dips[i] = dipOfSorted(xs)
	}
	slices.Sort(dips)
	return dips
}

// rankP is the p value of x among sorted draws under the null: the share at least as large, x counted
// as one of them.
func rankP(x float64, null []float64) float64 {
	larger := len(null) - sort.SearchFloat64s(null, x)
	return float64(1+larger) / float64(1+len(null))
}

// dipOfSorted narrows the stretch that must hold the mode. Left of it the nearest unimodal distribution
// is convex: the greatest convex minorant of the stairs' feet; right of it concave: the least concave
// majorant of their heads. Each round moves both ends in to where minorant and majorant are farthest
// apart, until they are no farther than the stairs already are from the parts left outside; half of
// that is the dip. Heights are in counts: value i has its foot at i, its head at i+1.
func dipOfSorted(xs []float64) float64 {
	low, high := 0, len(xs)-1
	dip := 1.0
	for low < high && xs[low] < xs[high] {
		minorant, majorant := hull(xs, low, high, 1), hull(xs, low, high, -1)
		apart, nextLow, nextHigh := farthest(xs, minorant, majorant)
		if apart <= dip {
			break
		}
		dip = math.Max(dip, gap(xs, minorant, low, nextLow))
		dip = math.Max(dip, gap(xs, majorant, nextHigh, high))
		if nextLow == low && nextHigh == high {
			break
		}
		low, high = nextLow, nextHigh
	}
	return dip / (2 * float64(len(xs)))
}

// hull is the indices of the corners of the convex hull of the points (xs[i], i) from low to high: the
// lower hull for side 1, the upper one for side -1 (Andrew's monotone chain). Feet and heads have
// their corners at the same indices.
func hull(xs []float64, low, high int, side float64) []int {
	var corners []int
	for i := low; i <= high; i++ {
		for len(corners) >= 2 {
			a, b := corners[len(corners)-2], corners[len(corners)-1]
			if turn := (xs[b]-xs[a])*float64(i-a) - float64(b-a)*(xs[i]-xs[a]); side*turn > 0 {
				break
			}
			corners = corners[:len(corners)-1]
		}
		corners = append(corners, i)
	}
	return corners
}

// farthest is the largest distance between majorant and minorant, which is at a corner of one of them,
// and the corners on both sides of it that bound the mode: of the minorant on the left, of the
// majorant on the right.
func farthest(xs []float64, minorant, majorant []int) (apart float64, low, high int) {
	for _, g := range minorant {
		j := sort.SearchInts(majorant, g) // first corner of the majorant at or right of g
		if d := along(xs, majorant, j, g) + 1 - float64(g); d > apart {
			apart, low, high = d, g, majorant[j]
		}
	}
	for _, l := range majorant {
		i := sort.SearchInts(minorant, l)
		if d := float64(l+1) - along(xs, minorant, i, l); d > apart {
			if minorant[i] > l {
				i--
			}
			apart, low, high = d, minorant[i], l
		}
	}
	return apart, low, high
}

// gap is the largest distance from the hull to the far side of the stairs between two indices.
func gap(xs []float64, corners []int, from, to int) float64 {
	largest := 0.0
	j := sort.SearchInts(corners, from)
	for i := from; i <= to; i++ {
		if corners[j] < i {
			j++
		}
		height := along(xs, corners, j, i)
		largest = math.Max(largest, math.Abs(float64(i)-height)+1)
	}
	return largest
}

// along is the height, at value i, of the hull whose first corner at or right of i is number j.
func along(xs []float64, corners []int, j, i int) float64 {
	b := corners[j]
	if b == i {
		return float64(i)
	}
	a := corners[j-1]
	if xs[a] == xs[b] { // a wall of equal values is its own hull
		return float64(i)
	}
	return float64(a) + float64(b-a)*(xs[i]-xs[a])/(xs[b]-xs[a])
}
