package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A loop is one trial under way: what open and closed loops share.
type loop struct {
	plan   Plan
	driver Driver
	clock  clock
	book   *book
	phased bool
	ctx    context.Context // of the operations
	wg     sync.WaitGroup  // senders
	next   atomic.Int64    // index of the next operation
	flying atomic.Int64
	spun   func() time.Duration // of the pacer, to be asked when no sender is left
}

// operation is a new operation of the loop, to be used again and again by one sender.
func (l *loop) operation() *Operation {
	return &Operation{clock: l.clock, phased: l.phased}
}

// do carries out one operation and records it. It returns when it was done.
func (l *loop) do(p *page, op *Operation, index int64, intended time.Duration) time.Duration {
	op.begin(index, intended, l.plan.Timeout)
	l.book.sent(p, op)
	l.flying.Add(1)
	err := l.driver.Do(l.ctx, op)
	now := l.clock.now()
	l.flying.Add(-1)
	if err != nil && l.ctx.Err() != nil && !op.expiredAt(now) {
		return now // broken off by the end of the trial: in flight
	}
	l.book.done(p, op, classOf(err), err, now)
	return now
}

// expiredAt reports whether the operation had timed out at that time.
func (op *Operation) expiredAt(t time.Duration) bool { return t >= op.handed+op.timeout }

// closedLoop lets each client start an operation when its last one is done and it has thought.
func (l *loop) closedLoop() {
	for i := range l.plan.Clients {
		l.wg.Go(func() { l.client(l.book.pages[i%len(l.book.pages)]) })
	}
}

func (l *loop) client(p *page) {
	op := l.operation()
	var timer plainPacer
	timer.ctx, timer.clock = l.ctx, l.clock
	intended := -l.plan.Warmup
	timer.wait(intended)
	for l.ctx.Err() == nil && intended < l.plan.For {
		done := l.do(p, op, l.next.Add(1)-1, intended)
		intended = done
		if l.plan.Think > 0 {
			intended += l.plan.Think
			if intended < l.plan.For {
				timer.wait(intended)
			}
		}
	}
}
