package measure

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
	"github.com/assaybench/assay/stat"
)

// A Within is what one trial's operations say of a quantile: where it lies by their own number, and how
// many independent ones they are worth. It says nothing of other trials.
type Within struct {
	Low, High float64 // the 95% interval, in ns; 0 and +Inf where an end is open
	N         int64
	Effective float64 // at most N
	Asked     bool    // there were batches enough to ask whether operations depend on one another
}

// QuantileWithin is the interval on quantile q of the times in batches: operations that ended ok, by
// the second, or some other length, in which they ended. ok is false where their number does not allow
// the quantile to be printed: that is asked of the number itself, and the effective one only widens.
func QuantileWithin(batches []hist.Packed, q float64) (w Within, ok bool) {
	var all hist.Packed
	of := make([]int64, len(batches))
	for i, batch := range batches {
		all.Merge(batch)
		of[i] = batch.Count()
		w.N += of[i]
	}
	if w.N < int64(stat.MinCount(q, quantileConfidence)) {
		return w, false
	}
	_, high := all.AtRank(hist.Rank(q, w.N))
	hits := make([]int64, len(batches))
	for i, batch := range batches {
		batch.Each(func(low, _, count int64) bool {
			if low > high {
				hits[i] += count
			}
			return true
		})
	}
	w.Effective, w.Asked = stat.EffectiveShare(hits, of)
	first, last, _ := stat.EffectiveInterval(int(w.N), w.Effective, q, quantileConfidence)
	w.High = math.Inf(1)
	if first > 0 {
		low, _ := all.AtRank(int64(first))
		w.Low = float64(low)
	}
	if int64(last) <= w.N {
		_, high := all.AtRank(int64(last))
		w.High = float64(high)
	}
	return w, true
}

// WithinTrial is [QuantileWithin] of a trial's quantile of a time of operations, from its interval log.
// ok is also false where the measure is none or nothing was recorded.
func WithinTrial(files fs.FS, ref assay.MeasureRef) (w Within, ok bool, err error) {
	name := operationFile(ref)
	q, isQuantile := assay.Quantile(ref.Stat)
	if files == nil || name == "" || !isQuantile {
		return w, false, nil
	}
	f, err := files.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return w, false, nil
	}
	if err != nil {
		return w, false, fmt.Errorf("read %s: %w", ref, err)
	}
	defer f.Close()
	var batches []hist.Packed
	for log := hist.NewReader(f); ; {
		i, err := log.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return w, false, fmt.Errorf("read %s: %s: %w", ref, name, err)
		}
		if i.Tag == "" {
			batches = append(batches, i.Histogram.Pack())
		}
	}
	w, ok = QuantileWithin(batches, q)
	return w, ok, nil
}
