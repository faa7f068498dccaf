package telemetry

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// counting reads one reading a time and says how often it was asked.
type counting struct {
	n      int
	err    error
	closed bool
}

func (c *counting) Source() string { return "counting" }
func (c *counting) Close() error   { c.closed = true; return nil }
func (c *counting) Read(_ context.Context, emit Emit) error {
	c.n++
	emit("n", `odd, "object"`, float64(c.n))
	return c.err
}

func TestWatchDropsTheFirstReadAndWritesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink bytes.Buffer
		c := &counting{}
		gone := &counting{err: fmt.Errorf("nowhere: %w", ErrAbsent)}
		s, err := Watch{Samplers: []Sampler{c, gone}, Hz: 10, Sink: &sink}.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(1050 * time.Millisecond)
		w := s.Window("n", `odd, "object"`, 500*time.Millisecond)
		coverage, err := s.Stop()
		if err != nil {
			t.Fatal(err)
		}
		if c.n < 10 || c.n > 12 || !c.closed {
			t.Errorf("read %d times in 1.05 s at 10/s, closed %t", c.n, c.closed)
		}
		if len(w) < 4 || len(w) > 6 {
			t.Errorf("Window(500ms) = %v, want about five readings", w)
		}
		if gone.n != 1 || coverage[1].Absent == "" {
			t.Errorf("absent source was read %d times, coverage %v", gone.n, coverage[1])
		}
		rows, err := csv.NewReader(&sink).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != c.n || strings.Join(rows[0], ",")+"\n" != Header {
			t.Fatalf("%d rows with the header, want %d: %v", len(rows), c.n, rows)
		}
		for i, row := range rows[1:] {
			if row[2] != `odd, "object"` || row[3] != strconv.Itoa(i+2) {
				t.Errorf("row %d = %q, want object and value %d", i, row, i+2)
			}
		}
	})
}

func TestWatchRefusesOtherRates(t *testing.T) {
	for _, hz := range []float64{0.5, 21, -1, math.NaN()} {
		if s, err := (Watch{Hz: hz}).Start(t.Context()); err == nil {
			s.Stop()
			t.Errorf("Watch at %g/s was not refused", hz)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWatchSaysThatItsSinkIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Watch{Samplers: []Sampler{&counting{}}, Sink: full{}}.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		if _, err := s.Stop(); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("Stop() = %v, want the sink's error", err)
		}
	})
}

func TestSeriesForgetsWhatItNeedNotKeep(t *testing.T) {
	s := newSeries(time.Now(), time.Second, nil)
	for i := range 10_000 {
		s.Add(Reading{time.Duration(i) * 100 * time.Millisecond, "n", "", float64(i)})
	}
	if n := len(s.recent[seriesKey{"n", ""}]); n > 64 {
		t.Errorf("%d readings kept of 10/s for 1 s", n)
	}
	if r, ok := s.Latest("n", ""); !ok || r.Value != 9999 {
		t.Errorf("Latest = %v, %t, want the last", r, ok)
	}
	if _, ok := s.Latest("m", ""); ok {
		t.Error("Latest of nothing was something")
	}
}

func TestAffordable(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		costs []time.Duration
		want  []float64
	}{
		{nil, nil},
		{[]time.Duration{0, 0}, []float64{10, 10}},
		{[]time.Duration{ms / 10, ms / 10}, []float64{10, 10}},
		{[]time.Duration{10 * ms}, []float64{1}},
		{[]time.Duration{20 * ms, ms / 10}, []float64{0.45, 10}},
		{[]time.Duration{10 * ms, 5 * ms}, []float64{0.5, 1}},
	} {
		hz := make([]float64, len(c.costs))
		for i := range hz {
			hz[i] = 10
		}
		got := affordable(c.costs, hz, 0.010)
		var spent float64
		for i := range got {
			spent += got[i] * c.costs[i].Seconds()
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("affordable(%v) = %v, want %v", c.costs, got, c.want)
			}
		}
		if spent > 0.010+1e-12 {
			t.Errorf("affordable(%v) = %v spends %g, more than 0.01", c.costs, got, spent)
		}
	}
}

// TestWatchSeesARealProcess: a shell that spins in a child of its own, and one that sleeps.
func TestWatchSeesARealProcess(t *testing.T) {
	cmd := exec.Command("sh", "-c", "(while :; do :; done) & sleep 60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Wait() })
	objects := func() []Object { return []Object{{Name: "api", PID: cmd.Process.Pid}} }
	trees := &Trees{Objects: objects}
	t.Cleanup(func() { killTree(t, cmd.Process.Pid) })
	time.Sleep(2 * forkAge) // until the shell has started its child
	s, err := Watch{Samplers: Local(objects), Hz: 20}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if list, err := trees.processes(); err != nil || len(list) != 1 || len(list[0].pids) != 3 {
		t.Errorf("processes() = %v, %v, want a tree of three", list, err)
	}
	coverage, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, object string
		low, high    float64
	}{
		{"cpu", "api", 0.01, 1.3}, {"threads", "api", 3, 3}, {"processes", "api", 3, 3}, {"files", "api", 1, 100},
		{"rss", "api", 100 << 10, 100 << 20}, {"rss_anon", "api", 1, 50 << 20}, {"pss", "api", 1, 100 << 20},
		{"runnable", "api", 0, 2}, {"established", "api", 0, 0}, {"ctx_switches", "api", 0, 1e6},
		{"cpu_idle", "", 0, 1}, {"load1", "", 0, 1e6}, {"mem_free", "", 1 << 20, 1 << 50}, {"ctx_switches", "machine", 1, 1e9},
	} {
		w := s.Window(c.name, c.object, time.Minute)
		if len(w) == 0 {
			t.Errorf("no reading %s(%s); coverage %v", c.name, c.object, coverage)
			continue
		}
		mean, _ := reduce("mean", Values(w))
		if mean < c.low || mean > c.high {
			t.Errorf("mean(%s(%s)) = %g over %d, want %g..%g", c.name, c.object, mean, len(w), c.low, c.high)
		}
	}
	for _, c := range coverage {
		t.Log(c, "cost", c.Cost)
	}
}

