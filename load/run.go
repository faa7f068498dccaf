package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/assaybench/assay/hist"
)

// Options say what Run does besides driving the load. The zero Options record nothing to disk.
type Options struct {
	// Dir receives response.hlog, service.hlog and lag.hlog, one interval a second, and
	// operations.parquet if the plan keeps operations. Empty: nothing is written.
	Dir string
	// Tick, if set, is called once a second from one goroutine, and must return soon.
	Tick func(Progress)
	// Beat, if set, is called by the same goroutine every BeatEvery, which is a whole part of a second,
	// with what came since the last beat.
	Beat      func(Progress)
	BeatEvery time.Duration
	// Phases asks for the times of the phases of operations, at the price of a few clock readings.
	Phases bool
	// Batches asks for the response times by second, or by several in a long window, in the account.
	Batches bool
}

// Progress is what can be said while the load is under way. Counts are of the window.
type Progress struct {
	Elapsed  time.Duration // since the beginning of the window; negative in the warm-up
	Ledger   Ledger
	InFlight int
	// Last is the response time of operations that ended ok since the last tick, or the last beat.
	Last Quantiles
	// CompletedPerS counts them, per second.
	CompletedPerS float64
	// Response, Service and Lag are the times of these operations in nanoseconds; the lag is also of
	// those that failed. They are the recorder's: valid until Tick or Beat returns.
	Response, Service, Lag *hist.Histogram
}

// headStart is the time between the call of Run and the first intended time, in which the senders
// and the watches get going.
const headStart = 5 * time.Millisecond

// mostPages bounds the memory of the book, 0.5 MB a page; on more processors some share a page.
const mostPages = 8

// Run carries the plan out and returns the account of it, which also stands where something went
// wrong with the target or the generator. When ctx is done the load stops at once: what was not
// sent is cancelled, what is under way is in flight at the end. The error is for what prevented a
// trial or its recording altogether. Run does not close the driver.
func Run(ctx context.Context, p Plan, d Driver, o Options) (Account, error) {
	if p.For <= 0 || p.Timeout <= 0 || p.Clients <= 0 && p.InFlight <= 0 {
		return Account{}, fmt.Errorf("run load: for %s, timeout %s, in flight %d: want a plan made by NewPlan", p.For, p.Timeout, p.InFlight)
	}
	book := newBook(p.For, min(runtime.GOMAXPROCS(0), mostPages), p.Operations && o.Dir != "")
	// Collected now, and not in the middle of the load, where it holds the senders up.
	runtime.GC()
	begun := time.Now()
	operations, breakOff := context.WithCancel(ctx)
	defer breakOff()
	l := &loop{
		plan: p, driver: d, phased: o.Phases, ctx: operations,
		clock: clock{zero: begun.Add(headStart + p.Warmup)}, book: book,
	}
	rec, err := newRecorder(l, o)
	if err != nil {
		return Account{}, err
	}
	watch := watchHealth(l.clock, p.For)
	finished, closeLoop, err := l.start()
	if err != nil {
		watch.stop()
		return Account{}, errors.Join(err, rec.finish())
	}
	recording := make(chan struct{})
	stopRecording := make(chan struct{})
	go func() {
		defer close(recording)
		rec.record(stopRecording)
	}()
	l.drain(finished, breakOff)
	closeLoop()
	watch.stop()
	close(stopRecording)
	<-recording
	err = rec.finish()
	return l.account(rec, watch, ctx.Err() != nil), err
}

// start begins sending. The channel closes when the last intended time is past.
func (l *loop) start() (finished <-chan struct{}, stop func(), err error) {
	l.spun = plainPacer{}.spun
	if l.plan.Closed() {
		over := make(chan struct{})
		l.closedLoop()
		timer := time.AfterFunc(l.plan.For-l.clock.now(), func() { close(over) })
		return over, func() { timer.Stop() }, nil
	}
	schedule, err := l.plan.Schedule()
	if err != nil {
		return nil, nil, err
	}
	var pace pacer = plainPacer{ctx: l.ctx, clock: l.clock}
	if !l.plan.plainPacing {
		if pace, err = newPacer(l.ctx, l.clock); err != nil {
			return nil, nil, err
		}
	}
	l.spun = pace.spun
	open := &openLoop{loop: l, pacer: pace, warmup: l.plan.warmupSchedule(), schedule: schedule}
	open.begin()
	return open.finished, pace.close, nil
}

// drain waits for the end of the schedule, then for the operations under way, but no longer than
// the timeout; then it breaks them off. When it returns no sender is left and the book is closed.
func (l *loop) drain(finished <-chan struct{}, breakOff func()) {
	gone := make(chan struct{})
	go func() {
		l.wg.Wait()
		close(gone)
	}()
	select {
	case <-finished:
	case <-gone:
	case <-l.ctx.Done():
	}
	patience := time.NewTimer(max(0, l.plan.For-l.clock.now()) + l.plan.Timeout + timeoutGrace)
	defer patience.Stop()
	select {
	case <-gone:
	case <-patience.C:
	case <-l.ctx.Done():
	}
	l.book.close()
	breakOff()
	<-gone
}

// timeoutGrace lets an operation that was sent at the very end run into its own timeout before the
// drain ends, so that it is counted as timed out.
const timeoutGrace = 100 * time.Millisecond
