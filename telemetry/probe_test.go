package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assaybench/assay"
)

// A stalling prober answers after a time that depends on how often it was asked.
type stalling struct {
	asked atomic.Int64
	takes func(n int) time.Duration
	fails func(n int) bool
}

func (p *stalling) Probe(ctx context.Context) (time.Duration, error) {
	n := int(p.asked.Add(1))
	d := p.takes(n)
	if err := sleep(ctx, d); err != nil {
		return d, err
	}
	if p.fails != nil && p.fails(n) {
		return d, errors.New("connection refused")
	}
	return d, nil
}

func (*stalling) Close() error { return nil }

func watchProbe(t *testing.T, p Prober, rate float64) *Series {
	t.Helper()
	s, err := Watch{Probes: []Bystander{{Name: "share", Prober: p, Rate: rate, Timeout: time.Minute}}, Hz: 1}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestProbesComeAtTheirRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &stalling{takes: func(int) time.Duration { return 3 * time.Millisecond }}
		s := watchProbe(t, p, 5)
		time.Sleep(10*time.Second + 100*time.Millisecond)
		w := s.Window("rtt", "share", 5*time.Second)
		if pending := s.Pending("share"); len(pending) != 0 {
			t.Errorf("Pending = %v between probes", pending)
		}
		if p.asked.Load() != 51 || len(w) != 25 {
			t.Errorf("probed %d times in 10.1 s at 5/s, %d in the last 5 s, want 51 and 25", p.asked.Load(), len(w))
		}
		for _, r := range w {
			if r.Value != 3e6 {
				t.Errorf("rtt = %g ns, want 3e6", r.Value)
			}
		}
		s.Stop()
	})
}

// TestStalledProbeCountsAsAllThatWereDue: a stall of 2 s at 5/s is ten slow probes and not one, of
// which one was sent.
func TestStalledProbeCountsAsAllThatWereDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &stalling{takes: func(n int) time.Duration {
			if n == 11 {
				return 2 * time.Second
			}
			return time.Millisecond
		}}
		s := watchProbe(t, p, 5)
		time.Sleep(3 * time.Second) // one second into the stall
		pending := s.Pending("share")
		if len(pending) != 5 || pending[0] != 2*time.Second || pending[4] != 2800*time.Millisecond {
			t.Errorf("Pending = %v one second into a stall, want those due at 2 s, 2.2 s … 2.8 s", pending)
		}
		if _, ok := s.Latest("rtt", "share"); !ok || p.asked.Load() != 11 {
			t.Errorf("asked %d times, want 11: no more while one is under way", p.asked.Load())
		}
		time.Sleep(1100 * time.Millisecond)
		w := s.Window("rtt", "share", 150*time.Millisecond)
		if len(w) < 10 || w[0].Value != 2e9 || w[9].Value != 200e6 {
			t.Errorf("after the stall: %v, want 2 s, 1.8 s … 0.2 s", w)
		}
		s.Stop()
	})
}

// TestFailedProbeIsNotAFastOne: a refused connection answers at once.
func TestFailedProbeIsNotAFastOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &stalling{takes: func(int) time.Duration { return time.Millisecond }, fails: func(n int) bool { return n > 3 }}
		s := watchProbe(t, p, 5)
		time.Sleep(time.Second)
		r, ok := s.Latest("rtt", "share")
		e, _ := s.Latest("probe_errors", "share")
		if !ok || r.Value != float64(time.Minute) || e.Value != 2 {
			t.Errorf("rtt = %v, errors = %v, want the timeout and 2", r, e)
		}
		coverage, err := s.Stop()
		if err != nil || !strings.Contains(fmt.Sprint(coverage), "connection refused") {
			t.Errorf("Stop() = %v, %v, want the failure named", coverage, err)
		}
	})
}

// TestProbeThatCannotBeCancelled: a read from a share that is gone sits in the kernel.
func TestProbeThatCannotBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := &limited{Prober: blocked(release), timeout: time.Second}
		for range 3 {
			start := time.Now()
			if _, err := p.Probe(t.Context()); err == nil || time.Since(start) != time.Second {
				t.Errorf("Probe() = %v after %v, want an error after 1s", err, time.Since(start))
			}
		}
		close(release)
		time.Sleep(time.Millisecond)
		if _, err := p.Probe(t.Context()); err != nil {
			t.Errorf("Probe() when the share is back = %v", err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
}

type blocked chan struct{}

func (b blocked) Probe(context.Context) (time.Duration, error) { <-b; return 0, nil }
func (blocked) Close() error                                   { return nil }

func TestProbersOfEachKind(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{100, 64 << 10, 1<<20 + 17} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(size)), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, "ok")
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	for _, c := range []struct {
		probe assay.Probe
		ok    bool
	}{
		{assay.Probe{Read: dir + "/*"}, true},
		{assay.Probe{Read: dir + "/*", Bytes: 5000}, true},
		{assay.Probe{HTTP: server.URL}, true},
		{assay.Probe{TCP: address}, true},
		{assay.Probe{HTTP: server.URL + "/bad"}, false},
		{assay.Probe{TCP: nobody}, false},
	} {
		p, err := NewProber(c.probe)
		if err != nil {
			t.Fatalf("NewProber(%+v): %v", c.probe, err)
		}
		for range 5 {
			took, err := p.Probe(t.Context())
			if (err == nil) != c.ok || c.ok && (took <= 0 || took > 10*time.Second) {
				t.Errorf("Probe of %+v = %v, %v, want ok %t", c.probe, took, err, c.ok)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []assay.Probe{{}, {Read: dir + "/none*"}, {HTTP: "localhost"}} {
		if _, err := NewProber(p); err == nil {
			t.Errorf("NewProber(%+v) gave no error", p)
		}
	}
}

// TestReadProbeLeavesTheCacheAlone: a bystander that warmed what it reads would measure itself.
func TestReadProbeLeavesTheCacheAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cold")
	if err := os.WriteFile(path, make([]byte, 8<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if e, err := Evict([]string{path}); err != nil || e.After.Ratio() > 0.01 {
		t.Skipf("skipped: cannot evict here: %v %s", err, e.Text())
	}
	p, err := NewProber(assay.Probe{Read: path})
	if err != nil {
		t.Fatal(err)
	}
	inner := p.(*limited).Prober.(*readProber)
	for _, direct := range []bool{true, false} {
		inner.direct = direct
		for range 10 {
			if took, err := p.Probe(t.Context()); err != nil || took < time.Microsecond {
				t.Fatalf("Probe() = %v, %v", took, err)
			}
		}
		if r, err := Resident(path); err != nil || r > 0.01 {
			t.Errorf("after ten probes, direct %t, %.1f%% is resident (%v)", direct, 100*r, err)
		}
	}
}

func TestGaugeProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := Gauge{Probers: map[string]Prober{"share": &stalling{takes: func(n int) time.Duration { return time.Duration(n) * time.Millisecond }}}}
		for measure, want := range map[string]float64{"rtt(share)": 3e6, "max(rtt(share))": 10e6, "mean(rtt(share))": 13e6} {
			g.Probers["share"].(*stalling).asked.Store(map[string]int64{"rtt(share)": 0, "max(rtt(share))": 5, "mean(rtt(share))": 10}[measure])
			if v, err := g.Read(t.Context(), ref(t, measure)); err != nil || v.Number != want {
				t.Errorf("Read(%s) = %v, %v, want %g", measure, v, err, want)
			}
		}
	})
}
