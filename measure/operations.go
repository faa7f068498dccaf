package measure

import (
	"fmt"
	"math"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
	"github.com/assaybench/assay/stat"
)

// operationsConfidence is that of the interval that a quantile must allow to be a figure at all.
const operationsConfidence = 0.95

// Operations is a statistic over the operations of one trial: those that ended ok stand in h with
// their times, the failed ones count as infinite. A quantile for which there are too few operations
// to bound it on both sides (stat.MinCount) is [ErrTooFew].
func Operations(h *hist.Histogram, failed int64, statistic string) (assay.Value, error) {
	ok := h.Count()
	n := ok + failed
	if n == 0 {
		return assay.Value{}, fmt.Errorf("%s of no operations: %w", statistic, ErrAbsent)
	}
	if q, isQuantile := assay.Quantile(statistic); isQuantile {
		if least := int64(stat.MinCount(q, operationsConfidence)); n < least {
			return assay.Value{}, fmt.Errorf("%s of %d operations: want %d: %w", statistic, n, least, ErrTooFew)
		}
		if k := hist.Rank(q, n); k <= ok {
			return assay.Num(float64(h.AtRank(k))), nil
		}
		return assay.Num(math.Inf(1)), nil
	}
	switch {
	case statistic == "min" && ok > 0:
		return assay.Num(float64(h.Min())), nil
	case statistic == "min", failed > 0 && (statistic == "max" || statistic == "mean" || statistic == "sum"):
		return assay.Num(math.Inf(1)), nil
	case statistic == "max":
		return assay.Num(float64(h.Max())), nil
	case statistic == "mean":
		return assay.Num(h.Mean()), nil
	case statistic == "sum":
		return assay.Num(h.Sum()), nil
	}
	return assay.Value{}, fmt.Errorf("statistic %q over operations: want mean, min, max, sum or pNN", statistic)
}
