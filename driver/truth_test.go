package driver

import (
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
	"github.com/assaybench/assay/load"
)

// These tests hold whole accounts against what a real server saw.

// drive carries a load out against a URL.
func drive(t *testing.T, l assay.Load, url string) load.Account {
	t.Helper()
	h := assay.HTTPLoad{}
	if l.HTTP != nil {
		h = *l.HTTP
	}
	h.URL = text(url)
	l.HTTP = &h
	p, err := load.NewPlan(l, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := load.Run(t.Context(), p, open(t, l), load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Balance(); err != nil {
		t.Error(err)
	}
	return a
}

func TestTheServersCountIsWhatWasSent(t *testing.T) {
	for _, l := range []assay.Load{
		{Rate: 500, For: 500 * time.Millisecond},
		{Rate: 3000, For: 500 * time.Millisecond, Arrivals: "poisson"},
		{Rate: 2000, For: 300 * time.Millisecond, InFlight: 1},
		{Rate: 2000, For: 300 * time.Millisecond, InFlight: 1, Late: true},
		{Rate: 1000, For: 300 * time.Millisecond, Warmup: 200 * time.Millisecond},
		{Clients: 8, For: 300 * time.Millisecond},
		{Rate: 1000, For: 300 * time.Millisecond, HTTP: &assay.HTTPLoad{Version: "2"}},
		{Rate: 300, For: 300 * time.Millisecond, HTTP: &assay.HTTPLoad{NoKeepAlive: true}},
	} {
		var arrived atomic.Int64
		s := serve(t, behave("ok", &arrived), nil, false)
		a := drive(t, l, s.URL)
		if got := arrived.Load(); got != a.Sent+a.Warmup.Sent || a.OK != a.Sent {
			t.Errorf("%+v: %d arrived, the ledger says %+v and %d in the warm-up", l, got, a.Ledger, a.Warmup.Sent)
		}
		if want := int64(math.Round(l.Rate * l.For.Seconds())); l.Arrivals == "" && l.Clients == 0 && a.Planned != want {
			t.Errorf("%+v: planned %d, want %d", l, a.Planned, want)
		}
	}
}

// A port on which nobody listens refuses every operation, and each stands in the ledger.
func TestADeadTargetIsNotADeadGenerator(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	a := drive(t, assay.Load{Rate: 200, For: 300 * time.Millisecond}, "http://"+l.Addr().String())
	if a.Planned != 60 || a.Errors[load.Refused] != 60 || a.OK != 0 || a.Response.P50 != nil {
		t.Errorf("got %+v", a.Ledger)
	}
}

// A cap of one connection makes operations wait for it. That wait is response time and lag, and not
// service time.
func TestTheWaitForAConnectionIsInTheResponseTime(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { time.Sleep(100 * time.Millisecond) }), nil, false)
	for _, version := range []string{"1.1", "2"} {
		a := drive(t, assay.Load{Rate: 50, For: 400 * time.Millisecond, HTTP: &assay.HTTPLoad{Connections: 1, Streams: 1, Version: version}}, s.URL)
		// Twenty operations, one every 20 ms, served one every 100 ms: the last waits 1.52 s.
		if a.OK != 20 || a.Connections != 1 || *a.Response.Max < int64(1500*time.Millisecond) || *a.Service.P50 > int64(180*time.Millisecond) || *a.Lag.Max < int64(1300*time.Millisecond) {
			t.Errorf("HTTP/%s: got %d ok on %d connections, response max %s, service p50 %s, lag max %s", version, a.OK, a.Connections,
				time.Duration(*a.Response.Max), time.Duration(*a.Service.P50), time.Duration(*a.Lag.Max))
		}
	}
}

// stalling is a server that stands still for 250 ms of every second and keeps, for every request,
// how long it had been due when it answered: the truth on its side. Arrivals are known by their
// index, which is k/rate from the first.
type stalling struct {
	mu    sync.Mutex
	begun time.Time
	took  hist.Histogram
	rate  float64
}

func (s *stalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	s.mu.Lock()
	if s.begun.IsZero() {
		s.begun = time.Now().Add(-time.Duration(float64(k) / s.rate * 1e9))
	}
	begun := s.begun
	s.mu.Unlock()
	if into := time.Since(begun) % time.Second; into > 400*time.Millisecond && into < 650*time.Millisecond {
		time.Sleep(650*time.Millisecond - into)
	}
	io.WriteString(w, "ok")
	due := begun.Add(time.Duration(float64(k) / s.rate * 1e9))
	s.mu.Lock()
	s.took.Record(int64(time.Since(due)))
	s.mu.Unlock()
}

