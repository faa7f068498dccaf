package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// A Split is a division of values into a low and a high group.
type Split struct {
	Low, High []int // indices into the values, in their order; each holds at least one
	// Cut lies halfway in the gap; Gap is from the largest of Low to the smallest of High.
	Cut, Gap float64
}

// LargestGap divides xs at its largest gap. ok is false for fewer than two values, one that is not
// finite, and values all equal.
func LargestGap(xs []float64) (s Split, ok bool) {
	if len(xs) < 2 || !allFinite(xs) {
		return Split{}, false
	}
	ys := sorted(xs)
	at := 1
	for i := 2; i < len(ys); i++ {
		if ys[i]-ys[i-1] > ys[at]-ys[at-1] {
			at = i
		}
	}
	if ys[0] == ys[len(ys)-1] {
		return Split{}, false
	}
	return splitAt(xs, ys, at), true
}

// splitAt divides xs, sorted in ys, so that the at smallest are low.
func splitAt(xs, ys []float64, at int) Split {
	s := Split{Cut: ys[at]/2 + ys[at-1]/2, Gap: ys[at] - ys[at-1]}
	for i, x := range xs {
		if x < ys[at] {
			s.Low = append(s.Low, i)
		} else {
			s.High = append(s.High, i)
		}
	}
	return s
}

// BetweenTrials reports whether a gap between trials is more than three times what trials spread
// within themselves (spreads: each trial's interquartile range, in the unit of the gap; pooled by
// their mean): the mark of regimes that a process enters at its start and keeps. It is false without
// spreads, and with one that is negative or NaN.
func BetweenTrials(gap float64, spreads []float64) bool {
	const times = 3
	if len(spreads) == 0 || hasNaN(spreads) || slices.Min(spreads) < 0 {
		return false
	}
	return gap > times*mean(spreads)
}

// SplitTest is [SplitNull.Test] with draws of its own.
func SplitTest(xs []float64, draws int, seed uint64) (s Split, p float64) {
	return NewSplitNull(len(xs), draws, seed).Test(xs)
}

// A SplitNull tests whether n values fall into two groups. It is made for the 6 to 30 trials of a cell,
// where [DipTest] has little power.
//
// A split's statistic is its gap over the larger standard deviation of its two groups. It is judged
// beside splits with a smaller group of the same size, since a gap that parts one value from the rest
// is common in a skewed tail and one through the middle is not; the best of these p values is then
// calibrated in turn. Both rest on seeded draws of four shapes with one mode (uniform, normal,
// exponential, log-normal with sigma 1), and the p value is the largest of the four: skew alone is not
// taken for two modes unless it exceeds these. So many draws leave the p value uncertain, and what
// counts is its upper 95% bound: else every second set of draws would be too generous. Take 4,000 or so:
// beyond them all is equally rare, and with a few hundred a p value of .01 is hardly ever reached. One value apart
// from the rest is an outlier and no group, and never tells: skewed tails are full of them, and looking
// at them as well would cost a tenth of what is found else; [BetweenTrials] may tell it. Roads not taken: Wainer and Schacht's
// "Gapping" (Psychometrika 43, 1978), whose weights found two modes eight standard deviations apart in
// one case of three; the distance of the groups' means, and the gap over the pooled deviation, the next
// largest gap or the groups' range, none of which found more.
type SplitNull struct {
	n int
	// largest[shape][m] is the sorted largest statistics of splits whose smaller group has m+1 values;
	// smallest[shape] the sorted best p values among these.
	largest  [][][]float64
	smallest [][]float64
}

// leastGroup is the fewest values that make a group.
const leastGroup = 2

// Test is the most notable split of xs into two groups of at least two and its p value, never 0. p is NaN for another
// number of values than the null's, fewer than four, one that is not finite, and values all equal.
func (null SplitNull) Test(xs []float64) (s Split, p float64) {
	s, ok := LargestGap(xs)
	if !ok || len(xs) < 4 || len(xs) != null.n || len(null.smallest) == 0 {
		return s, math.NaN()
	}
	ys := sorted(xs)
	at, best := null.best(ys)
	return splitAt(xs, ys, at), null.p(best)
}

// unimodal draws one value of each shape with one mode that a split must not be blamed on.
var unimodal = []func(*rand.Rand) float64{
	(*rand.Rand).Float64,
	(*rand.Rand).NormFloat64,
	(*rand.Rand).ExpFloat64,
	func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) },
}

