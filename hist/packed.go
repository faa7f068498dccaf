package hist

import hdr "github.com/HdrHistogram/hdrhistogram-go"

// A Packed holds the populated buckets of a histogram and nothing else, in some six bytes each: what
// can be kept of every second of a long window. It knows no exact minimum and maximum, and nothing of
// saturated values. The zero Packed is empty.
type Packed struct{ buckets *hdr.PackedHistogram }

// Pack is what h holds, packed; h stays as it is.
func (h *Histogram) Pack() Packed {
	if h.buckets == nil {
		return Packed{}
	}
	p := hdr.NewPacked(1, Limit, digits)
	p.MergeFrom(h.buckets)
	p.Compact()
	return Packed{p}
}

// Merge adds the counts of o, which stays as it is.
func (p *Packed) Merge(o Packed) {
	if o.buckets == nil {
		return
	}
	if p.buckets == nil {
		p.buckets = o.buckets.Clone()
		return
	}
	p.buckets.Merge(o.buckets)
	p.buckets.Compact()
}

// Count is the number of values in buckets.
func (p Packed) Count() int64 {
	if p.buckets == nil {
		return 0
	}
	return p.buckets.TotalCount()
}

// Each calls fn for every populated bucket in ascending order, with its lowest and highest value,
// until fn returns false.
func (p Packed) Each(fn func(low, high, count int64) bool) {
	if p.buckets == nil {
		return
	}
	p.buckets.ForEachBucket(func(low, count int64) bool {
		return fn(low, low+width(low)-1, count)
	})
}

// AtRank is the bucket that holds the value of that rank, counted from 1; the last one for ranks
// beyond, and 0 to 0 when empty.
func (p Packed) AtRank(rank int64) (low, high int64) {
	p.Each(func(l, h, count int64) bool {
		low, high = l, h
		rank -= count
		return rank > 0
	})
	return low, high
}
