package driver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/assaybench/assay/load"
)

// A pool lends out things that are opened on demand: connections, processes. What came back last
// is lent first, so that no more are kept warm than are needed, unless they are to take turns.
type pool[T any] struct {
	most int // that may be open; 0: no bound
	open func(context.Context, *load.Operation) (T, error)

	mu      sync.Mutex
	idle    []T
	turns   func(T) int64 // what has been used least is lent first, then what has idled longest; nil: no turns
	count   load.Connections
	now     int            // open at present, or being opened
	waiting []chan loan[T] // who waits for one, in order
	closed  bool
}

// A loan is what a waiting operation gets: an open thing, or leave to open one.
type loan[T any] struct {
	thing  T
	opened bool
}

var errClosed = errors.New("driver is closed")

// take lends one, or opens it, or waits for one if as many as allowed are out. waited says so.
func (p *pool[T]) take(ctx context.Context, op *load.Operation) (thing T, fresh, waited bool, err error) {
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		return thing, false, false, errClosed
	case len(p.idle) > 0:
		i := p.first()
		thing = p.idle[i]
		p.idle = slices.Delete(p.idle, i, i+1)
		p.mu.Unlock()
		return thing, false, false, nil
	case p.most > 0 && p.now >= p.most:
		turn := make(chan loan[T], 1)
		p.waiting = append(p.waiting, turn)
		p.mu.Unlock()
		l, err := p.wait(ctx, op, turn)
		if err != nil || l.opened {
			return l.thing, false, true, err
		}
		waited = true
	default:
		p.now++
		p.mu.Unlock()
	}
	thing, err = p.open(ctx, op)
	if err != nil {
		p.drop()
		return thing, false, waited, err
	}
	p.mu.Lock()
	p.count.Opened++
	p.count.Peak = max(p.count.Peak, p.now)
	p.mu.Unlock()
	return thing, true, waited, nil
}

// first is the place of what is lent next.
func (p *pool[T]) first() int {
	if p.turns == nil {
		return len(p.idle) - 1
	}
	least := 0
	for i := range p.idle {
		if p.turns(p.idle[i]) < p.turns(p.idle[least]) {
			least = i
		}
	}
	return least
}

// takeTurns lets things that are not all alike be used equally from now on; used says how much those
// like one have been. Three connections to two addresses in turn would be two to one.
func (p *pool[T]) takeTurns(used func(T) int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns = used
}

func (p *pool[T]) wait(ctx context.Context, op *load.Operation, turn chan loan[T]) (loan[T], error) {
	timer := time.NewTimer(time.Until(op.Deadline()))
	defer timer.Stop()
	var err error
	select {
	case l := <-turn:
		return l, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = context.DeadlineExceeded
	}
	p.mu.Lock()
	for i, other := range p.waiting {
		if other == turn {
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
			p.mu.Unlock()
			return loan[T]{}, err
		}
	}
	p.mu.Unlock()
	return <-turn, nil // it came at the same moment
}

// give takes a thing back that can be used again.
func (p *pool[T]) give(thing T) (kept bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		p.now--
		return false
	}
	if len(p.waiting) > 0 {
		turn := p.waiting[0]
		p.waiting = p.waiting[1:]
		turn <- loan[T]{thing: thing, opened: true}
		return true
	}
	p.idle = append(p.idle, thing)
	return true
}

// drop says that a thing is gone. Who waits may open another in its place.
func (p *pool[T]) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		turn := p.waiting[0]
		p.waiting = p.waiting[1:]
		turn <- loan[T]{}
		return
	}
	p.now--
}

// connections counts what the pool has opened.
func (p *pool[T]) connections() load.Connections {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// empty closes the pool and gives what idled in it.
func (p *pool[T]) empty() []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.now -= len(idle)
	return idle
}
