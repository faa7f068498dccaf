package load

import "github.com/assaybench/assay/hist"

// mostBatches bounds what a long window keeps: then two neighbours become one.
const mostBatches = 240

// batches are response times by turn, or by several turns where there were many.
type batches struct {
	full    [][]hist.Bucket // each of as many turns as take
	turns   int             // in the last, unfinished one
	take    int             // turns a batch, at least 1
	current []hist.Bucket
}

func (b *batches) add(h *hist.Histogram) {
	b.take = max(1, b.take)
	if b.current, b.turns = hist.MergeBuckets(b.current, h.Buckets()), b.turns+1; b.turns < b.take {
		return
	}
	b.full, b.current, b.turns = append(b.full, b.current), nil, 0
	if len(b.full) < mostBatches {
		return
	}
	for i := range mostBatches / 2 {
		b.full[i] = hist.MergeBuckets(b.full[2*i], b.full[2*i+1])
	}
	b.full, b.take = b.full[:mostBatches/2], 2*b.take
}

// all are the batches with the unfinished one.
func (b *batches) all() [][]hist.Bucket {
	if b.turns == 0 {
		return b.full
	}
	return append(b.full, b.current)
}
