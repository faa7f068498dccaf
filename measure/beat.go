package measure

import (
	"math"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
)

// A Beat is what a load gave between two moments, about a second apart.
type Beat struct {
	At, Length time.Duration // the later moment, since the beginning of the load's window
	OK, Failed int64         // operations that ended; dropped ones failed
	Before     int           // in flight at the earlier moment
	InFlight   int           // at the later one
	times      map[string]*hist.Histogram
}

// Timed is the beat with the times of its operations, which are copied.
func (b Beat) Timed(response, service, lag *hist.Histogram) Beat {
	b.times = map[string]*hist.Histogram{}
	for name, h := range map[string]*hist.Histogram{"response_time": response, "service_time": service, "lag": lag} {
		b.times[name] = &hist.Histogram{}
		b.times[name].Merge(h)
	}
	return b
}

// OfLoad reports whether kill rules see the measure in the beats of a load.
func OfLoad(ref assay.MeasureRef) bool {
	b, ok := assay.BuiltinMeasure(ref.Name)
	return ok && b.Load
}

// WindowOfLoad is [Window] for the measures of a load, over consecutive beats: the window ends with the
// last one; without an over it is that one. ok is false while the load is younger than the window, or
// the window holds nothing.
func WindowOfLoad(c assay.Condition, beats []Beat) (v assay.Value, ok bool) {
	if len(beats) == 0 {
		return v, false
	}
	first := len(beats) - 1
	from := beats[first].At - c.Over
	if c.Over == 0 {
		from = beats[first].At - beats[first].Length
	}
	if from < 0 {
		return v, false
	}
	// Beats are a second long within some milliseconds; one belongs to the window by its middle.
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
		all.Merge(b.times[ref.Name])
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
		for _, b := range beats {
			xs = append(xs, assay.Num(count(b)))
		}
		v, err := Reduce(xs, ref.Stat)
		return v, err == nil
	}
	var sum Beat
	flying := 0.0
	for _, b := range beats {
		sum.OK, sum.Failed, sum.Length = sum.OK+b.OK, sum.Failed+b.Failed, sum.Length+b.Length
		flying += float64(b.InFlight) * b.Length.Seconds()
	}
	if ref.Name == "in_flight" {
		return assay.Num(flying / sum.Length.Seconds()), true
	}
	return assay.Num(count(sum)), true
}
