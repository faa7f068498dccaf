package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/stat"
)

// A model answers for a target: what the account of a load at a rate would be.
type model func(l assay.Load, r *rand.Rand, probe int) load.Account

// found carries a search out against a model, on a clock that costs nothing.
func found(t *testing.T, m model, edit func(*findFlags)) report.FoundRate {
	t.Helper()
	f := findFlags{from: "10/s", width: "10%", budget: "80", meets: []string{"p99(response_time) < 50ms"}}
	f.duration, f.timeout, f.warmup, f.inFlight, f.arrivals, f.method = "5s", "10s", "1s", "auto", "constant", "GET"
	if edit != nil {
		edit(&f)
	}
	s, err := f.finder("http://127.0.0.1:1/")
	if err != nil {
		t.Fatal(err)
	}
	s.send = func(_ context.Context, l assay.Load, seed uint64) (load.Account, error) {
		time.Sleep(l.Warmup + l.For)
		return m(l, rand.New(rand.NewPCG(seed, f.seed)), len(s.shots)), nil
	}
	answer, err := s.find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// drawn is the account of a load whose response times are drawn.
func drawn(l assay.Load, times func() time.Duration) load.Account {
	n := int64(l.Rate * l.For.Seconds())
	a := load.Account{Ledger: load.Ledger{Planned: n, Sent: n, OK: n}, Valid: true, CompletedPerS: l.Rate, OfferedPerS: l.Rate, SentPerS: l.Rate}
	var h hist.Histogram
	for range n {
		h.Record(int64(times()))
	}
	a.Histograms = map[string]load.Series{"response": &h, "service": &h, "lag": &h}
	return a
}

// limited serves up to a capacity and falls behind above it.
func limited(capacity float64) model {
	return func(l assay.Load, r *rand.Rand, _ int) load.Account {
		behind := max(0, 1-capacity/l.Rate) * l.For.Seconds()
		a := drawn(l, func() time.Duration {
			return time.Duration((r.ExpFloat64()*0.003 + r.Float64()*behind) * float64(time.Second))
		})
		a.CompletedPerS = min(l.Rate, capacity)
		a.Overload = (l.Rate-capacity)*l.For.Seconds() > 10
		return a
	}
}

func within(f report.FoundRate, truth float64) bool {
	return f.Low != nil && f.High != nil && *f.Low <= truth && truth <= *f.High
}

func TestFindBracketsModels(t *testing.T) {
	if testing.Short() {
		t.Skip("short: make test executes it")
	}
	wide := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		capacity := 15 * math.Exp(5*r.Float64())
		synctest.Test(t, func(t *testing.T) {
			f := found(t, limited(capacity), func(f *findFlags) { f.seed = seed + 1 })
			if !f.Valid || !within(f, capacity) && *f.Low > 1.01*capacity {
				t.Errorf("capacity %.1f: %v to %v (%v, %q)", capacity, *f.Low, *f.High, f.VoidBy, f.Notes)
			}
			if f.High != nil && f.Low != nil && *f.High > 1.1001**f.Low {
				wide++
			}
			if !strings.Contains(strings.Join(f.Binds, " "), "the server completes") {
				t.Errorf("capacity %.1f: nothing binds: %q", capacity, f.Binds)
			}
		})
	}
	if wide > 12 {
		t.Errorf("%d of 60 brackets are wider than asked", wide)
	}
}

// In an M/M/1 queue of mean service time s the response time is exponential with mean s/(1-us), so
// that p99 < bound up to the rate 1/s - ln(100)/bound.
func TestFindOnASmoothCurve(t *testing.T) {
	const service, bound = 0.002, 0.050
	truth := 1/service - math.Log(100)/bound
	right := 0
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			f := found(t, func(l assay.Load, r *rand.Rand, _ int) load.Account {
				mean := service / max(1-l.Rate*service, 0.01)
				return drawn(l, func() time.Duration { return time.Duration(r.ExpFloat64() * mean * 1e9) })
			}, func(f *findFlags) { f.seed = seed })
			if f.Valid && within(f, truth) && math.Abs(*f.Estimate/truth-1) < 0.05 {
				right++
			} else {
				t.Logf("seed %d: %s", seed, textOf(t, f))
			}
		})
	}
	if right < 18 {
		t.Errorf("%d of 20 brackets hold %v", right, truth)
	}
}

// One load in ten is hit by a stall that is not the rate's doing.
func TestFindForgivesBadProbes(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			f := found(t, func(l assay.Load, r *rand.Rand, probe int) load.Account {
				if r.IntN(10) == 0 {
					return drawn(l, func() time.Duration { return time.Duration(r.Float64() * 2e9) })
				}
				return limited(300)(l, r, probe)
			}, func(f *findFlags) { f.seed = seed })
			if f.Low == nil || *f.Low > 303 || f.Valid && *f.High < 297 {
				t.Errorf("seed %d: %s", seed, textOf(t, f))
			}
		})
	}
}

func TestFindSaysWhenTheGeneratorStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := found(t, func(l assay.Load, r *rand.Rand, probe int) load.Account {
			a := limited(1e6)(l, r, probe)
			if l.Rate > 700 {
				a.CompletedPerS = 650
				a.Valid, a.VoidBy, a.Notes = false, []string{"guard:generator"}, []string{"the generator itself was late"}
			}
			return a
		}, nil)
		if f.Valid || f.Low == nil || *f.Low != 640 || f.High != nil || f.VoidBy[0] != "guard:generator" || !strings.Contains(f.Notes[0], "the generator, not the target, stopped at 1280/s") {
			t.Error(textOf(t, f))
		}
	})
}

// A generator that is late can make a rate miss, but not meet.
func TestFindCountsWhatMetThoughLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := found(t, func(l assay.Load, r *rand.Rand, probe int) load.Account {
			a := limited(300)(l, r, probe)
			if a.Overload {
				return a
			}
			a.Valid, a.VoidBy, a.Notes = false, []string{"guard:generator"}, []string{"late"}
			return a
		}, nil)
		if !f.Valid || !within(f, 300) || !strings.Contains(textOf(t, f), "though the generator was late") {
			t.Error(textOf(t, f))
		}
	})
}

func TestFindRepeatsVoidProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := found(t, func(l assay.Load, r *rand.Rand, probe int) load.Account {
			a := limited(300)(l, r, probe)
			if probe%3 == 1 {
				a.Valid, a.VoidBy, a.Notes = false, []string{"guard:delivered"}, []string{"dropped"}
				a.Histograms["response"].Record(1e12) // what it says of the target must not count
			}
			return a
		}, nil)
		if !f.Valid || !within(f, 300) {
			t.Error(textOf(t, f))
		}
	})
}

func TestFindNamesHysteresis(t *testing.T) {
	for _, recovers := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			broken, straight := false, false // an overload as the last load; no pause since
			var ended time.Time
			f := found(t, func(l assay.Load, r *rand.Rand, probe int) load.Account {
				straight = broken && time.Since(ended) < l.Warmup+l.For+time.Millisecond
				capacity := 300.0
				if straight && !recovers {
					capacity = 100
				}
				a := limited(capacity)(l, r, probe)
				broken, ended = a.Overload, time.Now()
				return a
			}, nil)
			if got := strings.Contains(strings.Join(f.Notes, " "), "hysteresis"); got == recovers || !within(f, 300) {
				t.Errorf("recovers %t: %s", recovers, textOf(t, f))
			}
		})
	}
}

func TestFindIsBounded(t *testing.T) {
	for _, test := range []struct {
		name     string
		capacity float64
		edit     func(*findFlags)
		void     string
		low      bool
		high     bool
	}{
		{"probes", 1000, func(f *findFlags) { f.budget = "4" }, "budget", true, false},
		{"time", 1000, func(f *findFlags) { f.budget = "50s" }, "budget", true, true},
		{"to", 1e6, func(f *findFlags) { f.to = "200/s" }, "to", true, false},
		{"from", 0.1, func(f *findFlags) { f.from = "1000/s" }, "from", false, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := found(t, limited(test.capacity), test.edit)
			if f.Valid || len(f.VoidBy) != 1 || f.VoidBy[0] != test.void || (f.Low != nil) != test.low || (f.High != nil) != test.high {
				t.Errorf("%s: %s", test.name, textOf(t, f))
			}
			for _, p := range f.Probes {
				if test.name == "to" && p.Rate > 200 {
					t.Errorf("probe at %v/s above --to 200/s", p.Rate)
				}
			}
		})
	}
}

