package load

import (
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/assaybench/assay/hist"
)

// Generator is the health of the process that sends.
type Generator struct {
	// CPURatio is CPU time over wall time within the window; 1 is one core.
	CPURatio float64 `json:"cpu_ratio"`
	RSS      int64   `json:"rss_bytes"` // at the end of the window

	Cores       int           `json:"-"` // that the process may use
	CPU         time.Duration `json:"-"` // user and system time within the window
	Spun        time.Duration `json:"-"` // of it, what waiting for intended times took
	Hiccups     Quantiles     `json:"-"` // how much too late a 5 ms sleep ended
	GCPause     time.Duration `json:"-"` // longest stop for garbage collection, upper bound
	SchedDelay  time.Duration `json:"-"` // p99 of the time goroutines were ready and did not run
	Descriptors int           `json:"-"` // open at the end
}

// hiccupEvery is the length of the sleeps by which stalls of the whole process are noticed (the
// idea of jHiccup, Tene 2011): whatever holds up a sleeping goroutine held up the senders as well.
const hiccupEvery = 5 * time.Millisecond

// A health watches the own process from the beginning of the window to its end.
type health struct {
	clock clock
	quit  chan struct{}
	wg    sync.WaitGroup
	once  sync.Once

	mu      sync.Mutex
	hiccups hist.Histogram
	begun   usage
	ended   usage
	gauge   Generator
}

// usage is what the process had used at a time.
type usage struct {
	at    time.Duration
	wall  time.Time // without monotonic reading, to compare the two clocks
	cpu   time.Duration
	gc    *metrics.Float64Histogram
	sched *metrics.Float64Histogram
}

const (
	gcMetric    = "/sched/pauses/total/gc:seconds"
	schedMetric = "/sched/latencies:seconds"
)

func takeUsage(c clock) usage {
	readings := []metrics.Sample{{Name: gcMetric}, {Name: schedMetric}}
	metrics.Read(readings)
	u := usage{at: c.now(), wall: time.Now().Round(0), cpu: processCPU()}
	if readings[0].Value.Kind() == metrics.KindFloat64Histogram {
		u.gc = readings[0].Value.Float64Histogram()
	}
	if readings[1].Value.Kind() == metrics.KindFloat64Histogram {
		u.sched = readings[1].Value.Float64Histogram()
	}
	return u
}

// watchHealth watches from the beginning of the window to its end.
func watchHealth(c clock, window time.Duration) *health {
	h := &health{clock: c, quit: make(chan struct{})}
	h.wg.Go(func() {
		h.sleep(-c.now())
		h.mu.Lock()
		h.begun = takeUsage(c)
		h.mu.Unlock()
		for {
			before := c.now()
			if !h.sleep(hiccupEvery) {
				return
			}
			h.mu.Lock()
			h.hiccups.Record(int64(c.now() - before - hiccupEvery))
			h.mu.Unlock()
			if c.now() >= window {
				h.mark()
			}
		}
	})
	return h
}

// sleep reports whether d passed before the watch was stopped.
func (h *health) sleep(d time.Duration) bool {
	t := time.NewTimer(max(0, d))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-h.quit:
		return false
	}
}

// mark ends the stretch that is reported, once.
func (h *health) mark() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended.at != 0 || h.begun.wall.IsZero() {
		return
	}
	h.ended = takeUsage(h.clock)
	h.gauge = Generator{Cores: runtime.GOMAXPROCS(0), RSS: processRSS(), Descriptors: openDescriptors(), Hiccups: quantilesOf(&h.hiccups, 0)}
	h.gauge.CPU = h.ended.cpu - h.begun.cpu
	if wall := h.ended.at - h.begun.at; wall > 0 {
		h.gauge.CPURatio = h.gauge.CPU.Seconds() / wall.Seconds()
	}
	h.gauge.GCPause = quantileBetween(h.begun.gc, h.ended.gc, 1)
	h.gauge.SchedDelay = quantileBetween(h.begun.sched, h.ended.sched, 0.99)
}

// stop ends the watch; the stretch ends now if it has not ended before.
func (h *health) stop() {
	h.once.Do(func() {
		close(h.quit)
		h.wg.Wait()
		h.mark()
	})
}

// clocksApart is by how much the wall clock and the monotonic clock disagree on the stretch.
func (h *health) clocksApart() time.Duration {
	if h.ended.at == 0 {
		return 0
	}
	return (h.ended.wall.Sub(h.begun.wall) - (h.ended.at - h.begun.at)).Abs()
}

// quantileBetween is the upper edge of the bucket in which quantile q of what was counted between
// two readings of a runtime histogram lies; 0 if nothing was counted.
func quantileBetween(before, after *metrics.Float64Histogram, q float64) time.Duration {
	if before == nil || after == nil || len(before.Counts) != len(after.Counts) {
		return 0
	}
	var n uint64
	for i := range after.Counts {
		n += after.Counts[i] - before.Counts[i]
	}
	if n == 0 {
		return 0
	}
	rank, seen := uint64(math.Ceil(q*float64(n))), uint64(0)
	for i := range after.Counts {
		if seen += after.Counts[i] - before.Counts[i]; seen >= rank {
			edge := after.Buckets[i+1]
			if math.IsInf(edge, 1) {
				edge = after.Buckets[i]
			}
			return time.Duration(edge * 1e9)
		}
	}
	return 0
}

// processRSS is the resident memory of the process, in bytes; 0 where /proc does not say.
func processRSS() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// openDescriptors is the number of open files; 0 where /proc does not say.
func openDescriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
