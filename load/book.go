package load

import (
	"sync"
	"time"

	"github.com/assaybench/assay/hist"
)

// parts is into how many parts the window is cut to see whether a backlog grows, and whether the
// answers ever stop.
const parts = 256

// A book records operations. It is cut into pages, one or two a processor, each with a lock of its
// own, so that senders do not wait for each other; what is recorded is the sum of the pages.
type book struct {
	window time.Duration
	pages  []*page
	spare  *times // empty, to be exchanged for a page's at the next turn
}

// A page is a part of the book. Intended, sent and done times enter it once each and are never
// kept, but for the operations of the current turn where every one of them is asked for.
type page struct {
	mu     sync.Mutex
	closed bool
	warmup tally
	// seconds of the window by intended time; the one after the last holds what is beyond it.
	seconds []tally

	*times                  // since the last turn
	own      hist.Histogram // delays that are the generator's, of the window
	phase    *phaseBook     // nil until there are phases
	inFlight time.Duration  // time in flight within the window, summed
	inSystem time.Duration  // time in flight at all, summed
	// By part of the window: arrivals, those that have left (dropped ones at once), and answers.
	arrived, left, answered [parts]int64
	first                   [classes]error // the first error of each class

	_ [64]byte // pages stay off each other's cache lines
}

// times is what is recorded of the operations of the window between two turns.
type times struct {
	response, failed, service, lag hist.Histogram
	keep                           bool // every operation, in rows
	rows                           []Row
}

// reserve takes the memory that the times of a usual load need.
func (t *times) reserve() {
	t.response.Reserve()
	t.service.Reserve()
	t.lag.Reserve()
}

// merge adds o, rows included, and rests after each step; see mergeHistograms.
func (t *times) merge(o *times, rest func()) {
	t.mergeHistograms(o, rest)
	t.rows = append(t.rows, o.rows...)
}

// mergeHistograms adds the histograms of o one by one, and rests in between: with one processor senders
// wait for whatever the recording does at a stroke.
func (t *times) mergeHistograms(o *times, rest func()) {
	for _, m := range [][2]*hist.Histogram{{&t.response, &o.response}, {&t.failed, &o.failed}, {&t.service, &o.service}, {&t.lag, &o.lag}} {
		if m[1].Count() > 0 {
			m[0].Merge(m[1])
			rest()
		}
	}
}

func (t *times) reset() {
	t.response.Reset()
	t.failed.Reset()
	t.service.Reset()
	t.lag.Reset()
	t.rows = t.rows[:0]
}

// newBook is an empty book; keep says that every operation is wanted.
func newBook(window time.Duration, pages int, keep bool) *book {
	b := &book{window: window, spare: &times{keep: keep}}
	b.spare.reserve()
	for range pages {
		p := &page{times: &times{keep: keep}}
		p.reserve()
		p.own.Reserve()
		b.pages = append(b.pages, p)
	}
	return b
}

// second is the place in a page's seconds for a time of the window.
func (p *page) second(i int) *tally {
	for len(p.seconds) <= i {
		p.seconds = append(p.seconds, tally{})
	}
	return &p.seconds[i]
}

// tallyOf is where an operation intended at that time is counted.
func (p *page) tallyOf(intended time.Duration) *tally {
	if intended < 0 {
		return &p.warmup
	}
	return p.second(int(intended / time.Second))
}

func (b *book) part(t time.Duration) int {
	return min(parts-1, int(float64(t)/float64(b.window)*parts))
}

// planned counts an arrival that is not sent: dropped or cancelled.
func (b *book) planned(p *page, intended time.Duration, dropped bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tallyOf(intended)
	t.planned++
	if dropped {
		t.dropped++
	} else {
		t.cancelled++
	}
	if intended >= 0 {
		p.arrived[b.part(intended)]++
		p.left[b.part(intended)]++
	}
}

// sent counts an operation that is on its way.
func (b *book) sent(p *page, op *Operation) {
	p.mu.Lock()
	t := p.tallyOf(op.intended)
	t.planned++
	t.sent++
	if op.intended >= 0 {
		p.arrived[b.part(op.intended)]++
	}
	p.mu.Unlock()
}

// done records what came of an operation. Once the book is closed nothing is: what was under way
// then is in flight at the end.
func (b *book) done(p *page, op *Operation, class Class, err error, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	t := p.tallyOf(op.intended)
	if class == 0 {
		t.ok++
	} else {
		t.failed[class]++
		if p.first[class] == nil {
			p.first[class] = err
		}
	}
	if op.intended < 0 {
		return
	}
	b.enter(p, op, class, now)
}

// enter records the times of an operation of the window.
func (b *book) enter(p *page, op *Operation, class Class, now time.Duration) {
	if class == 0 {
		p.response.Record(int64(now - op.intended))
		p.service.Record(int64(now - op.sent))
	} else {
		p.failed.Record(int64(now - op.intended))
	}
	p.lag.Record(int64(op.sent - op.intended))
	p.own.Record(int64(op.handed - max(op.intended, op.freed)))
	p.inSystem += now - op.sent
	p.inFlight += min(now, b.window) - min(op.sent, b.window)
	if now <= b.window {
		part := b.part(now)
		p.left[part]++
		p.answered[part]++
		if class == 0 {
			p.second(int(now/time.Second)).completed++
		}
	}
	if op.phased && class == 0 {
		if p.phase == nil {
			p.phase = new(phaseBook)
		}
		p.phase.enter(op)
	}
	if p.keep {
		p.rows = append(p.rows, rowOf(op, class, now))
	}
}

// close ends the recording; what is not done by now stays in flight.
func (b *book) close() {
	for _, p := range b.pages {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
	}
}

// turn adds to t what was recorded since the last turn; one goroutine at a time may call it. What
// stands on a page is only exchanged under its lock and added up afterwards, so that no sender
// waits for the adding; rest is called after each step of it.
func (b *book) turn(t *times, rest func()) {
	for _, p := range b.pages {
		p.mu.Lock()
		full := p.times
		p.times = b.spare
		p.mu.Unlock()
		t.merge(full, rest)
		full.reset()
		b.spare = full
	}
}

// soFar is the sum of all tallies, warm-up apart.
func (b *book) soFar() (sum tally) {
	for _, p := range b.pages {
		p.mu.Lock()
		for i := range p.seconds {
			sum.add(&p.seconds[i])
		}
		p.mu.Unlock()
	}
	return sum
}