// NewSplitNull draws what splits of n values look like under each shape with one mode, so often. Without
// draws, or for fewer than four values, it tests nothing.
func NewSplitNull(n, draws int, seed uint64) SplitNull {
	null := SplitNull{n: n}
	if n < 4 || draws < 1 {
		return null
	}
	source := rand.New(rand.NewPCG(seed, uint64(n)))
	null.largest, null.smallest = make([][][]float64, len(unimodal)), make([][]float64, len(unimodal))
	drawn := make([][][]float64, len(unimodal)) // the statistics of each draw, by shape
	ys := make([]float64, n)
	for shape, draw := range unimodal {
		null.largest[shape] = make([][]float64, n/2)
		for range draws {
			for j := range ys {
				ys[j] = draw(source)
			}
			slices.Sort(ys)
			largest, _ := splitStatistics(ys)
			drawn[shape] = append(drawn[shape], largest)
			for m, statistic := range largest {
				null.largest[shape][m] = append(null.largest[shape][m], statistic)
			}
		}
		for _, statistics := range null.largest[shape] {
			slices.Sort(statistics)
		}
	}
	for shape := range unimodal {
		for _, largest := range drawn[shape] {
			_, best := null.rank(largest)
			null.smallest[shape] = append(null.smallest[shape], best)
		}
		slices.Sort(null.smallest[shape])
	}
	return null
}

// best is the place of the most notable split of sorted values and its p value among splits of its
// size, not yet paid for having been chosen.
func (null SplitNull) best(ys []float64) (at int, p float64) {
	largest, places := splitStatistics(ys)
	m, p := null.rank(largest)
	return places[m], p
}

// rank is the size (less one) of the smaller group at which the statistic is rarest, and how rare.
func (null SplitNull) rank(largest []float64) (m int, p float64) {
	p = math.Inf(1)
	for size := leastGroup - 1; size < len(largest); size++ {
		rarest := 0.0
		for shape := range null.largest {
			rarest = math.Max(rarest, rankP(largest[size], null.largest[shape][size]))
		}
		if rarest < p {
			m, p = size, rarest
		}
	}
	return m, p
}

// p is the p value of the best split's p value: the largest share, over shapes, of draws whose own is
// as small, at its upper 95% bound.
func (null SplitNull) p(best float64) float64 {
	const z = 1.6448536269514722 // of the normal distribution, one-sided
	p := 0.0
	for _, smallest := range null.smallest {
		as := sort.Search(len(smallest), func(i int) bool { return smallest[i] > best })
		share := float64(1+as) / float64(1+len(smallest))
		p = math.Max(p, math.Min(1, share+z*math.Sqrt(share*(1-share)/float64(len(smallest)))))
	}
	return p
}

// splitStatistics is, for each size m+1 of the smaller group, the largest gap over the larger standard
// deviation of the two groups, and the place of that split (how many values are low). Groups without
// any deviation stand out without bound, a gap of zero not at all.
func splitStatistics(ys []float64) (largest []float64, places []int) {
	n := len(ys)
	center := mean(ys)
	var sum, square float64 // of the high group, then less the low one's
	for _, y := range ys {
		sum += y - center
		square += (y - center) * (y - center)
	}
	largest, places = make([]float64, n/2), make([]int, n/2)
	var lowSum, lowSquare float64
	for at := 1; at < n; at++ {
		y := ys[at-1] - center
		lowSum, lowSquare = lowSum+y, lowSquare+y*y
		variance := math.Max(variance(lowSum, lowSquare, at), variance(sum-lowSum, square-lowSquare, n-at))
		m := min(at, n-at) - 1
		statistic := 0.0
		if gap := ys[at] - ys[at-1]; gap > 0 {
			statistic = gap / math.Sqrt(math.Max(variance, square*1e-15))
		}
		if places[m] == 0 || statistic > largest[m] {
			largest[m], places[m] = statistic, at
		}
	}
	return largest, places
}

// variance is that of n values from their sum and sum of squares; 0 for fewer than two.
func variance(sum, square float64, n int) float64 {
	if n < 2 {
		return 0
	}
	return math.Max(0, square-sum*sum/float64(n)) / float64(n-1)
}