// killTree ends a process and its descendants, the leaves first.
func killTree(t *testing.T, pid int) {
	t.Helper()
	trees := &Trees{Objects: func() []Object { return []Object{{Name: "it", PID: pid}} }}
	list, err := trees.processes()
	if err != nil {
		t.Error(err)
		return
	}
	for _, one := range list {
		for _, p := range one.pids {
			if process, err := os.FindProcess(p); err == nil {
				process.Kill()
			}
		}
	}
}

// TestTreeKeepsOrphans: a daemon that its parent left behind is still the target's.
func TestTreeKeepsOrphans(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 30 & sleep 0.3")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	trees := &Trees{Objects: func() []Object { return []Object{{Name: "api", PID: cmd.Process.Pid}} }}
	var orphans []int
	for range 100 {
		list, err := trees.processes()
		if err != nil {
			t.Fatal(err)
		}
		if orphans = list[0].pids; len(orphans) == 3 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Wait()
	time.Sleep(listAge)
	list, err := trees.processes()
	if err != nil {
		t.Fatal(err)
	}
	if len(list[0].pids) != 1 {
		t.Errorf("after its root has ended, the tree is %v (was %v), want the one that was left", list[0].pids, orphans)
	}
	for _, pid := range list[0].pids {
		if process, err := os.FindProcess(pid); err == nil {
			process.Kill()
		}
	}
}

// TestTreesOfNestedObjectsDoNotOverlap: a generator starts its target, whose memory is not its own;
// and a child that was seen before it was named changes hands.
func TestTreesOfNestedObjectsDoNotOverlap(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 30 & sleep 30")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Wait() })
	t.Cleanup(func() { killTree(t, cmd.Process.Pid) })
	objects := []Object{{Name: Generator, PID: os.Getpid()}}
	trees := &Trees{Objects: func() []Object { return objects }}
	sizes := func() map[string]int {
		time.Sleep(forkAge)
		list, err := trees.processes()
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for _, one := range list {
			n[one.object] = len(one.pids)
		}
		return n
	}
	for range 100 {
		if sizes()[Generator] == 4 {
			break
		}
	}
	if n := sizes(); n[Generator] != 4 {
		t.Errorf("trees = %v, want the generator with three below it", n)
	}
	objects = append(objects, Object{Name: "api", PID: cmd.Process.Pid})
	if n := sizes(); n[Generator] != 1 || n["api"] != 3 {
		t.Errorf("trees = %v, want the generator alone and the target with three", n)
	}
}

// BenchmarkWatch is the cost of one read of every source that a trial is watched by, for a process
// and its watcher.
func BenchmarkWatch(b *testing.B) {
	objects := func() []Object { return []Object{{Name: "api", PID: os.Getpid()}} }
	for _, s := range Local(objects) {
		name, _, _ := strings.Cut(s.Source(), ":")
		if errors.Is(s.Read(b.Context(), func(string, string, float64) {}), ErrAbsent) {
			continue
		}
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				if err := s.Read(b.Context(), func(string, string, float64) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSampler is what watching a target beside a trial takes, as a share of one core and with all
// of it: reading, writing readings down, waking up.
func BenchmarkSampler(b *testing.B) {
	cmd := exec.Command("sh", "-c", "sleep 600 & sleep 600 & wait")
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait()
	defer func() {
		for _, p := range (&Trees{Objects: func() []Object { return []Object{{Name: "api", PID: cmd.Process.Pid}} }}).family(b) {
			syscall.Kill(p, syscall.SIGKILL)
		}
	}()
	objects := func() []Object {
		return []Object{{Name: "api", PID: cmd.Process.Pid}, {Name: Generator, PID: os.Getpid()}}
	}
	var spent, watched time.Duration
	for b.Loop() {
		s, err := Watch{Samplers: Local(objects), Sink: io.Discard}.Start(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		time.Sleep(time.Second) // what starting takes is paid once a trial
		before, began := processorTime(b), time.Now()
		time.Sleep(2 * time.Second)
		spent, watched = spent+processorTime(b)-before, watched+time.Since(began)
		if _, err := s.Stop(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100*spent.Seconds()/watched.Seconds(), "%core")
}

func (t *Trees) family(b *testing.B) (pids []int) {
	list, err := t.processes()
	if err != nil {
		b.Fatal(err)
	}
	for _, one := range list {
		pids = append(pids, one.pids...)
	}
	return pids
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
