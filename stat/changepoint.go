package stat

import "math"

// minSegment is the shortest stretch whose variance can be spoken of.
const minSegment = 2

// PELTPenalty is the price of one change point in a series of n values: 15 ln n, as in Barrett et
// al., "Virtual machine warmup blows hot and cold" (OOPSLA 2017), section 4.
func PELTPenalty(n int) float64 { return 15 * math.Log(float64(max(n, 1))) }

// ChangePoints splits a series into stretches of different mean or variance: the returned places are
// the first indices of the second and later stretches. It minimises, exactly, the sum over stretches
// of n ln 2πσ² + n, minus twice the normal log likelihood, plus penalty for each change point, with
// the pruned search of Killick, Fearnhead and Eckley, "Optimal detection of changepoints with a
// linear computational cost", JASA 107 (2012). A penalty of zero or less is taken as [PELTPenalty]. It
// finds nothing in fewer than four values or where one is not finite.
//
// A variance is held to be at least a millionth of a millionth of the whole series', so that a few
// equal values (a counter, a coarse clock) are not worth any price.
func ChangePoints(xs []float64, penalty float64) []int {
	n := len(xs)
	if n < 2*minSegment || !allFinite(xs) {
		return nil
	}
	if !(penalty > 0) {
		penalty = PELTPenalty(n)
	}
	cost := newSegmentCost(xs)
	best := make([]float64, n+1) // best[t]: least total of the first t values
	last := make([]int, n+1)     // last[t]: start of the last stretch of that
	for t := range best {
		best[t] = math.Inf(1)
	}
	best[0] = -penalty
	var starts []int              // where the last stretch may start
	without := make([]float64, n) // total with the last stretch from each start to t, its change not paid
	drop := make([]int, n+1)      // t from which on a start is out of the running; 0 is not yet known
	for t := minSegment; t <= n; t++ {
		starts = append(starts, t-minSegment)
		for i, s := range starts {
			without[i] = best[s] + cost.of(s, t)
			if total := without[i] + penalty; total < best[t] {
				best[t], last[t] = total, s
			}
		}
		// A start that is worse than a change at t can never win once a stretch may start at t.
		kept := starts[:0]
		for i, s := range starts {
			if drop[s] == 0 && without[i] > best[t] {
				drop[s] = t + minSegment
			}
			if drop[s] == 0 || t+1 < drop[s] {
				kept = append(kept, s)
			}
		}
		starts = kept
	}
	var changes []int
	for t := last[n]; t > 0; t = last[t] {
		changes = append([]int{t}, changes...)
	}
	return changes
}

// A segmentCost gives the cost of any stretch of a series in constant time.
type segmentCost struct {
	sum, square []float64 // running sums of values and squares, less the series' mean
	floor       float64   // least variance
}

func newSegmentCost(xs []float64) segmentCost {
	center := mean(xs) // squares of large, close values would cancel
	c := segmentCost{make([]float64, len(xs)+1), make([]float64, len(xs)+1), 0}
	for i, x := range xs {
		c.sum[i+1] = c.sum[i] + (x - center)
		c.square[i+1] = c.square[i] + (x-center)*(x-center)
	}
	c.floor = c.square[len(xs)] / float64(len(xs)) * 1e-12
	if c.floor == 0 {
		c.floor = 1e-300 // constant series: any floor will do, as long as its logarithm exists
	}
	return c
}

// of is the cost of the values from s up to t.
func (c segmentCost) of(s, t int) float64 {
	m := float64(t - s)
	sum := c.sum[t] - c.sum[s]
	variance := (c.square[t] - c.square[s] - sum*sum/m) / m
	bounded := math.Max(variance, c.floor)
	return m * (math.Log(2*math.Pi*bounded) + math.Max(variance, 0)/bounded)
}
