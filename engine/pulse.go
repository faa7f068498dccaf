package engine

import (
	"sync"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/measure"
)

// A pulse keeps what the load of a trial gave, beat by beat, as far back as the trial's kill rules look.
type pulse struct {
	mu    sync.Mutex
	keep  time.Duration
	every time.Duration // from beat to beat, a whole part of a second
	names []string      // of the measures that are watched
	last  load.Progress // its histograms are the recorder's and not to be read
	beats []measure.Beat
}

// newPulse is nil for a trial whose kill rules watch nothing of the load.
func newPulse(w *assay.Workload) *pulse {
	if w.Load == nil {
		return nil
	}
	var p *pulse
	for _, k := range w.Kills {
		if !measure.OfLoad(k.When.Measure) {
			continue
		}
		if p == nil {
			p = &pulse{every: longBeat}
		}
		p.names = append(p.names, k.When.Measure.Name)
		p.keep = max(p.keep, k.When.Over, time.Second)
		if k.When.Over < manyBeats*longBeat {
			p.every = killPoll
		}
	}
	return p
}

const (
	// longBeat is how often a rule sees the load that looks over a window of many of them: what it is
	// to act within is a second after its window.
	longBeat  = 500 * time.Millisecond
	manyBeats = 10
)

// beat takes down what came of the load since the last beat.
func (p *pulse) beat(now load.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := measure.Beat{At: now.Elapsed, Length: now.Elapsed - max(0, p.last.Elapsed), Before: p.last.InFlight, InFlight: now.InFlight,
		OK: now.Ledger.OK - p.last.Ledger.OK, Failed: lost(now.Ledger) - lost(p.last.Ledger)}
	p.last = now
	if b.Length <= 0 {
		return // of the warm-up, of which nothing is recorded
	}
	for _, name := range p.names {
		switch name {
		case "response_time":
			b = b.Timed(name, now.Response)
		case "service_time":
			b = b.Timed(name, now.Service)
		case "lag":
			b = b.Timed(name, now.Lag)
		}
	}
	p.beats = append(p.beats, b)
	for len(p.beats) > 1 && p.beats[1].At-p.beats[1].Length <= now.Elapsed-p.keep {
		p.beats = p.beats[1:]
	}
}

// lost is how many operations ended otherwise than ok, or were never sent for want of a slot.
func lost(l load.Ledger) int64 { return l.Failed() + l.TimedOut + l.Dropped }

// window is the measure of a kill rule over its window, which ends at the last tick.
func (p *pulse) window(c assay.Condition) (v assay.Value, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return measure.WindowOfLoad(c, p.beats)
}
