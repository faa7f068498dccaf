package hist_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assaybench/assay/hist"
	"pgregory.net/rapid"
)

// values draws times over many magnitudes, as a service and its stalls would give them.
func values(t *rapid.T) []int64 {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) int64 {
		return rapid.Int64Range(0, 1<<rapid.IntRange(1, 47).Draw(t, "bits")-1).Draw(t, "value")
	}), 1, 200).Draw(t, "values")
}

func TestRanksAreThoseOfTheSortedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h hist.Histogram
		all := values(t)
		sum := 0.0
		for _, v := range all {
			h.Record(v)
			sum += float64(v)
		}
		slices.Sort(all)
		for k := 1; k <= len(all); k++ {
			got, want := h.AtRank(int64(k)), all[k-1]
			if diff := math.Abs(float64(got - want)); diff > 0.0005*float64(want)+0.5 {
				t.Fatalf("rank %d of %d: got %d, want %d within 0.05%%", k, len(all), got, want)
			}
		}
		if h.Min() != all[0] || h.Max() != all[len(all)-1] || h.Count() != int64(len(all)) || math.Abs(h.Sum()-sum) > 1e-9*sum {
			t.Fatalf("got min %d max %d count %d sum %g, want %d %d %d %g exactly", h.Min(), h.Max(), h.Count(), h.Sum(), all[0], all[len(all)-1], len(all), sum)
		}
	})
}

func TestMergeEqualsRecordingInOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole, a, b hist.Histogram
		for i, v := range values(t) {
			whole.Record(v)
			if i%3 == 0 {
				a.Record(v)
			} else {
				b.Record(v)
			}
		}
		a.Merge(&b)
		for k := int64(1); k <= whole.Count(); k++ {
			if a.AtRank(k) != whole.AtRank(k) {
				t.Fatalf("rank %d: merged %d, in one %d", k, a.AtRank(k), whole.AtRank(k))
			}
		}
		if a.Min() != whole.Min() || a.Max() != whole.Max() || a.Count() != whole.Count() {
			t.Fatalf("merged min %d max %d count %d, in one %d %d %d", a.Min(), a.Max(), a.Count(), whole.Min(), whole.Max(), whole.Count())
		}
	})
}

// Two agents with disjoint times: the p99 of the merged counts is the p99 of the pooled values,
// and not the mean of the two p99s.
func TestMergedQuantileIsThePooledOne(t *testing.T) {
	var fast, slow hist.Histogram
	var pooled []int64
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		f, s := 1_000_000+rng.Int64N(100_000), 400_000_000+rng.Int64N(1_000_000)
		fast.Record(f)
		pooled = append(pooled, f)
		if len(pooled)%50 == 0 {
			slow.Record(s)
			pooled = append(pooled, s)
		}
	}
	mean := (fast.Quantile(0.99) + slow.Quantile(0.99)) / 2
	fast.Merge(&slow)
	slices.Sort(pooled)
	want := pooled[hist.Rank(0.99, int64(len(pooled)))-1]
	if got := fast.Quantile(0.99); math.Abs(float64(got-want)) > 0.001*float64(want) {
		t.Errorf("merged p99: got %d, want %d", got, want)
	}
	if math.Abs(float64(mean-want)) < 0.1*float64(want) {
		t.Fatalf("the mean of p99s, %d, is too near the pooled one, %d, for this test to tell them apart", mean, want)
	}
}

func TestPackedBucketsAreThoseOfTheMergedHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b hist.Histogram
		for _, v := range values(t) {
			a.Record(v)
		}
		for _, v := range values(t) {
			b.Record(v)
		}
		got := a.Pack()
		got.Merge(b.Pack())
		a.Merge(&b)
		if want := a.Pack(); !slices.Equal(buckets(got), buckets(want)) || got.Count() != want.Count() {
			t.Fatalf("merged buckets %v, want %v", buckets(got), buckets(want))
		}
		n := int64(0)
		got.Each(func(low, high, count int64) bool {
			for _, rank := range []int64{n + 1, n + count} {
				if l, h := got.AtRank(rank); l != low || h != high {
					t.Fatalf("rank %d lies from %d to %d, want %d to %d", rank, l, h, low, high)
				}
			}
			n += count
			return true
		})
	})
}

