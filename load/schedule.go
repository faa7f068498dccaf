package load

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Schedule gives the intended times of an open loop in order, counted from the beginning of the
// window. It is data: the same plan gives the same times, whatever happens to the operations.
type Schedule interface {
	// Next is the next intended time; ok is false after the last.
	Next() (at time.Duration, ok bool)
}

// A span is a stretch of the window in which the rate changes linearly, as the rate of arrivals of
// an inhomogeneous process: constant and stepped rates are spans with from == to.
type span struct {
	from, to float64 // per second
	length   time.Duration
}

// arrivals is the expected number of arrivals in the first t of the span.
func (s span) arrivals(t time.Duration) float64 {
	x := t.Seconds()
	return s.from*x + (s.to-s.from)*x*x/(2*s.length.Seconds())
}

// moment is the inverse of arrivals: when the n-th unit of expected arrivals is reached.
func (s span) moment(n float64) time.Duration {
	switch {
	case n == 0:
		return 0
	case s.from == s.to:
		return time.Duration(math.Round(n / s.from * 1e9))
	}
	// a t^2 + from t - n = 0, in the form that does not cancel for small a.
	a := (s.to - s.from) / (2 * s.length.Seconds())
	root := math.Sqrt(math.Max(0, s.from*s.from+4*a*n))
	return time.Duration(math.Round(2 * n / (s.from + root) * 1e9))
}

// rated is a schedule at a rate that varies over spans. A unit process (1 apart, or exponential)
// is mapped through the inverse of the cumulated rate: the time-change theorem, Daley and
// Vere-Jones 2003, section 7.4. It therefore covers constant, Poisson, steps and ramps.
type rated struct {
	spans []span
	unit  func() float64 // distance to the next arrival of the unit process
	begun time.Duration  // beginning of the current span
	past  float64        // expected arrivals before the current span
	next  float64        // position of the next arrival in the unit process
}

// constantUnit makes arrivals k/rate apart, the first at 0.
func constantUnit() float64 { return 1 }

// poissonUnit makes a Poisson process. The generator is PCG because a schedule must not change
// with the Go version; the inverse of the distribution function is written out for the same reason.
func poissonUnit(seed uint64) func() float64 {
	rng := rand.New(rand.NewPCG(seed, 0x61727269_76616c73))
	return func() float64 {
		u := float64(rng.Uint64()>>11) * 0x1p-53 // [0, 1)
		return -math.Log1p(-u)
	}
}

// newRated is a schedule over spans; poisson says of which kind.
func newRated(spans []span, poisson bool, seed uint64) *rated {
	r := &rated{spans: spans, unit: constantUnit}
	if poisson {
		r.unit = poissonUnit(seed)
		r.next = r.unit()
	}
	return r
}

// slack is how far below a whole number of arrivals the end of a span may fall by rounding before
// an arrival slips in or out.
const slack = 1e-9

func (r *rated) Next() (time.Duration, bool) {
	for len(r.spans) > 0 {
		s := r.spans[0]
		within := r.next - r.past
		if whole := s.arrivals(s.length); within >= whole-slack*math.Max(1, whole) {
			r.past += whole
			r.begun += s.length
			r.spans = r.spans[1:]
			continue
		}
		at := r.begun + min(s.moment(math.Max(0, within)), s.length-1)
		r.next += r.unit()
		return at, true
	}
	return 0, false
}

// A trace is a schedule that was recorded: a file of intended times in seconds, one a line,
// ascending. Empty lines and lines that begin with # do not count.
type trace struct {
	path  string
	file  *os.File
	lines *bufio.Scanner
	line  int
	last  time.Duration
	err   error
}

func openTrace(path string) (*trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open trace: %w", err)
	}
	return &trace{path: path, file: f, lines: bufio.NewScanner(f)}, nil
}

func (t *trace) Next() (time.Duration, bool) {
	for t.err == nil && t.lines.Scan() {
		t.line++
		text := strings.TrimSpace(t.lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		seconds, err := strconv.ParseFloat(text, 64)
		at := time.Duration(math.Round(seconds * 1e9))
		switch {
		case err != nil || math.IsNaN(seconds) || seconds < 0 || seconds > 1e9:
			t.err = fmt.Errorf("%s:%d: got %q, want seconds from 0 up", t.path, t.line, text)
		case at < t.last:
			t.err = fmt.Errorf("%s:%d: got %q after %s, want ascending times", t.path, t.line, text, t.last)
		default:
			t.last = at
			return at, true
		}
	}
	if t.err == nil {
		t.err = t.lines.Err()
	}
	return 0, false
}

// surveyTrace reads a trace once, so that its mistakes come out before anything is sent, and says
// how long it is and how many arrivals fall into its densest stretch of that length.
func surveyTrace(path string, stretch time.Duration) (last time.Duration, densest int, err error) {
	t, err := openTrace(path)
	if err != nil {
		return 0, 0, err
	}
	defer t.file.Close()
	const bounded = 1 << 16 // more in flight than that is beyond any generator here
	var recent []time.Duration
	for {
		at, ok := t.Next()
		if !ok {
			break
		}
		for len(recent) > 0 && recent[0] < at-stretch || len(recent) >= bounded {
			recent = recent[1:]
		}
		recent = append(recent, at)
		densest = max(densest, len(recent))
	}
	if t.err == nil && densest == 0 {
		t.err = fmt.Errorf("%s: holds no times", path)
	}
	return t.last, densest, t.err
}
