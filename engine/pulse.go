package engine

import (
	"math"
	"sync"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/measure"
)

// A pulse keeps what the load of a trial gave, second by second, as far back as the trial's kill
// rules look.
type pulse struct {
	mu    sync.Mutex
	keep  time.Duration
	last  load.Progress // its histograms are the recorder's and not to be read
	beats []beat
}

// A beat is one tick of the load: what ended since the tick before.
type beat struct {
	at, length time.Duration // since the beginning of the load's window
	times      map[string]*hist.Histogram
	ok, failed int64 // that ended; dropped ones failed
	before     int   // operations in flight at the tick before
	inFlight   int
}

// newPulse is nil for a trial whose kill rules watch nothing of the load.
func newPulse(w *assay.Workload) *pulse {
	if w.Load == nil {
		return nil
	}
	var p *pulse
	for _, k := range w.Kills {
		if b, ok := assay.BuiltinMeasure(k.When.Measure.Name); !ok || !b.Load {
			continue
		}
		if p == nil {
			p = &pulse{}
		}
		p.keep = max(p.keep, k.When.Over)
	}
	return p
}

// beat takes a tick of the load down.
func (p *pulse) beat(now load.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := beat{at: now.Elapsed, length: now.Elapsed - max(0, p.last.Elapsed), before: p.last.InFlight, inFlight: now.InFlight,
		ok: now.Ledger.OK - p.last.Ledger.OK, failed: lost(now.Ledger) - lost(p.last.Ledger), times: map[string]*hist.Histogram{}}
	p.last = now
	if b.length <= 0 {
		return // of the warm-up, of which nothing is recorded
	}
	for name, h := range map[string]*hist.Histogram{"response_time": now.Response, "service_time": now.Service, "lag": now.Lag} {
		b.times[name] = &hist.Histogram{}
		b.times[name].Merge(h)
	}
	p.beats = append(p.beats, b)
	for len(p.beats) > 1 && p.beats[1].at-p.beats[1].length <= now.Elapsed-p.keep {
		p.beats = p.beats[1:]
	}
}

// lost is how many operations ended otherwise than ok, or were never sent for want of a slot.
func lost(l load.Ledger) int64 { return l.Failed() + l.TimedOut + l.Dropped }

// window is the measure of a kill rule over its window, which ends at the last tick; without one it is
// that tick's. ok is false while the load is younger than the window, or the window holds nothing.
func (p *pulse) window(c assay.Condition) (v assay.Value, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.beats) == 0 {
		return v, false
	}
	end := p.beats[len(p.beats)-1].at
	from := end - c.Over
	if c.Over == 0 {
		from = end - p.beats[len(p.beats)-1].length
	}
	if from < 0 {
		return v, false
	}
	// Ticks are a second apart within some milliseconds; a beat belongs to the window by its middle.
	first := len(p.beats) - 1
	for first > 0 && p.beats[first-1].at-p.beats[first-1].length/2 > from {
		first--
	}
	beats := p.beats[first:]
	if _, timed := beats[0].times[c.Measure.Name]; timed {
		return timesOver(beats, c.Measure)
	}
	return countsOver(beats, c.Measure)
}

// timesOver is a statistic over the operations of some beats. Those that failed count as infinite.
func timesOver(beats []beat, ref assay.MeasureRef) (v assay.Value, ok bool) {
	all, ended, failed, length := &hist.Histogram{}, int64(0), int64(0), time.Duration(0)
	for _, b := range beats {
		all.Merge(b.times[ref.Name])
		ended, failed, length = ended+b.ok+b.failed, failed+b.failed, length+b.length
	}
	if ref.Name == "lag" {
		return measure.Watched(all, 0, ref.Stat)
	}
	// Of those in flight when the window began, no more have ended than did in it: the rest are as old
	// as the window by now, and a server that answers nothing at all must not hide that.
	if old := int64(beats[0].before) - ended; old > 0 {
		all.RecordN(int64(length), old)
	}
	return measure.Watched(all, failed, ref.Stat)
}

// countsOver is the rate, the share of errors or the operations in flight: over the whole window, or
// the statistic of its seconds that the rule names.
func countsOver(beats []beat, ref assay.MeasureRef) (v assay.Value, ok bool) {
	count := func(b beat) float64 {
		switch ref.Name {
		case "rate":
			return float64(b.ok) / b.length.Seconds()
		case "errors":
			return float64(b.failed) / math.Max(1, float64(b.ok+b.failed))
		}
		return float64(b.inFlight)
	}
	if ref.Stat != "" && ref.Stat != "mean" {
		var xs []assay.Value
		for _, b := range beats {
			xs = append(xs, assay.Num(count(b)))
		}
		v, err := measure.Reduce(xs, ref.Stat)
		return v, err == nil
	}
	var sum beat
	flying := 0.0
	for _, b := range beats {
		sum.ok, sum.failed, sum.length = sum.ok+b.ok, sum.failed+b.failed, sum.length+b.length
		flying += float64(b.inFlight) * b.length.Seconds()
	}
	if ref.Name == "in_flight" {
		return assay.Num(flying / sum.length.Seconds()), true
	}
	return assay.Num(count(sum)), true
}
