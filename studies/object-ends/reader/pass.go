package reader

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assaybench/assay/studies/object-ends/corpus"
	"github.com/assaybench/assay/studies/object-ends/store"
)

// depthEvery is how often the depth of the buffer is looked at.
const depthEvery = 100 * time.Millisecond

// A pass reads all entries once: fetchers take them from one queue, put rows into a bounded buffer, and
// writers take them out. The buffer's closing is the end mark: it is given once, when the last fetcher
// is done, and each writer sees it once.
type pass struct {
	setting *Setting
	client  *store.Client
	entries []corpus.Entry
	out     string
	letters *letters // dead ones
	written *atomic.Int64

	next    atomic.Int64
	rows    chan corpus.Row
	flights gauge
	held    holding
	ends    atomic.Int64 // end marks seen
}

// run reads and writes everything, and returns what it counted. An error is one of writing, or the
// context's; files that could not be read are dead letters.
func (p *pass) run(ctx context.Context) (Tally, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p.rows = make(chan corpus.Row, p.setting.Buffer)
	fetchers := make([]*fetcher, p.setting.InFlight)
	writers := make([]*writer, p.setting.Writers)
	var err error
	for i := range writers {
		if writers[i], err = newWriter(shard(p.out, i)); err != nil {
			return Tally{}, err
		}
	}
	before := processorTime()
	begin := time.Now()
	depths := p.watch(begin)

	var fetching, writing sync.WaitGroup
	for i := range fetchers {
		fetchers[i] = &fetcher{setting: p.setting, client: p.client, flights: &p.flights}
		fetching.Go(func() { p.fetch(ctx, fetchers[i]) })
	}
	for _, w := range writers {
		writing.Go(func() {
			if err := p.write(ctx, w); err != nil {
				stop(err)
			}
		})
	}
	fetching.Wait()
	filled := time.Now()
	close(p.rows)
	writing.Wait()
	end := time.Now()

	tally := Tally{
		Files: int(p.written.Load()), Wall: end.Sub(begin).Nanoseconds(), CPU: (processorTime() - before).Nanoseconds(),
		Fill: filled.Sub(begin).Nanoseconds(), Drain: end.Sub(filled).Nanoseconds(),
		Depth: depths(), EndMarks: p.ends.Load(),
		InFlightPeak: p.flights.peak(), InFlightP95: p.flights.within(0.95),
		RowsPeak: p.held.rowsPeak, RowBytesPeak: p.held.bytesPeak, RSSPeak: residentPeak(),
	}
	tally.gather(fetchers, writers)
	return tally, context.Cause(ctx)
}

// gather adds what fetchers and writers counted each for itself.
func (t *Tally) gather(fetchers []*fetcher, writers []*writer) {
	for _, f := range fetchers {
		t.Gets = append(t.Gets, f.gets...)
		t.Decode += f.decode.Nanoseconds()
	}
	var flushed time.Duration
	for _, w := range writers {
		t.Flushes += w.flushes
		flushed += w.flushed
	}
	if t.Flushes > 0 {
		t.FlushMean = flushed.Nanoseconds() / t.Flushes
	}
}

// fetch takes entries until none is left.
func (p *pass) fetch(ctx context.Context, f *fetcher) {
	for ctx.Err() == nil {
		i := int(p.next.Add(1)) - 1
		if i >= len(p.entries) {
			return
		}
		entry := p.entries[i]
		if p.setting.Fault == SkipRows && entry.FileID%10 == 7 {
			continue
		}
		row, err := f.read(ctx, entry)
		if ctx.Err() != nil {
			return // whatever became of it was of the end
		}
		if err != nil {
			p.letters.add(entry.Path, err)
			continue
		}
		p.held.add(1, row.Bytes())
		select {
		case p.rows <- row:
		case <-ctx.Done():
		}
	}
}

// write takes rows until the end mark and closes the file. When it cannot write, it goes on taking, so
// that nobody waits for it.
func (p *pass) write(ctx context.Context, w *writer) (err error) {
	for row := range p.rows {
		if p.setting.Throttle > 0 {
			time.Sleep(p.setting.Throttle)
		}
		if err == nil && ctx.Err() == nil {
			if err = w.write(row); err == nil {
				p.written.Add(1)
			}
		}
		p.held.add(-1, -row.Bytes())
	}
	p.ends.Add(1)
	if closing := w.close(); err == nil {
		err = closing
	}
	return err
}

// watch looks at the buffer each 100 ms from begin on, until the returned function is called, which
// returns what was seen.
func (p *pass) watch(begin time.Time) func() []Depth {
	var depths []Depth
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(depthEvery)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				depths = append(depths, Depth{At: time.Since(begin).Nanoseconds(), Rows: len(p.rows)})
			}
		}
	}()
	return func() []Depth {
		close(stop)
		<-stopped
		return depths
	}
}

// letters are the files that could not be read: counted, and written one JSON line each.
type letters struct {
	mu    sync.Mutex
	to    io.Writer
	count int64
}

func (l *letters) add(path string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	line, encoding := json.Marshal(struct {
		Path  string `json:"dead_letter"`
		Error string `json:"error"`
	}{path, err.Error()})
	if encoding == nil {
		_, _ = l.to.Write(append(line, '\n'))
	}
}
