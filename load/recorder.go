package load

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/assaybench/assay/hist"
)

// failedTag marks, in response.hlog, the intervals of operations that did not end ok: their times
// until the failure. They are kept apart because a failure is not a fast answer.
const failedTag = "failed"

// A recorder turns the pages of the book once a second, or with every beat, and keeps what stood on
// them second by second: in sum, in interval logs, and in a Parquet file on request.
type recorder struct {
	loop    *loop
	tick    func(Progress)
	beat    func(Progress) // nil: nobody asks for less than seconds
	every   time.Duration  // from turn to turn
	total   times
	now     times         // of the second
	part    times         // of the turn
	last    time.Duration // end of the last second that was taken down
	beaten  time.Duration // the last beat
	logs    []intervalLog
	rows    *rowWriter
	batches *batches // of response times, if asked for
	over    bool     // nothing is sent any more
	err     error
}

// An intervalLog is one of the three logs.
type intervalLog struct {
	file *os.File
	w    *hist.Writer
	of   func(*times) *hist.Histogram
	tag  string
}

func newRecorder(l *loop, o Options) (*recorder, error) {
	r := &recorder{loop: l, tick: o.Tick, every: time.Second}
	r.total.reserve()
	r.now.reserve()
	if o.Beat != nil && o.BeatEvery > 0 {
		r.beat, r.every = o.Beat, o.BeatEvery
		r.part.reserve()
	}
	if o.Batches {
		r.batches = &batches{}
	}
	if o.Dir == "" {
		return r, nil
	}
	for _, log := range []struct {
		name string
		of   func(*times) *hist.Histogram
	}{
		{"response.hlog", func(t *times) *hist.Histogram { return &t.response }},
		{"service.hlog", func(t *times) *hist.Histogram { return &t.service }},
		{"lag.hlog", func(t *times) *hist.Histogram { return &t.lag }},
	} {
		f, err := os.Create(filepath.Join(o.Dir, log.name))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("create interval log: %w", err), r.finish())
		}
		w, err := hist.NewWriter(f, l.clock.zero)
		r.logs = append(r.logs, intervalLog{file: f, w: w, of: log.of})
		if err != nil {
			return nil, errors.Join(err, r.finish())
		}
	}
	r.logs = append(r.logs, intervalLog{w: r.logs[0].w, of: func(t *times) *hist.Histogram { return &t.failed }, tag: failedTag})
	if l.plan.Operations {
		var err error
		if r.rows, err = newRowWriter(o.Dir); err != nil {
			return nil, errors.Join(err, r.finish())
		}
	}
	return r, nil
}

// record turns the pages with every beat, and takes every second of the window down when it is full,
// until stop closes.
func (r *recorder) record(stop <-chan struct{}) {
	r.last = max(0, r.loop.clock.now())
	second := fullSeconds(r.loop.clock.now())
	for {
		now := r.loop.clock.now()
		next := now.Truncate(r.every)
		if next <= now {
			next += r.every
		}
		timer := time.NewTimer(next - now)
		select {
		case <-stop:
			timer.Stop()
			r.over = true
			r.turn(true)
			return
		case <-timer.C:
		}
		n := fullSeconds(r.loop.clock.now())
		r.turn(n != second)
		second = n
	}
}

// rest lets senders catch up after a step of the recording, of a tenth to a third of a millisecond. On
// more processors there are as many more steps, and less to catch up after each.
func (r *recorder) rest() {
	if !r.over {
		time.Sleep(2 * time.Millisecond / time.Duration(len(r.loop.book.pages)))
	}
}

// fullSeconds counts the seconds of the window that are over; those of the warm-up are negative.
func fullSeconds(t time.Duration) int { return int(math.Floor(t.Seconds())) }

// turn takes what was recorded since the last one, and a second down when it is full.
func (r *recorder) turn(full bool) {
	now := r.loop.clock.now()
	if r.beat == nil {
		r.loop.book.turn(&r.now, r.rest)
	} else {
		r.part.reset()
		r.loop.book.turn(&r.part, r.rest)
		r.beat(r.progress(now, now-r.beaten, &r.part))
		r.beaten = max(0, now)
		r.now.merge(&r.part, r.rest)
	}
	if !full {
		return
	}
	if now > 0 {
		r.write(r.last, now)
	}
	if r.tick != nil {
		r.tick(r.progress(now, now-r.last, &r.now))
	}
	if r.batches != nil {
		r.batches.add(&r.now.response, r.rest)
	}
	r.total.mergeHistograms(&r.now, r.rest)
	r.now.reset()
	r.last = max(0, now)
}

// write appends the interval to the logs. The first error stays and ends the writing.
func (r *recorder) write(from, to time.Duration) {
	for _, log := range r.logs {
		h := log.of(&r.now)
		if r.err != nil || log.tag != "" && h.Count() == 0 {
			continue
		}
		r.err = log.w.Write(hist.Interval{Start: r.loop.clock.zero.Add(from), Length: to - from, Tag: log.tag, Histogram: h})
		r.rest()
	}
	if r.rows != nil && r.err == nil && len(r.now.rows) > 0 {
		r.err = r.rows.write(r.now.rows)
	}
}

// progress is what can be said now; t holds the times of the last stretch, which was so long.
func (r *recorder) progress(now, stretch time.Duration, t *times) Progress {
	sum := r.loop.book.soFar()
	p := Progress{Elapsed: now, Ledger: sum.ledger(), InFlight: int(r.loop.flying.Load()), Last: quantilesOf(&t.response, 0),
		Response: &t.response, Service: &t.service, Lag: &t.lag}
	if stretch > 0 {
		p.CompletedPerS = float64(t.response.Count()) / stretch.Seconds()
	}
	return p
}

// finish closes the files and returns the first error of the recording.
func (r *recorder) finish() error {
	err := r.err
	for _, log := range r.logs {
		if log.file == nil {
			continue
		}
		if closeErr := log.file.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close interval log: %w", closeErr)
		}
	}
	if r.rows != nil {
		if closeErr := r.rows.close(); err == nil {
			err = closeErr
		}
	}
	return err
}
