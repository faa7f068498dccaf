package load

import "github.com/assaybench/assay/hist"

// mostBatches bounds what a long window keeps: then two neighbours become one.
const mostBatches = 240

// batches are response times by turn, or by several turns where there were many.
type batches struct {
	full    []hist.Packed // each of as many turns as take
	turns   int           // in the last, unfinished one
	take    int           // turns a batch, at least 1
	current hist.Packed
}

// add takes a turn in; rest is called after each step of it.
func (b *batches) add(h *hist.Histogram, rest func()) {
	defer rest()
	b.take = max(1, b.take)
	b.current.Merge(h.Pack())
	if b.turns++; b.turns < b.take {
		return
	}
	b.full, b.current, b.turns = append(b.full, b.current), hist.Packed{}, 0
	if len(b.full) < mostBatches {
		return
	}
	for i := range mostBatches / 2 {
		b.full[2*i].Merge(b.full[2*i+1])
		b.full[i] = b.full[2*i]
		rest()
	}
	clear(b.full[mostBatches/2:])
	b.full, b.take = b.full[:mostBatches/2], 2*b.take
}

// all are the batches with the unfinished one.
func (b *batches) all() []hist.Packed {
	if b.turns == 0 {
		return b.full
	}
	return append(b.full, b.current)
}
