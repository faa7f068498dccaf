package telemetry

import (
	"context"
	"sync"
	"time"
)

// A Bystander is a probe with the rate at which it is performed.
type Bystander struct {
	Name    string
	Prober  Prober
	Rate    float64       // a second; 0 is 5
	Timeout time.Duration // after which a probe counts as failed; 0 is 5 s
}

const (
	rttName    = "rtt"
	errorsName = "probe_errors"
)

// bystander performs probes one after the other at intended times. It never has two under way and
// never tries again: a share in trouble gets no more load from it than one that is well. A probe
// whose time came while the one before was under way counts with the time that it would have had to
// wait, so that a stall of two seconds is ten slow probes at 5/s and not one.
type bystander struct {
	Bystander
	period time.Duration

	mu      sync.Mutex
	waiting []time.Duration // intended times of probes not yet answered, oldest first
	reads   int
	errors  int
	last    string
}

func newBystander(p Bystander) *bystander {
	if p.Rate <= 0 {
		p.Rate = probeRate
	}
	if p.Timeout == 0 {
		p.Timeout = probeTimeout
	}
	return &bystander{Bystander: p, period: time.Duration(float64(time.Second) / p.Rate)}
}

// loop performs probes until ctx is done. Its readings are rtt(name) in nanoseconds and, where
// probes failed, probe_errors(name). A failed probe counts as one that took its whole timeout: an
// error that comes at once is no fast answer.
func (b *bystander) loop(ctx context.Context, s *Series) {
	next := time.Since(s.began)
	for {
		if sleep(ctx, next-time.Since(s.began)) != nil {
			return
		}
		b.begin(next)
		took, err := b.Prober.Probe(ctx)
		if ctx.Err() != nil {
			return // stopped in the middle: neither an answer nor a failure
		}
		now := time.Since(s.began)
		if err != nil {
			took = max(took, b.Timeout)
		}
		intended := b.end(now, err)
		// The first is what the prober measured, without the time in which this goroutine waited for
		// a processor; those that had to wait in line follow with the time since they were due.
		s.Add(Reading{now, rttName, b.Name, float64(took)})
		for _, at := range intended[1:] {
			s.Add(Reading{now, rttName, b.Name, float64(now - at)})
		}
		if err != nil {
			s.Add(Reading{now, errorsName, b.Name, float64(b.errors)})
		}
		next += time.Duration(len(intended)) * b.period
	}
}

// begin notes that the probe that was due at a time is under way.
func (b *bystander) begin(at time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting[:0], at)
}

// end takes the intended times of the probe that came back and of those that were due meanwhile.
func (b *bystander) end(now time.Duration, err error) []time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	due := b.due(now)
	b.waiting = b.waiting[:0]
	b.reads++
	if err != nil {
		b.errors++
		b.last = err.Error()
	}
	return due
}

// due is the intended times up to now of probes that have no answer.
func (b *bystander) due(now time.Duration) []time.Duration {
	if len(b.waiting) == 0 {
		return nil
	}
	var due []time.Duration
	for at := b.waiting[0]; len(due) == 0 || at < now; at += b.period {
		due = append(due, at)
	}
	return due
}

func (b *bystander) pending(now time.Duration) []time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.due(now)
}

func (b *bystander) coverage() Coverage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Coverage{Source: "probe " + b.Name, Reads: b.reads, Rate: b.Rate, Misses: b.errors, Miss: b.last}
}