func textOf(t *testing.T, f report.FoundRate) string {
	t.Helper()
	var b strings.Builder
	if err := report.FindText(&b, f, 160, false, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestObjectives(t *testing.T) {
	for text, wrong := range map[string]string{
		"p99(response_time) < 50ms": "", "median(service_time) <= 1s": "", "errors < 1%": "", "errors == 0": "a condition on", "errors <= 0": "",
		"delivered >= 99%": "", "in_flight < 100": "", "rate > 100/s": "", "mean(response_time) < 5ms": "", "max(lag) < 1ms": "",
		"response_time < 50ms": "statistic", "p99(response_time) > 50ms": "upper bound", "p99(response_time) < 50MB": "held against",
		"rss_peak(api) < 1GiB": "number as the bound", "load1 < 4": "a condition on", "p99(response_time) < 'x'": "text", "errors": "no operator",
	} {
		_, err := newObjective(text)
		if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: got %v, want an error with %q", text, err, wrong)
		}
	}
}

// Operations without a good answer are infinite for every condition on response time.
func TestFailuresMiss(t *testing.T) {
	o, err := newObjective("p99(response_time) < 50ms")
	if err != nil {
		t.Fatal(err)
	}
	a := drawn(assay.Load{Rate: 100, For: 10 * time.Second}, func() time.Duration { return time.Millisecond })
	if r := o.rule(&a); r.says != stat.Confirmed || r.bad != 0 || r.value.Text() != "1 ms" {
		t.Errorf("all ok: %+v", r)
	}
	for name, lose := range map[string]func(*load.Account){
		"dropped":   func(a *load.Account) { a.Dropped, a.Planned = 50, a.Planned+50 },
		"timed out": func(a *load.Account) { a.TimedOut, a.Sent, a.Planned = 50, a.Sent+50, a.Planned+50 },
		"shed": func(a *load.Account) {
			a.Errors, a.Sent, a.Planned = map[load.Class]int64{load.Shed: 50}, a.Sent+50, a.Planned+50
		},
		"in flight": func(a *load.Account) { a.InFlightAtEnd, a.Sent, a.Planned = 50, a.Sent+50, a.Planned+50 },
	} {
		b := a
		lose(&b)
		if r := o.rule(&b); r.says != stat.Refuted || r.bad != 50 || r.value.Text() != "never" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A meter lets requests through at a rate that does not depend on the machine: each leaves at the
// next free moment of a grid.
type meter struct {
	every time.Duration
	mu    sync.Mutex
	next  time.Time
	// served is the requests, late those that left long after their moment: too many of these, and the
	// machine, not the meter, was the limit.
	served, late int
}

// heldUp is the share of requests that the machine kept beyond their moment, if it is more than a
// hundredth: there is then no capacity to be found.
func (m *meter) heldUp() (share float64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	share = float64(m.late) / float64(max(m.served, 1))
	return share, share > 0.01
}

func (m *meter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	at := m.next
	if now := time.Now(); at.Before(now) {
		at = now
	}
	m.next = at.Add(m.every)
	m.mu.Unlock()
	time.Sleep(time.Until(at))
	m.mu.Lock()
	m.served++
	if time.Since(at) > 20*time.Millisecond {
		m.late++
	}
	m.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// TestFindOnRateLimitedServers finds the capacity of real servers. ASSAY_TEST_FINDS=10 does it ten
// times, two at a time, with longer loads; each takes a minute or more on a quiet machine, and says in
// one line what it found. By a model of such a server, loads of 2 s hold its capacity in 91% of the
// brackets, and to within a hundredth in all of them; loads of 3 s in 95%, and take a third longer: what
// is half a per cent too much for a target shows in a queue only after tens of seconds.
func TestFindOnRateLimitedServers(t *testing.T) {
	if testing.Short() {
		t.Skip("short: make test executes it")
	}
	n, err := strconv.Atoi(os.Getenv("ASSAY_TEST_FINDS"))
	if err != nil {
		// One brief search: a load of a second cannot tell a rate from one that is 6% lower.
		findLimited(t, 0, "1s", "15s", 0.06)
		return
	}
	for i := range n {
		t.Run(strconv.Itoa(i+1), func(t *testing.T) {
			t.Parallel()
			findLimited(t, i, "2s", "60,30m", 0.01)
		})
	}
}

// findLimited finds the capacity of the nth server. Both ends of the bracket may be off by that share.
func findLimited(t *testing.T, n int, length, budget string, off float64) {
	r := rand.New(rand.NewPCG(uint64(n), 9))
	capacity := 150 + 350*r.Float64()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limit := &meter{every: time.Duration(float64(time.Second) / capacity)}
	server := &http.Server{Handler: limit}
	go server.Serve(l)
	defer server.Close()
	begun := time.Now()
	var out, progress strings.Builder
	code := Main([]string{"find", "http://" + l.Addr().String() + "/", "--meets", "p90(response_time) < 100ms", "--meets", "errors < 5%",
		"--for", length, "--warmup", "200ms", "--timeout", "2s", "--from", "80/s", "--budget", budget, "--json"}, nil, &out, &progress)
	var f report.FoundRate
	if err := json.Unmarshal([]byte(out.String()), &f); err != nil {
		t.Fatalf("%v: %s%s", err, out.String(), progress.String())
	}
	holds := f.Low != nil && *f.Low <= (1+off)*capacity && (f.High == nil || *f.High >= (1-off)*capacity)
	if length != "1s" {
		holds = holds && f.High != nil && *f.High <= 1.1001**f.Low
	}
	t.Logf("capacity %.1f/s: %s; %d loads, %d void, in %.0f s; exit status %d", capacity, bracketText(f), len(f.Probes), voidLoads(f), time.Since(begun).Seconds(), code)
	if share, ok := limit.heldUp(); ok && !holds {
		t.Skipf("the machine held %.0f%% of the server's own answers up by 20 ms and more: its capacity was not %.1f/s", 100*share, capacity)
	}
	if !holds {
		t.Errorf("capacity %.1f is not in the bracket, or the bracket is wider than 10%%:\n%s", capacity, textOf(t, f))
	}
	if code == 0 && f.High == nil || code != 0 && code != 3 || (code == 0) != f.Valid {
		t.Errorf("exit status %d", code)
	}
}

func bracketText(f report.FoundRate) string {
	if f.Low == nil || f.High == nil {
		return "no bracket"
	}
	return fmt.Sprintf("bracket %.1f to %.1f, %.1f%% wide", *f.Low, *f.High, 100*(*f.High / *f.Low - 1))
}

func voidLoads(f report.FoundRate) (n int) {
	for _, p := range f.Probes {
		if len(p.VoidBy) > 0 {
			n++
		}
	}
	return n
}
