package load

import (
	"math"

	"github.com/assaybench/assay/hist"
)

// Quantiles are five quantiles and the maximum of a histogram, in nanoseconds. One that is nil is
// infinite, or there were too few operations to say.
type Quantiles struct {
	P50  *int64 `json:"p50_ns"`
	P90  *int64 `json:"p90_ns"`
	P95  *int64 `json:"p95_ns"`
	P99  *int64 `json:"p99_ns"`
	P999 *int64 `json:"p999_ns"`
	Max  *int64 `json:"max_ns"`
}

// least is the smallest number of operations for which quantile q has a two-sided 95% interval
// with two finite ends: q^n <= 0.025 at the upper end and (1-q)^n <= 0.025 at the lower. For 0.5,
// 0.9, 0.95, 0.99 and 0.999 that is 6, 36, 72, 368 and 3,688.
func least(q float64) int64 {
	return int64(math.Ceil(math.Log(0.025) / math.Log(max(q, 1-q))))
}

// quantilesOf reads the quantiles of h, to which infinite more operations belong that never ended
// well. Whether a quantile may be printed depends on the operations that h holds.
func quantilesOf(h *hist.Histogram, infinite int64) Quantiles {
	n := h.Count() + infinite
	at := func(q float64) *int64 {
		rank := hist.Rank(q, n)
		if h.Count() < least(q) || rank > h.Count() {
			return nil
		}
		v := h.AtRank(rank)
		return &v
	}
	out := Quantiles{P50: at(0.5), P90: at(0.9), P95: at(0.95), P99: at(0.99), P999: at(0.999)}
	if h.Count() > 0 && infinite == 0 {
		v := h.Max()
		out.Max = &v
	}
	return out
}
