package load

import "github.com/assaybench/assay/hist"

// PhaseTimes are the times of one phase, in nanoseconds, of the operations that ended ok and had it:
// one that finds its connection open does not connect. The means of the phases, each weighted with its
// operations, add up to the service time, but for what a driver does outside of them; quantiles do not.
type PhaseTimes struct {
	Operations int64  `json:"operations"`
	Mean       int64  `json:"mean_ns"`
	P50        *int64 `json:"p50_ns"` // nil: too few operations to say
	P99        *int64 `json:"p99_ns"`
}

// phaseBook records the phases of operations.
type phaseBook [phases]hist.Histogram

// enter records the phases that an operation had.
func (b *phaseBook) enter(op *Operation) {
	for i, d := range op.spent {
		if d > 0 {
			b[i].Record(int64(d))
		}
	}
}

func (b *phaseBook) merge(o *phaseBook) {
	for i := range o {
		b[i].Merge(&o[i])
	}
}

// times are the phases that there were, by name; nil for none.
func (b *phaseBook) times() map[string]PhaseTimes {
	var all map[string]PhaseTimes
	for i := range b {
		h := &b[i]
		if h.Count() == 0 {
			continue
		}
		if all == nil {
			all = map[string]PhaseTimes{}
		}
		q := quantilesOf(h, 0)
		all[phaseNames[i]] = PhaseTimes{Operations: h.Count(), Mean: int64(h.Mean()), P50: q.P50, P99: q.P99}
	}
	return all
}
