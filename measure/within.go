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
func QuantileWithin(batches [][]hist.Bucket, q float64) (w Within, ok bool) {
	var all []hist.Bucket
	of := make([]int64, len(batches))
	for i, batch := range batches {
		all = hist.MergeBuckets(all, batch)
		for _, b := range batch {
			of[i] += b.Count
		}
		w.N += of[i]
	}
	if w.N < int64(stat.MinCount(q, quantileConfidence)) {
		return w, false
	}
	at := bucketAt(all, hist.Rank(q, w.N))
	hits := make([]int64, len(batches))
	for i, batch := range batches {
		for _, b := range batch {
			if b.Low > at.High {
				hits[i] += b.Count
			}
		}
	}
	w.Effective, w.Asked = stat.EffectiveShare(hits, of)
	low, high, _ := stat.EffectiveInterval(int(w.N), w.Effective, q, quantileConfidence)
	w.High = math.Inf(1)
	if low > 0 {
		w.Low = float64(bucketAt(all, int64(low)).Low)
	}
	if int64(high) <= w.N {
		w.High = float64(bucketAt(all, int64(high)).High)
	}
	return w, true
}

// bucketAt holds the value of that rank, counted from 1.
func bucketAt(buckets []hist.Bucket, rank int64) hist.Bucket {
	for _, b := range buckets {
		if rank -= b.Count; rank <= 0 {
			return b
		}
	}
	return buckets[len(buckets)-1]
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
	var batches [][]hist.Bucket
	for log := hist.NewReader(f); ; {
		i, err := log.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return w, false, fmt.Errorf("read %s: %s: %w", ref, name, err)
		}
		if i.Tag == "" {
			batches = append(batches, i.Histogram.Buckets())
		}
	}
	w, ok = QuantileWithin(batches, q)
	return w, ok, nil
}
