package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A Watch reads samplers at a fixed rate beside a trial.
type Watch struct {
	// Samplers are read in turn by one goroutine.
	Samplers []Sampler
	// Remote are read each by its own goroutine, since they may hang: a scrape, nvidia-smi. They are
	// read once a second at most, since what they cost is spent in other processes.
	Remote []Sampler
	// Probes are performed each by its own goroutine at its own rate.
	Probes []Bystander
	// Hz is reads a second, 1 to 20; 0 is 10.
	Hz float64
	// Sink receives readings.csv; nil for none.
	Sink io.Writer
	// Keep is how much of the past is at hand for windows; 0 is a minute.
	Keep time.Duration
}

// budget is the share of one core that reading may take, beside the first read of each source and
// those of sources that are read seldom. A source that would take more is read less often, and its
// coverage says how often. The rest of the stated 1% is left for waking up, probes and the sink.
const budget = 0.006

// repay is the time over which an overdraft of the budget is saved again.
const repay = 2 * time.Second

// shortest is the least time between two reads of one source: half a tick of the fastest watch. Over
// less than that, differences of counters are mostly the time that reading took.
const shortest = 25 * time.Millisecond

// burst is the longest that one read may take a core for. A source whose reads are longer would be
// seen in the tail of what is measured; it is read at the start, at the end and once in a seldom, so
// that one which was only slow once comes back.
const (
	burst  = 5 * time.Millisecond
	seldom = 30 * time.Second
)

// Start begins to watch until ctx is done or the series is stopped. The first read of every sampler
// only primes its differences and is dropped.
func (w Watch) Start(ctx context.Context) (*Series, error) {
	hz := w.Hz
	if hz == 0 {
		hz = 10
	}
	if !(hz >= 1 && hz <= 20) { // nor NaN
		return nil, fmt.Errorf("watch: rate %g/s: want 1 to 20 a second", hz)
	}
	if w.Keep == 0 {
		w.Keep = time.Minute
	}
	s := newSeries(time.Now(), w.Keep, w.Sink)
	if s.sinkErr != nil {
		return nil, fmt.Errorf("watch: write readings: %w", s.sinkErr)
	}
	ctx, s.stop = context.WithCancel(ctx)
	for _, p := range w.Probes {
		s.bystanders = append(s.bystanders, newBystander(p))
	}
	for _, b := range s.bystanders {
		s.done.Go(func() { b.loop(ctx, s) })
	}
	s.done.Go(func() { s.follow(ctx, w.Samplers, hz) })
	for _, one := range w.Remote {
		s.done.Go(func() { s.follow(ctx, []Sampler{one}, 1) })
	}
	return s, nil
}

// A watched sampler is one with its account.
type watched struct {
	Sampler
	coverage Coverage
	primed   bool
	cost     time.Duration // of one read, smoothed
	first    time.Duration // of the first read
	last     time.Time
	next     time.Time
	period   time.Duration
	most     float64 // reads a second
}

// follow reads some samplers until ctx is done. It keeps to one thread, whose processor time is what
// reading costs.
func (s *Series) follow(ctx context.Context, samplers []Sampler, hz float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := time.Now()
	list := make([]*watched, len(samplers))
	period := time.Duration(float64(time.Second) / hz)
	for i, one := range samplers {
		list[i] = &watched{Sampler: one, period: period, most: hz, coverage: Coverage{Rate: hz}}
		if s, ok := one.(slow); ok {
			list[i].most = min(hz, s.hz)
		}
	}
	next := time.NewTimer(0)
	defer next.Stop()
	<-next.C
	for ctx.Err() == nil {
		now := time.Now()
		for _, w := range list {
			// A tick may come early by its jitter; half a period is late enough.
			if w.coverage.Absent == "" && ctx.Err() == nil && now.Add(period/2).After(w.next) {
				w.once(ctx, s)
				w.next = now.Add(w.period)
			}
		}
		settle(list, time.Since(begun))
		// At multiples of the period, as everything else that looks at regular times: what wakes up at one
		// moment wakes the processor once.
		now = time.Now()
		next.Reset(now.Truncate(period).Add(period).Sub(now))
		select {
		case <-next.C:
		case <-ctx.Done():
		}
	}
	// A last read, so that the end of the trial is on record, and so is a trial shorter than a tick.
	final, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	for _, w := range list {
		if w.coverage.Absent == "" && w.primed && time.Since(w.last) > shortest {
			w.once(final, s)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range list {
		if err := w.Close(); err != nil && w.coverage.Miss == "" {
			w.coverage.Miss = err.Error()
		}
		w.coverage.Source = w.Source()
		s.coverage = append(s.coverage, w.coverage)
	}
}

// once reads a sampler and keeps its account.
func (w *watched) once(ctx context.Context, s *Series) {
	before := threadTime()
	w.last = time.Now()
	at := time.Since(s.began)
	emit := func(name, object string, value float64) {
		s.Add(Reading{at, name, object, value})
	}
	if !w.primed {
		emit = func(string, string, float64) {}
	}
	err := w.Read(ctx, emit)
	cost := threadTime() - before
	switch {
	case errors.Is(err, ErrAbsent):
		w.coverage.Absent = err.Error()
	case err != nil && ctx.Err() == nil:
		w.coverage.Misses++
		w.coverage.Miss = err.Error()
	case w.primed:
		w.coverage.Reads++
	}
	w.coverage.Cost += cost
	if w.primed {
		w.cost += (cost - w.cost) / 4
	} else {
		// The first read opens, allocates, faults and looks at every process of the machine: whether the
		// source is too dear is for the second to say.
		w.first = cost
		w.cost = min(cost/2, burst)
	}
	w.primed = true
}

// threadTime is the processor time of this thread.
func threadTime() time.Duration {
	return time.Duration(clockNS(unix.CLOCK_THREAD_CPUTIME_ID))
}

// settle sets how often each sampler is read from what its reads have cost. What has been spent
// beyond the budget, because reads were dearer than the ones before, is saved over the next seconds.
func settle(list []*watched, elapsed time.Duration) {
	costs, most := make([]time.Duration, len(list)), make([]float64, len(list))
	var spent time.Duration
	for i, w := range list {
		most[i] = w.most
		// What is read seldom, and what is absent, takes no part.
		if w.coverage.Absent == "" && w.cost <= burst {
			costs[i] = w.cost
			spent += w.coverage.Cost - w.first
		}
	}
	left := budget + (budget*elapsed.Seconds()-spent.Seconds())/repay.Seconds()
	for i, rate := range affordable(costs, most, min(max(left, budget/8), budget)) {
		w := list[i]
		w.coverage.Rate = rate
		w.period = time.Duration(float64(time.Second) / rate)
		if w.cost > burst {
			w.coverage.Rate = 1 / seldom.Seconds()
			w.period = seldom
		}
	}
}

// affordable is how often a second each of several reads can be done so that together they take no
// more than a share of one core: cheap ones as often as asked, and what they leave is divided equally
// among the dear ones. hz is how often each is asked for.
func affordable(costs []time.Duration, hz []float64, share float64) []float64 {
	order := make([]int, len(costs))
	for i := range order {
		order[i] = i
	}
	spends := func(i int) float64 { return hz[i] * costs[i].Seconds() }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(spends(a), spends(b)) })
	rates := make([]float64, len(costs))
	for k, i := range order {
		rates[i] = hz[i]
		seconds := costs[i].Seconds()
		if part := share / float64(len(order)-k); spends(i) > part {
			rates[i] = part / seconds
		}
		share -= rates[i] * seconds
	}
	return rates
}
