package grade

import (
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// A Foresight is what can be said of a plan before any trial.
type Foresight struct {
	Claims     int     // registered interval claims
	Looks      int     // 1 without looks
	Confidence float64 // of each claim's interval
	Blocks     int
	// Fewest is the least number of blocks that can decide a claim at this confidence: the first look
	// must have as many.
	Fewest    int
	Decidable bool
	// Smallest is the smallest ratio that the blocks decide in 80 of 100 experiments, for a spread of
	// the per-block log ratio.
	Smallest []Effect
	// Confounded are pairs of factors whose levels never vary apart.
	Confounded [][2]string
}

// An Effect is the smallest ratio that a plan decides where ratios spread so much.
type Effect struct {
	CV    float64 `json:"cv"`
	Ratio float64 `json:"ratio"`
}

// Foresee says what a plan can decide. A plan of b blocks cannot decide anything where
// 2^(1-b) > 0.05/k: not even a claim that every single block supports.
func Foresee(e *assay.Experiment, p assay.Plan) Foresight {
	f := Foresight{Looks: max(len(NewSchedule(p, 0).looks()), 1), Blocks: p.Blocks}
	for _, h := range e.Hypotheses {
		if h.Kind.Interval() {
			f.Claims++
		}
	}
	f.Confidence = 1 - alpha/float64(max(f.Claims, 1)*f.Looks)
	f.Fewest = stat.MinBlocks(f.Confidence)
	f.Decidable = f.Claims == 0 || p.Blocks >= f.Fewest
	if f.Claims > 0 {
		for _, cv := range []float64{0.01, 0.02, 0.05, 0.10, 0.20} {
			if r := stat.SmallestEffect(p.Blocks, f.Confidence, cv); !math.IsInf(r, 0) {
				f.Smallest = append(f.Smallest, Effect{cv, r})
			}
		}
	}
	f.Confounded = confounded(e.Factors, p.Cells)
	return f
}

// confounded finds pairs of factors that move together in every cell: the level of one tells that of
// the other, both ways, and both vary.
func confounded(factors []assay.Factor, cells []assay.PlannedCell) [][2]string {
	var pairs [][2]string
	for i, a := range factors {
		for _, b := range factors[i+1:] {
			if n := determines(cells, a.Name, b.Name); n > 1 && determines(cells, b.Name, a.Name) > 1 {
				pairs = append(pairs, [2]string{a.Name, b.Name})
			}
		}
	}
	return pairs
}

// determines is how many levels of a occur if each goes with a single level of b, else 0.
func determines(cells []assay.PlannedCell, a, b string) int {
	with := map[string]string{}
	for _, c := range cells {
		level, other := c.Cell[a], c.Cell[b]
		if seen, ok := with[level]; ok && seen != other {
			return 0
		}
		with[level] = other
	}
	return len(with)
}

// Spread is the standard deviation of a measure's log over the counted trials of each cell, its
// median over the cells: what a difference of two cells must stand out against. ok is false without
// two trials in a cell.
func Spread(m Figures, trials []assay.Trial) (cv float64, ok bool) {
	logs := map[string][]float64{}
	for i := range trials {
		if x := m.Values[i]; trials[i].Counts() && x > 0 && !math.IsInf(x, 0) {
			key := trials[i].Cell.Key()
			logs[key] = append(logs[key], math.Log(x))
		}
	}
	var spreads []float64
	for _, xs := range logs {
		if len(xs) > 1 {
			spreads = append(spreads, deviation(xs))
		}
	}
	if len(spreads) == 0 {
		return 0, false
	}
	slices.Sort(spreads)
	return stat.Median(spreads), true
}

// SmallestRatio is the smallest ratio of two cells that so many blocks decide in 80 of 100 experiments,
// where the trials of a cell spread by cv and those of the two cells of a block independently.
func SmallestRatio(blocks int, confidence, cv float64) float64 {
	return stat.SmallestEffect(blocks, confidence, cv*math.Sqrt2)
}

// deviation is the sample standard deviation.
func deviation(xs []float64) float64 {
	var sum, squares float64
	for _, x := range xs {
		sum += x
	}
	mean := sum / float64(len(xs))
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	return math.Sqrt(squares / float64(len(xs)-1))
}
