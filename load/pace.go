package load

import (
	"context"
	"time"
)

// A pacer waits for intended times. One goroutine waits at a time; there is one pacer a trial.
type pacer interface {
	// wait returns at until, as little later as the machine allows, or when ctx of the pacer is done.
	wait(until time.Duration)
	// spun is how long it kept a processor busy only by looking at the clock, within the window.
	spun() time.Duration
	close()
}

// plainPacer waits with the runtime's timers, which on Linux fire up to a millisecond late.
type plainPacer struct {
	ctx   context.Context
	clock clock
}

func (p plainPacer) wait(until time.Duration) {
	d := until - p.clock.now()
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
	}
}

func (plainPacer) spun() time.Duration { return 0 }

func (plainPacer) close() {}
