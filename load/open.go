package load

import (
	"sync"
	"time"
)

// An openLoop sends at intended times. Its senders take turns at leading (Schmidt et al., Leader/
// Followers, PLoP 2000): the leader waits for the next intended time, hands the lead to an idle
// sender and then carries the operation out itself. The thread that waited is the thread that
// sends, so nothing has to be woken up between the intended time and the first byte.
//
// When all slots are taken nobody leads. Whoever is done first takes the lead then, and finds out
// from the schedule what should have been sent meanwhile.
type openLoop struct {
	*loop
	pacer    pacer
	warmup   Schedule
	schedule Schedule

	mu       sync.Mutex
	idle     []*sender // the one that was busy last is at the end: its caches are warm
	senders  int
	leading  bool
	over     bool          // the schedule is exhausted
	finished chan struct{} // closed when it is
}

// A sender carries out operations one at a time: it is a slot.
type sender struct {
	page *page
	op   *Operation
	lead chan bool // true: lead; false: go home
}

// begin starts the first leader.
func (o *openLoop) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished = make(chan struct{})
	o.leading = true
	o.enlist()
}

// enlist makes a sender that leads.
func (o *openLoop) enlist() {
	s := &sender{page: o.book.pages[o.senders%len(o.book.pages)], op: o.operation(), lead: make(chan bool, 1)}
	o.senders++
	o.wg.Go(func() { o.serve(s) })
}

// serve leads, sends, and leads again until the schedule is exhausted.
func (o *openLoop) serve(s *sender) {
	freed := -o.plan.Warmup - time.Hour // no slot was lacking before
	for {
		at, ok := o.nextArrival(s, freed)
		if !ok {
			o.finish()
			return
		}
		o.pacer.wait(at)
		if o.ctx.Err() != nil {
			o.book.planned(s.page, at, false)
			continue // the rest of the schedule is cancelled, one by one
		}
		index := o.next.Add(1) - 1
		o.handOver()
		s.op.freed = freed
		freed = o.do(s.page, s.op, index, at)
		if lead, waited := o.rest(s); !lead {
			return
		} else if waited {
			freed = -o.plan.Warmup - time.Hour
		}
	}
}

// nextArrival is the next intended time to be sent at. Those that lie before the moment at which a
// slot became free have found none, and are dropped unless the plan allows them to be late.
func (o *openLoop) nextArrival(s *sender, freed time.Duration) (at time.Duration, ok bool) {
	for {
		if at, ok = o.warmup.Next(); ok {
			at -= o.plan.Warmup
		} else if at, ok = o.schedule.Next(); !ok {
			return 0, false
		}
		if at >= freed || o.plan.Late {
			return at, true
		}
		o.book.planned(s.page, at, o.ctx.Err() == nil)
	}
}

// handOver makes an idle sender the leader, or a new one if the bound allows.
func (o *openLoop) handOver() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.idle); n > 0 {
		s := o.idle[n-1]
		o.idle = o.idle[:n-1]
		s.lead <- true
		return
	}
	if o.senders < o.plan.InFlight {
		o.enlist()
		return
	}
	o.leading = false
}

// rest is what a sender does after an operation: it leads at once if nobody does, and else waits
// until it is called.
func (o *openLoop) rest(s *sender) (lead, waited bool) {
	o.mu.Lock()
	if o.over {
		o.mu.Unlock()
		return false, false
	}
	if !o.leading {
		o.leading = true
		o.mu.Unlock()
		return true, false
	}
	o.idle = append(o.idle, s)
	o.mu.Unlock()
	return <-s.lead, true
}

// finish sends the idle senders home; those under way go when they are done.
func (o *openLoop) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	for _, s := range o.idle {
		s.lead <- false
	}
	o.idle = nil
	close(o.finished)
}
