package measure

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// Reduce turns the values that a source matched into one. how is a statistic of [assay.IsStat],
// first or last; empty where there must be exactly one value. A quantile is the smallest value with
// at least that share of the values at or below it: it describes these values and claims nothing of
// others, so no least count is asked for.
func Reduce(values []assay.Value, how string) (assay.Value, error) {
	switch {
	case len(values) == 0:
		return assay.Value{}, ErrAbsent
	case how == "first":
		return values[0], nil
	case how == "last":
		return values[len(values)-1], nil
	case how == "" && len(values) == 1:
		return values[0], nil
	case how == "":
		return assay.Value{}, fmt.Errorf("%d values; want a reduce: mean, median, min, max, sum, sd, pNN, first or last", len(values))
	}
	xs := make([]float64, len(values))
	for i, v := range values {
		if v.IsText {
			return assay.Value{}, fmt.Errorf("reduce %s: %q is a text", how, v.Text)
		}
		xs[i] = v.Number
	}
	x, ok := statistic(xs, how)
	if !ok {
		return assay.Value{}, fmt.Errorf("reduce %s: no such statistic", how)
	}
	return assay.Num(x), nil
}

// statistic is the named statistic of one value or more.
func statistic(xs []float64, how string) (x float64, ok bool) {
	switch how {
	case "mean":
		return mean(xs), true
	case "median":
		return stat.Median(xs), true
	case "min":
		return slices.Min(xs), true
	case "max":
		return slices.Max(xs), true
	case "sum":
		return sum(xs), true
	case "sd":
		return deviation(xs), true
	}
	q, ok := assay.Quantile(how)
	if !ok {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(xs))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1], true
}

func sum(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

func mean(xs []float64) float64 { return sum(xs) / float64(len(xs)) }

// deviation is the standard deviation with n-1 under it; 0 for one value.
func deviation(xs []float64) float64 {
	if len(xs) < 2 {
		return 0
	}
	m, s := mean(xs), 0.0
	for _, x := range xs {
		s += (x - m) * (x - m)
	}
	return math.Sqrt(s / float64(len(xs)-1))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
