package load

import (
	"testing"

	"github.com/assaybench/assay/hist"
)

// However long a window lasts, its batches are few, in order, and hold every operation once.
func TestBatchesAreFewAndComplete(t *testing.T) {
	for _, turns := range []int{0, 1, 9, 239, 240, 241, 1000, 3601} {
		var b batches
		for i := range turns {
			var h hist.Histogram
			h.RecordN(int64(i)*1e6, 3)
			h.Record(5)
			b.add(&h, func() {})
		}
		all := b.all()
		var n, last int64
		for _, batch := range all {
			n += batch.Count()
			if top, _ := batch.AtRank(batch.Count()); top < last {
				t.Fatalf("%d turns: a batch with %d comes after one with %d", turns, top, last)
			} else {
				last = top
			}
		}
		if n != int64(4*turns) || len(all) > mostBatches || len(all) < min(turns, mostBatches/2) {
			t.Errorf("%d turns: %d operations in %d batches", turns, n, len(all))
		}
	}
}
