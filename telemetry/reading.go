package telemetry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Reading is one telemetry value at a time.
type Reading struct {
	At     time.Duration // since the watch began
	Name   string        // as in the table of built-in measures, or one of this package's own
	Object string        // what it is of; empty for the machine as a whole
	Value  float64       // in the unit of the table: ns, bytes, cores, ratios from 0 to 1
}

// Emit takes one reading of a sampler.
type Emit func(name, object string, value float64)

// A Sampler reads one source. It is used by one goroutine at a time.
type Sampler interface {
	// Source names what is read and by which interface, as in "control group of api: cpu v1".
	Source() string
	// Read hands the present readings to emit. The first call may only take a base for differences.
	// An error that wraps [ErrAbsent] ends the sampler: it is named once and not asked again.
	Read(ctx context.Context, emit Emit) error
	Close() error
}

// A Series is the readings of a watch: all of them in the sink, the last ones at hand.
type Series struct {
	began time.Time
	keep  time.Duration

	mu      sync.Mutex
	recent  map[seriesKey][]Reading
	sink    *bufio.Writer
	sinkErr error
	line    []byte
	flushed time.Time

	bystanders []*bystander
	stop       context.CancelFunc
	done       sync.WaitGroup
	coverage   []Coverage
}

type seriesKey struct{ name, object string }

// Header is the first line of readings.csv.
const Header = "t_ns,name,object,value\n"

func newSeries(began time.Time, keep time.Duration, sink io.Writer) *Series {
	s := &Series{began: began, keep: keep, recent: map[seriesKey][]Reading{}, flushed: began}
	if sink != nil {
		s.sink = bufio.NewWriterSize(sink, 32<<10)
		_, s.sinkErr = s.sink.WriteString(Header)
	}
	return s
}

// Add puts a reading of somebody else's making into the series.
func (s *Series) Add(r Reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := seriesKey{r.Name, r.Object}
	list := s.recent[key]
	// Drop what is older than keep, in bulk so that it costs little a reading.
	if n := len(list); n > 16 && list[n/2].At < r.At-s.keep {
		list = append(list[:0], list[n/2:]...)
	}
	s.recent[key] = append(list, r)
	if s.sink == nil || s.sinkErr != nil {
		return
	}
	s.line = appendLine(s.line[:0], r)
	_, s.sinkErr = s.sink.Write(s.line)
	if now := s.began.Add(r.At); s.sinkErr == nil && now.Sub(s.flushed) > time.Second {
		s.flushed = now // so that a killed process loses a second, not a trial
		s.sinkErr = s.sink.Flush()
	}
}

// appendLine writes a line of readings.csv (RFC 4180).
func appendLine(b []byte, r Reading) []byte {
	b = strconv.AppendInt(b, int64(r.At), 10)
	for _, field := range []string{r.Name, r.Object} {
		b = append(b, ',')
		if !strings.ContainsAny(field, "\",\r\n") {
			b = append(b, field...)
			continue
		}
		b = append(b, '"')
		b = append(b, strings.ReplaceAll(field, `"`, `""`)...)
		b = append(b, '"')
	}
	b = append(b, ',')
	b = strconv.AppendFloat(b, r.Value, 'g', -1, 64)
	return append(b, '\n')
}

// Latest is the last reading of a name and object.
func (s *Series) Latest(name, object string) (Reading, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.recent[seriesKey{name, object}]
	if len(list) == 0 {
		return Reading{}, false
	}
	return list[len(list)-1], true
}

// Window is the readings of the last over, oldest first; at most what the watch keeps. Of a probe it
// has those that came back; see [Series.Pending] for the others.
func (s *Series) Window(name, object string, over time.Duration) []Reading {
	from := s.Since() - over
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.recent[seriesKey{name, object}]
	i := len(list)
	for i > 0 && list[i-1].At > from {
		i--
	}
	return slices.Clone(list[i:])
}

// Pending is when probes of a name were due that have no answer yet, oldest first, as time since the
// watch began. Each is at least as old as it is: a share that hangs gives no readings, and that must
// not look as if all were well.
func (s *Series) Pending(probe string) []time.Duration {
	s.mu.Lock()
	bystanders := s.bystanders
	s.mu.Unlock()
	for _, b := range bystanders {
		if b.Name == probe {
			return b.pending(s.Since())
		}
	}
	return nil
}

// Values are the numbers of a window.
func Values(window []Reading) []float64 {
	v := make([]float64, len(window))
	for i, r := range window {
		v[i] = r.Value
	}
	return v
}

// Since is the time of the watch now: readings made from here on have a later At.
func (s *Series) Since() time.Duration { return time.Since(s.began) }

// A Coverage says what a watch got from one source and what that cost.
type Coverage struct {
	Source string
	// Absent is why the source was not read; empty where it was.
	Absent string
	Reads  int           // the first, which only primes, not counted
	Rate   float64       // reads per second that were aimed at; below Watch.Hz where the budget was short
	Cost   time.Duration // processor time
	// Misses counts reads that failed; Miss is the last such failure.
	Misses int
	Miss   string
}

func (c Coverage) String() string {
	switch {
	case c.Absent != "":
		return fmt.Sprintf("%s: absent: %s", c.Source, c.Absent)
	case c.Rate == 1/seldom.Seconds():
		return fmt.Sprintf("%s: read at the start, at the end and every %v, since one read takes %v", c.Source, seldom, c.Cost/time.Duration(c.Reads+1))
	case c.Misses > 0:
		return fmt.Sprintf("%s: %d reads at %.3g/s, %d failed: %s", c.Source, c.Reads, c.Rate, c.Misses, c.Miss)
	}
	return fmt.Sprintf("%s: %d reads at %.3g/s", c.Source, c.Reads, c.Rate)
}

// Stop ends the watch, waits for it, and says what each source gave. Its error is the sink's.
func (s *Series) Stop() ([]Coverage, error) {
	s.stop()
	s.done.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.bystanders {
		s.coverage = append(s.coverage, b.coverage())
	}
	s.bystanders = nil
	if s.sink != nil {
		s.sinkErr = errors.Join(s.sinkErr, s.sink.Flush())
		s.sink = nil
	}
	if s.sinkErr != nil {
		return s.coverage, fmt.Errorf("write readings: %w", s.sinkErr)
	}
	return s.coverage, nil
}
