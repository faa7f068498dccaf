package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Split is the best division of values into a low and a high group.
type Split struct {
	Low, High []int // indices into the values, in their order; each holds at least one
	// Cut lies halfway in the gap; Gap is from the largest of Low to the smallest of High.
	Cut, Gap float64
	// Weight is √(gap x size of Low x size of High), over the middle mean of all gaps so weighted: how
	// far the gap stands out. 2.25 is notable by the source's rule of thumb; [SplitTest] gives it a p
	// value.
	Weight float64
}

// LargestGap divides xs at the gap that stands out most. Gaps in the thin tails are wide by nature, so
// each is weighted by the sizes of the groups it parts (Wainer and Schacht, "Gapping", Psychometrika
// 43, 1978). ok is false for fewer than four values, one that is not finite, and values all equal.
func LargestGap(xs []float64) (s Split, ok bool) {
	if len(xs) < 4 || !allFinite(xs) {
		return Split{}, false
	}
	ys := sorted(xs)
	at, weight := heaviestGap(ys)
	if !(weight > 0) {
		return Split{}, false
	}
	s = Split{Cut: ys[at]/2 + ys[at-1]/2, Gap: ys[at] - ys[at-1], Weight: weight}
	for i, x := range xs {
		if x < ys[at] {
			s.Low = append(s.Low, i)
		} else {
			s.High = append(s.High, i)
		}
	}
	return s, true
}

// heaviestGap is the place of the heaviest gap in sorted values (before value at) and its weight over
// the middle mean, the mean of the middle half, of all weights. Where most values are equal the
// middle mean is 0 and the weight +Inf.
func heaviestGap(ys []float64) (at int, weight float64) {
	n := len(ys)
	weights := make([]float64, n-1)
	for i := 1; i < n; i++ {
		weights[i-1] = math.Sqrt(float64(i*(n-i)) * (ys[i] - ys[i-1]))
		if weights[i-1] > weight {
			at, weight = i, weights[i-1]
		}
	}
	slices.Sort(weights)
	quarter := len(weights) / 4
	return at, weight / mean(weights[quarter:len(weights)-quarter])
}

// SplitTest is the most notable split of xs and its p value: the largest, over four shapes with one
// mode (uniform, normal, exponential, log-normal with sigma 1), of the share of seeded draws of that
// shape whose heaviest gap stands out at least as much. Skew alone is thus not taken for two modes,
// unless it exceeds these. It is made for the 6 to 30 trials of a cell, where [DipTest] has no power;
// it is blind to modes that overlap. p is NaN where [LargestGap] is not ok.
func SplitTest(xs []float64, draws int, seed uint64) (s Split, p float64) {
	s, ok := LargestGap(xs)
	if !ok || draws < 1 {
		return s, math.NaN()
	}
	for _, null := range splitNulls(len(xs), draws, seed) {
		p = math.Max(p, rankP(s.Weight, null))
	}
	return s, p
}

// splitNulls is the sorted weights of seeded draws of n values, for each shape.
func splitNulls(n, draws int, seed uint64) [][]float64 {
	shapes := []func(*rand.Rand) float64{
		(*rand.Rand).Float64,
		(*rand.Rand).NormFloat64,
		(*rand.Rand).ExpFloat64,
		func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) },
	}
	source := rand.New(rand.NewPCG(seed, uint64(n)))
	nulls := make([][]float64, len(shapes))
	ys := make([]float64, n)
	for i, draw := range shapes {
		nulls[i] = make([]float64, draws)
		for d := range draws {
			for j := range ys {
				ys[j] = draw(source)
			}
			slices.Sort(ys)
			_, nulls[i][d] = heaviestGap(ys)
		}
		slices.Sort(nulls[i])
	}
	return nulls
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