func buckets(p hist.Packed) (list [][3]int64) {
	p.Each(func(low, high, count int64) bool {
		list = append(list, [3]int64{low, high, count})
		return true
	})
	return list
}

// 67 s lie beyond the range that other recorders clip to; here they are counted like any other.
func TestLongTimesAreNeitherClippedNorLost(t *testing.T) {
	var h hist.Histogram
	h.RecordN(1_000_000, 99)
	h.Record(67_000_000_000)
	if h.Max() != 67_000_000_000 || h.AtRank(100) != 67_000_000_000 || h.Saturated() != 0 || h.Count() != 100 {
		t.Errorf("got max %d, rank 100 %d, saturated %d, count %d", h.Max(), h.AtRank(100), h.Saturated(), h.Count())
	}
}

func TestSaturationIsCountedAndKeepsItsRank(t *testing.T) {
	var h hist.Histogram
	for _, v := range []int64{-5, 10, 20, hist.Limit, hist.Limit + 1, math.MaxInt64} {
		h.Record(v)
	}
	if h.Saturated() != 3 || h.Count() != 6 || h.Min() != -5 || h.Max() != math.MaxInt64 {
		t.Errorf("got saturated %d of %d, min %d, max %d; want 3 of 6, -5 and the largest", h.Saturated(), h.Count(), h.Min(), h.Max())
	}
	for k, want := range []int64{-5, 10, 20} {
		if got := h.AtRank(int64(k) + 1); got != want {
			t.Errorf("rank %d: got %d, want %d", k+1, got, want)
		}
	}
	if got := h.AtRank(5); got != math.MaxInt64 {
		t.Errorf("rank 5, saturated: got %d, want the maximum", got)
	}
}

func TestRankOutOfRangeLooksLikeNoTime(t *testing.T) {
	var empty hist.Histogram
	if got := empty.AtRank(1); got != math.MaxInt64 {
		t.Errorf("rank 1 of none: got %d, want the largest number", got)
	}
	if got := empty.AtRank(0); got != math.MinInt64 {
		t.Errorf("rank 0: got %d, want the smallest number", got)
	}
}

func TestRank(t *testing.T) {
	for _, c := range []struct {
		q    float64
		n    int64
		want int64
	}{
		{0.5, 1, 1}, {0.5, 2, 1}, {0.5, 3, 2}, {0.99, 100, 99}, {0.99, 101, 100}, {0.07, 100, 7},
		{0.999, 1000, 999}, {0.999, 3688, 3685}, {1, 5, 5}, {0.0001, 5, 1}, {0.5, 0, 1},
	} {
		if got := hist.Rank(c.q, c.n); got != c.want {
			t.Errorf("Rank(%v, %d) = %d, want %d", c.q, c.n, got, c.want)
		}
	}
}

func TestResetKeepsNothing(t *testing.T) {
	var h hist.Histogram
	h.Record(7)
	h.Record(-1)
	h.Record(hist.Limit * 2)
	h.Reset()
	h.Each(func(low, high, count int64) bool { t.Errorf("bucket %d to %d holds %d", low, high, count); return true })
	if h.Count() != 0 || h.Saturated() != 0 || h.Max() != 0 || h.Sum() != 0 {
		t.Errorf("got count %d, saturated %d, max %d, sum %g; want nothing", h.Count(), h.Saturated(), h.Max(), h.Sum())
	}
}

func BenchmarkRecord(b *testing.B) {
	var h hist.Histogram
	for i := range b.N {
		h.Record(int64(i & 0xfffff))
	}
}
