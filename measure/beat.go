package measure

import (
	"math"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
)

// A Beat is what a load gave between two moments, a second or less apart.
type Beat struct {
	At, Length time.Duration // the later moment, since the beginning of the load's window
	OK, Failed int64         // operations that ended; dropped ones failed
	Before     int           // in flight at the earlier moment
	InFlight   int           // at the later one
	times      map[string]hist.Packed
}

// Timed is the beat with the times that its operations took, which are copied.
func (b Beat) Timed(name string, times *hist.Histogram) Beat {
	if b.times == nil {
		b.times = map[string]hist.Packed{}
	}
	b.times[name] = times.Pack()
	return b
}

// OfLoad reports whether kill rules see the measure in the beats of a load.
func OfLoad(ref assay.MeasureRef) bool {
	b, ok := assay.BuiltinMeasure(ref.Name)
	return ok && b.Load
}

// WindowOfLoad is [Window] for the measures of a load, over consecutive beats: the window ends with the
// last one; without an over it is the last second. ok is false while the load is younger than the window, or
// the window holds nothing.
func WindowOfLoad(c assay.Condition, beats []Beat) (v assay.Value, ok bool) {
	if len(beats) == 0 {
		return v, false
	}
	first := len(beats) - 1
	over := c.Over
	if over == 0 {
		over = time.Second
	}
	from := beats[first].At - over
	if from < 0 {
		return v, false
	}
	// A beat belongs to the window by its middle.
	for first > 0 && beats[first-1].At-beats[first-1].Length/2 > from {
		first--
	}
	beats = beats[first:]
	if _, timed := beats[0].times[c.Measure.Name]; timed {
		return timesOver(beats, c.Measure)
	}
	return countsOver(beats, c.Measure)
}

// timesOver is a statistic over the operations of some beats. Those that failed count as infinite.
func timesOver(beats []Beat, ref assay.MeasureRef) (v assay.Value, ok bool) {
	all, ended, failed, length := &hist.Histogram{}, int64(0), int64(0), time.Duration(0)
	for _, b := range beats {
		b.times[ref.Name].Each(func(low, _, count int64) bool {
			all.RecordN(low, count)
			return true
		})
		ended, failed, length = ended+b.OK+b.Failed, failed+b.Failed, length+b.Length
	}
	if ref.Name == "lag" {
		return watched(all, 0, ref.Stat)
	}
	// Of those in flight when the window began, no more have ended than did in it: the rest are as old
	// as the window by now, and a server that answers nothing at all must not hide that.
	if old := int64(beats[0].Before) - ended; old > 0 {
		all.RecordN(int64(length), old)
	}
	return watched(all, failed, ref.Stat)
}

// countsOver is the rate, the share of errors or the operations in flight: over the whole window, or
// the statistic of its seconds that the rule names.
func countsOver(beats []Beat, ref assay.MeasureRef) (v assay.Value, ok bool) {
	count := func(b Beat) float64 {
		switch ref.Name {
		case "rate":
			return float64(b.OK) / b.Length.Seconds()
		case "errors":
			return float64(b.Failed) / math.Max(1, float64(b.OK+b.Failed))
		}
		return float64(b.InFlight)
	}
	if ref.Stat != "" && ref.Stat != "mean" {
		var xs []assay.Value
		for _, b := range seconds(beats) {
			xs = append(xs, assay.Num(count(b)))
		}
		v, err := Reduce(xs, ref.Stat)
		return v, err == nil
	}
	sum, flying := Beat{}, 0.0
	for _, b := range beats {
		sum = sum.and(b)
		flying += float64(b.InFlight) * b.Length.Seconds()
	}
	if ref.Name == "in_flight" {
		return assay.Num(flying / sum.Length.Seconds()), true
	}
	return assay.Num(count(sum)), true
}

// and is a beat with the counts of the next one.
func (b Beat) and(next Beat) Beat {
	return Beat{At: next.At, Length: b.Length + next.Length, OK: b.OK + next.OK, Failed: b.Failed + next.Failed,
		Before: b.Before, InFlight: max(b.InFlight, next.InFlight)}
}

// seconds joins beats to seconds, counted back from the last one; in flight is then the most of them.
// What is left at the beginning, less than half a second, counts for nothing.
func seconds(beats []Beat) (joined []Beat) {
	for end := len(beats); end > 0; {
		b := beats[end-1]
		for end--; end > 0 && b.Length+beats[end-1].Length/2 < time.Second; end-- {
			b = beats[end-1].and(b)
		}
		if b.Length >= time.Second/2 || joined == nil {
			joined = append(joined, b)
		}
	}
	return joined
}