func TestStallsAgreeWithTheServersLog(t *testing.T) {
	for name, h := range map[string]assay.HTTPLoad{"many connections": {}, "one connection": {Connections: 1}} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				s := &stalling{rate: 500}
				server := serve(t, s, nil, false)
				a := drive(t, assay.Load{Rate: s.rate, For: 2 * time.Second, HTTP: &h}, server.URL+"/{operation}")
				if a.OK != 1000 {
					t.Fatalf("got %+v, notes %q", a.Ledger, a.Notes)
				}
				if a.Valid {
					agree(t, a.Histograms["response"], &s.took)
					return
				}
			}
			t.Skip("this machine held up the generator three times; the accounts said so")
		})
	}
}

// agree holds response times against the server's. The margin is wide because tests share the
// machine.
func agree(t *testing.T, got, log *hist.Histogram) {
	t.Helper()
	for _, q := range []float64{0.8, 0.9, 0.95, 0.99, 0.999} {
		g, w := got.Quantile(q), log.Quantile(q)
		if d := math.Abs(float64(g - w)); d > max(0.1*float64(w), 2e7) {
			t.Errorf("p%g: got %s, the server's log says %s", 100*q, time.Duration(g), time.Duration(w))
		}
	}
	if got.Quantile(0.9) < int64(50*time.Millisecond) {
		t.Errorf("p90 is %s: the stall is not in it", time.Duration(got.Quantile(0.9)))
	}
}

// Memory does not grow with the number of operations.
func TestMemoryIsConstantInTheNumberOfOperations(t *testing.T) {
	var arrived atomic.Int64
	s := serve(t, behave("ok", &arrived), nil, false)
	few := heapAfter(t, s.URL, 100*time.Millisecond)
	many := heapAfter(t, s.URL, 2*time.Second)
	if many > few+2<<20 {
		t.Errorf("%d bytes of heap after a short load, %d after one twenty times as long", few, many)
	}
}

func heapAfter(t *testing.T, url string, window time.Duration) uint64 {
	t.Helper()
	a := drive(t, assay.Load{Clients: 4, For: window}, url)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(a)
	return m.HeapAlloc
}

func TestPhasesAddUpToTheServiceTime(t *testing.T) {
	s := serve(t, behave("ok", new(atomic.Int64)), nil, true)
	l := assay.Load{Rate: 100, For: 300 * time.Millisecond, HTTP: &assay.HTTPLoad{URL: text(s.URL), Insecure: true, NoKeepAlive: true}}
	p, err := load.NewPlan(l, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := load.Run(t.Context(), p, open(t, l), load.Options{Phases: true})
	if err != nil || a.OK != 30 {
		t.Fatalf("got %+v, %v", a.Ledger, err)
	}
	sum := int64(0)
	for _, phase := range a.Phases {
		sum += phase.Mean * phase.Operations / a.OK
	}
	for _, name := range []string{"connect", "tls", "wait"} {
		if p := a.Phases[name]; p.Operations != a.OK || p.P50 == nil || p.P99 != nil {
			t.Errorf("phase %s of 30 operations: got %+v, want all of them, a p50 and no p99", name, p)
		}
	}
	mean := a.Histograms["service"].Mean()
	if math.Abs(float64(sum)-mean) > 0.2*mean {
		t.Errorf("phases add up to %d ns, mean service time is %.0f", sum, mean)
	}
}

func TestNoGoroutineOrDescriptorIsLeftBehind(t *testing.T) {
	s := serve(t, behave("ok", new(atomic.Int64)), nil, false)
	descriptors := func() int {
		e, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here")
		}
		return len(e)
	}
	l := assay.Load{Rate: 200, For: 200 * time.Millisecond, HTTP: &assay.HTTPLoad{URL: text(s.URL)}}
	carryOut := func() {
		d, err := New(l, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		p, err := load.NewPlan(l, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := load.Run(t.Context(), p, d, load.Options{Dir: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		s.CloseClientConnections()
	}
	settle := func(count func() int, most int) (got int) {
		for range 100 {
			if got = count(); got <= most {
				return got
			}
			time.Sleep(20 * time.Millisecond)
		}
		return got
	}
	carryOut()
	time.Sleep(50 * time.Millisecond)
	goroutines, files := runtime.NumGoroutine(), descriptors()
	for range 3 {
		carryOut()
	}
	if got := settle(runtime.NumGoroutine, goroutines); got > goroutines {
		t.Errorf("%d goroutines after four loads, %d after one", got, goroutines)
	}
	if got := settle(descriptors, files); got > files {
		t.Errorf("%d descriptors after four loads, %d after one", got, files)
	}
}
