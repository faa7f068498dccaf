// Package hist records times in histograms and keeps them in interval logs.
//
// A [Histogram] has three significant digits at every magnitude and grows its range by itself; a
// [Writer] and a [Reader] exchange one histogram a second in the standard HdrHistogram log format,
// version 1.3 with V2 payloads. Histograms merge by counts. There is no way to merge percentiles.
package hist

import (
	"math"
	"math/bits"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	digits = 3
	// Limit is the largest value that has a bucket of its own: 39 hours in nanoseconds.
	Limit = 1<<47 - 1
	// firstRange is what a histogram can hold before it grows, 134 ms in nanoseconds: most
	// histograms never grow, and take half of what the whole range would.
	firstRange = 1<<27 - 1
	// subBits is the number of leading bits in which two values of a bucket agree: 2^11 = 2048 is
	// the first power of two that tells three decimal digits apart.
	subBits = 11
)

// A Histogram counts whole numbers, nanoseconds as a rule, to three significant digits: a bucket
// is never wider than 0.1% of its values. Count, Min, Max and Sum are exact. A value outside
// [0, Limit] is counted as saturated and keeps its rank; it is never clipped into a bucket. The
// zero Histogram is empty and ready. It is not safe for use by several goroutines at once.
type Histogram struct {
	buckets *hdr.Histogram
	top     int64 // largest value that buckets can hold
	count   int64
	below   int64
	above   int64
	min     int64
	max     int64
	sum     float64
}

// Reserve takes the memory for values up to 134 ms now, which the first Record would do otherwise.
func (h *Histogram) Reserve() {
	if h.buckets == nil {
		h.grow(0)
	}
}

// Record counts v once.
func (h *Histogram) Record(v int64) { h.RecordN(v, 1) }

// RecordN counts v n times; n below 1 is ignored.
func (h *Histogram) RecordN(v, n int64) {
	if n < 1 {
		return
	}
	if h.count == 0 || v < h.min {
		h.min = v
	}
	if h.count == 0 || v > h.max {
		h.max = v
	}
	h.count += n
	h.sum += float64(v) * float64(n)
	h.put(v, n)
}

// put adds to the buckets only.
func (h *Histogram) put(v, n int64) {
	switch {
	case v < 0:
		h.below += n
		return
	case v > Limit:
		h.above += n
		return
	case v > h.top || h.buckets == nil:
		h.grow(v)
	}
	if h.buckets.RecordValues(v, n) != nil {
		h.above += n // the count itself would overflow
	}
}

// grow makes room for v: the range doubles until it does, so that it happens at most 20 times.
func (h *Histogram) grow(v int64) {
	top := max(h.top, firstRange)
	for top < v {
		top = top<<1 | 1
	}
	wider := hdr.New(1, top, digits)
	if h.buckets != nil {
		wider.Merge(h.buckets)
	}
	h.buckets, h.top = wider, top
}

// Merge adds the counts of o, which stays as it is.
func (h *Histogram) Merge(o *Histogram) {
	if o.count == 0 {
		return
	}
	if h.count == 0 || o.min < h.min {
		h.min = o.min
	}
	if h.count == 0 || o.max > h.max {
		h.max = o.max
	}
	h.count += o.count
	h.sum += o.sum
	h.below += o.below
	h.above += o.above
	if o.buckets == nil {
		return
	}
	if o.top > h.top || h.buckets == nil {
		h.grow(o.top)
	}
	h.buckets.Merge(o.buckets)
}

// Reset empties h and keeps its memory.
func (h *Histogram) Reset() {
	b, top := h.buckets, h.top
	if b != nil {
		b.Reset()
	}
	*h = Histogram{buckets: b, top: top}
}

// Count is the number of recorded values.
func (h *Histogram) Count() int64 { return h.count }

// Saturated is the number of recorded values outside [0, Limit]. Above it a quantile is only
// known to be at least Limit.
func (h *Histogram) Saturated() int64 { return h.below + h.above }

// Min is the smallest recorded value, exact; 0 when empty.
func (h *Histogram) Min() int64 { return h.min }

// Max is the largest recorded value, exact; 0 when empty.
func (h *Histogram) Max() int64 { return h.max }

// Sum is the sum of the recorded values, to the precision of a float64.
func (h *Histogram) Sum() float64 { return h.sum }

// Mean is Sum / Count, NaN when empty.
func (h *Histogram) Mean() float64 { return h.sum / float64(h.count) }

// Each calls fn for every populated bucket in ascending order with its lowest and highest value,
// until fn returns false. Saturated values are in no bucket.
func (h *Histogram) Each(fn func(low, high, count int64) bool) { h.Pack().Each(fn) }

// width is the number of values that share v's bucket.
func width(v int64) int64 {
	return 1 << max(0, bits.Len64(uint64(v))-subBits)
}

// AtRank is the k-th smallest recorded value, k from 1 to Count: the middle of its bucket, kept
// within Min and Max, so off by no more than 0.05%. A k outside that range is answered with the
// nearest end: math.MinInt64 below, math.MaxInt64 above, so that no rank out of range looks like
// a measured value.
func (h *Histogram) AtRank(k int64) int64 {
	switch {
	case k < 1:
		return math.MinInt64
	case k > h.count:
		return math.MaxInt64
	case k == 1 || k <= h.below:
		return h.min
	case k == h.count || k > h.count-h.above:
		return h.max
	}
	seen, value := h.below, h.max
	h.Each(func(low, high, count int64) bool {
		seen += count
		value = low + (high-low)/2
		return seen < k
	})
	return min(max(value, h.min), h.max)
}

// Rank is the rank of quantile q among n values, ceil(q n), at least 1: the smallest rank such
// that a share of q of the values is not above it (Hyndman and Fan 1996, type 1).
func Rank(q float64, n int64) int64 {
	// The subtraction keeps 0.07 x 100 = 7.000000000000001 at rank 7.
	return min(max(1, int64(math.Ceil(q*float64(n)-1e-9))), max(1, n))
}

// Quantile is the value at Rank(q, Count), q in (0, 1]. It does not ask whether there are enough
// values for q; that is the caller's to judge.
func (h *Histogram) Quantile(q float64) int64 { return h.AtRank(Rank(q, h.count)) }
