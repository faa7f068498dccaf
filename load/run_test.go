package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
	"github.com/parquet-go/parquet-go"
)

// A station is a model of a service on the clock of the test: a number of slots, each held for the
// service time; who finds none waits in order. It keeps the times of what arrived, which is the
// truth that accounts are held against.
type station struct {
	slots   chan struct{}
	service func(index int64) time.Duration
	fails   func(index int64) error
	frozen  func(since time.Duration) time.Duration // how long until it is thawed

	mu      sync.Mutex
	begun   time.Time
	arrived []time.Duration
	took    []time.Duration
}

func newStation(slots int, service time.Duration) *station {
	return &station{slots: make(chan struct{}, slots), service: func(int64) time.Duration { return service }, begun: time.Now()}
}

func (s *station) Do(ctx context.Context, op *Operation) error {
	begun := time.Now()
	s.mu.Lock()
	s.arrived = append(s.arrived, begun.Sub(s.begun))
	s.mu.Unlock()
	ctx, cancel := context.WithDeadline(ctx, op.Deadline())
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	wait := s.service(op.Index)
	if s.frozen != nil {
		wait += s.frozen(time.Since(s.begun))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	s.took = append(s.took, time.Since(begun))
	s.mu.Unlock()
	if s.fails != nil {
		return s.fails(op.Index)
	}
	return nil
}

func (s *station) Connections() Connections {
	return Connections{Peak: cap(s.slots), Opened: cap(s.slots)}
}
func (s *station) Close() error { return nil }

// account carries a load out against a station on the test's clock. Every account must balance.
func account(t *testing.T, l assay.Load, s *station, o Options) Account {
	t.Helper()
	return accountUntil(t, t.Context(), l, s, o)
}

func accountUntil(t *testing.T, ctx context.Context, l assay.Load, s *station, o Options) Account {
	t.Helper()
	p, err := NewPlan(l, 1)
	if err != nil {
		t.Fatal(err)
	}
	p.plainPacing = true
	a, err := Run(ctx, p, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Balance(); err != nil {
		t.Error(err)
	}
	var sum Ledger
	for i, second := range a.Seconds {
		if err := second.Balance(); err != nil {
			t.Errorf("second %d: %v", i, err)
		}
		sum.Planned += second.Planned
		sum.Sent += second.Sent
		sum.OK += second.OK
	}
	if sum.Planned != a.Planned || sum.Sent != a.Sent || sum.OK != a.OK {
		t.Errorf("the seconds add up to planned %d, sent %d, ok %d; the ledger says %d, %d, %d", sum.Planned, sum.Sent, sum.OK, a.Planned, a.Sent, a.OK)
	}
	if got := int64(len(s.arrived)); got != a.Sent+a.Warmup.Sent {
		t.Errorf("%d operations arrived, the ledger says that %d + %d were sent", got, a.Sent, a.Warmup.Sent)
	}
	return a
}

func near(got *int64, want time.Duration, share float64) bool {
	return got != nil && math.Abs(float64(*got)-float64(want)) <= max(share*float64(want), float64(time.Millisecond))
}

func noted(a Account, text string) bool {
	return slices.ContainsFunc(a.Notes, func(n string) bool { return strings.Contains(n, text) })
}

func TestOpenLoopSendsAtIntendedTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(100, 2*time.Millisecond)
		a := account(t, assay.Load{Rate: 1000, For: 2 * time.Second}, s, Options{})
		if a.Planned != 2000 || a.OK != 2000 || !a.Valid || a.Overload {
			t.Fatalf("got %+v", a.Ledger)
		}
		for k, at := range s.arrived {
			if want := headStart + time.Duration(k)*time.Millisecond; at != want {
				t.Fatalf("operation %d arrived at %s, want %s", k, at, want)
			}
		}
		if a.OfferedPerS != 1000 || a.SentPerS != 1000 || a.CompletedPerS < 998 || a.InFlightMean < 1.9 || a.InFlightMean > 2.1 {
			t.Errorf("got offered %g, sent %g, completed %g, in flight %g; want 1000, 1000, 999, 2", a.OfferedPerS, a.SentPerS, a.CompletedPerS, a.InFlightMean)
		}
		if !near(a.Response.P99, 2*time.Millisecond, 0.001) || a.Lag.Max == nil || *a.Lag.Max != 0 {
			t.Errorf("got response %v, lag %v", a.Response, a.Lag)
		}
	})
}

// Ten slots of 100 ms serve 100/s. At 150/s for 20 s the last of 3,000 operations waits 10 s.
func TestOverloadIsAFindingAndNotACleanQuantile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(10, 100*time.Millisecond)
		a := account(t, assay.Load{Rate: 150, For: 20 * time.Second}, s, Options{})
		if a.Sent != 3000 || a.OK != 3000 || !a.Valid || !a.Overload {
			t.Fatalf("got %+v, valid %t, overload %t, notes %v", a.Ledger, a.Valid, a.Overload, a.Notes)
		}
		if !near(a.Response.P50, 5100*time.Millisecond, 0.03) || !near(a.Response.P99, 10*time.Second, 0.03) {
			t.Errorf("got p50 %d, p99 %d; want 5.1 s and 10.0 s", *a.Response.P50, *a.Response.P99)
		}
		if !noted(a, "the server completes 100/s of the 150/s offered; response time grows without bound") {
			t.Errorf("got notes %q", a.Notes)
		}
		// 50 more are in flight each second, on top of those that are served.
		if a.InFlightMean < 495 || a.InFlightMean > 520 {
			t.Errorf("got %g in flight within the window, want 505", a.InFlightMean)
		}
		var took time.Duration
		for _, d := range s.took {
			took += d
		}
		if math.Abs(float64(a.InFlightSum-took)) > 1e-6*float64(took) {
			t.Errorf("in flight over time is %s, the response times add up to %s", a.InFlightSum, took)
		}
	})
}

// A server that stands still for half a second every five must show in the quantiles as it does in
// its own log, whether the generator has one slot or many.
func TestStallsShowFromTheIntendedTime(t *testing.T) {
	for _, c := range []struct {
		name string
		load assay.Load
	}{
		{"many slots", assay.Load{Rate: 1000, For: 20 * time.Second}},
		{"one slot, late", assay.Load{Rate: 1000, For: 20 * time.Second, InFlight: 1, Late: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStation(1000, 100*time.Microsecond)
				s.frozen = func(at time.Duration) time.Duration {
					if into := at % (5 * time.Second); into < 500*time.Millisecond {
						return 500*time.Millisecond - into
					}
					return 0
				}
				a := account(t, c.load, s, Options{})
				// Of 5,000 operations 500 meet the freeze and wait for its rest.
				for _, want := range []struct {
					got  *int64
					time time.Duration
				}{{a.Response.P50, 100 * time.Microsecond}, {a.Response.P95, 250 * time.Millisecond}, {a.Response.P99, 450 * time.Millisecond}, {a.Response.P999, 495 * time.Millisecond}} {
					if share := 0.03; c.load.Late {
						// One slot needs another 55 ms to send what has piled up.
						if want.got == nil || *want.got < int64(float64(want.time)*(1-share)) || *want.got > int64(want.time)+int64(60*time.Millisecond) {
							t.Errorf("got %v, want %s to 60 ms more", deref(want.got), want.time)
						}
					} else if !near(want.got, want.time, share) {
						t.Errorf("got %v, want %s", deref(want.got), want.time)
					}
				}
				if c.load.Late && (a.Service.P95 == nil || *a.Service.P95 > int64(time.Millisecond) || *a.Lag.P95 < int64(200*time.Millisecond)) {
					t.Errorf("one slot: got service p95 %v and lag p95 %v; want the wait in the lag", deref(a.Service.P95), deref(a.Lag.P95))
				}
				if !a.Valid {
					t.Errorf("void by %v", a.VoidBy)
				}
			})
		})
	}
}

func deref(v *int64) any {
	if v == nil {
		return "nothing"
	}
	return time.Duration(*v)
}

// 10/s on one slot of 500 ms: the arrivals that find no slot are dropped, exactly those.
func TestDropsAreCountedAndVoidTheTrialIfTheBoundIsTheGenerators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(100, 450*time.Millisecond)
		a := account(t, assay.Load{Rate: 10, For: 10 * time.Second, InFlight: 1}, s, Options{})
		if a.Planned != 100 || a.Sent != 20 || a.Dropped != 80 || a.OK != 20 {
			t.Errorf("got %+v, want 20 of 100 sent and 80 dropped", a.Ledger)
		}
		if a.Valid || !slices.Equal(a.VoidBy, []string{"guard:delivered"}) || !noted(a, "2/s of the 10/s offered were sent") || !noted(a, "raise in_flight") {
			t.Errorf("got valid %t by %v, notes %q", a.Valid, a.VoidBy, a.Notes)
		}
		if a.ResponseAll.P50 != nil {
			t.Errorf("got response_all p50 %s; four of five never had an answer", deref(a.ResponseAll.P50))
		}
	})
}

// The same bound set high enough by rate x timeout makes drops impossible: what is lost times out,
// and that is the target's doing.
func TestTimeoutsOfADeadTargetAreAMissAndNoVoid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(1, time.Hour)
		a := account(t, assay.Load{Rate: 10, For: 10 * time.Second, Timeout: 2 * time.Second}, s, Options{})
		if a.TimedOut != 100 || a.Dropped != 0 || !a.Valid || !a.Overload || a.Response.P50 != nil || a.ResponseAll.P50 != nil {
			t.Errorf("got %+v valid %t overload %t by %v", a.Ledger, a.Valid, a.Overload, a.VoidBy)
		}
	})
}

func TestLateArrivalsAreSentAndTheirLagCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(100, 500*time.Millisecond)
		a := account(t, assay.Load{Rate: 10, For: 800 * time.Millisecond, InFlight: 1, Late: true}, s, Options{})
		// Eight operations on one slot: the k-th starts at 0.5 k and was due at 0.1 k.
		if a.Sent != 8 || a.Dropped != 0 || *a.Response.Max != int64(3300*time.Millisecond) || *a.Service.Max != int64(500*time.Millisecond) || *a.Lag.Max != int64(2800*time.Millisecond) {
			t.Errorf("got sent %d, response max %s, service max %s, lag max %s; want 8, 3.3s, 500ms, 2.8s", a.Sent, deref(a.Response.Max), deref(a.Service.Max), deref(a.Lag.Max))
		}
		if a.InFlightSum != 4*time.Second {
			t.Errorf("got %s in flight, want eight times 500 ms: what waits for a slot is not in flight", a.InFlightSum)
		}
		if !a.Valid {
			t.Errorf("void by %v: waiting for a slot is not the generator's lag", a.VoidBy)
		}
	})
}

func TestFailuresNeverImproveAQuantile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(1000, 10*time.Millisecond)
		s.fails = func(i int64) error {
			if i%10 < 7 {
				return Fail(Shed, errors.New("status 429"))
			}
			return nil
		}
		a := account(t, assay.Load{Rate: 1000, For: 2 * time.Second}, s, Options{})
		if a.OK != 600 || a.Errors[Shed] != 1400 || len(a.Errors) != 1 {
			t.Errorf("got %+v, want 600 ok and 1,400 shed", a.Ledger)
		}
		if !near(a.Response.P95, 10*time.Millisecond, 0.01) || a.ResponseAll.P50 != nil || a.ResponseAll.Max != nil {
			t.Errorf("got response %v and response_all %v; want 10 ms, and infinity from p30 up", deref(a.Response.P95), deref(a.ResponseAll.P50))
		}
		if got := a.Histograms["failed"].Count(); got != 1400 {
			t.Errorf("got %d times of failed operations, want 1,400 apart from the others", got)
		}
	})
}

func TestClosedLoopKeepsClientsBusyAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(3, 10*time.Millisecond)
		a := account(t, assay.Load{Clients: 3, Think: 10 * time.Millisecond, For: time.Second}, s, Options{})
		if a.OK != 150 || a.Planned != 150 || !a.Closed || !noted(a, "closed loop of 3 clients") || !a.Valid {
			t.Errorf("got %+v, notes %q", a.Ledger, a.Notes)
		}
		if a.InFlightMean < 1.4 || a.InFlightMean > 1.6 {
			t.Errorf("got %g in flight, want 1.5", a.InFlightMean)
		}
	})
}

func TestWarmupIsSentBeforeTheWindowAndNotCounted(t *testing.T) {
	for _, l := range []assay.Load{{Rate: 100, For: 2 * time.Second, Warmup: time.Second}, {Clients: 1, For: 2 * time.Second, Warmup: time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			s := newStation(10, 10*time.Millisecond)
			s.service = func(i int64) time.Duration {
				if i < 100 {
					return 9 * time.Millisecond // the cold ones
				}
				return 10 * time.Millisecond
			}
			a := account(t, l, s, Options{})
			if a.Warmup.Sent < 100 || a.Warmup.Sent > 112 || a.Planned != 200 || a.Warmup.OK != a.Warmup.Sent {
				t.Errorf("got %d in the warm-up and %d in the window, want 100 and 200", a.Warmup.Sent, a.Planned)
			}
			if err := a.Warmup.Balance(); err != nil {
				t.Error(err)
			}
			if l.Clients == 0 && *a.Response.P50 < int64(9500*time.Microsecond) {
				t.Errorf("got p50 %s: the warm-up is in it", deref(a.Response.P50))
			}
		})
	}
}

func TestStoppingCancelsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(100, 100*time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second+headStart+50*time.Microsecond, cancel)
		begun := time.Now()
		a := accountUntil(t, ctx, assay.Load{Rate: 100, For: 10 * time.Second}, s, Options{})
		if a.Planned != 1000 || a.Sent != 201 || a.Cancelled != 799 || a.InFlightAtEnd != 10 && a.InFlightAtEnd != 11 || a.Valid || !a.Interrupted {
			t.Errorf("got %+v valid %t", a.Ledger, a.Valid)
		}
		if d := time.Since(begun); d > 2500*time.Millisecond {
			t.Errorf("it took %s to stop", d)
		}
	})
}

func TestWhatHasNoAnswerAtTheEndIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(100, time.Millisecond)
		stuck := make(chan struct{})
		s.fails = func(i int64) error {
			if i == 5 {
				<-stuck // a driver that does not obey its deadline
			}
			return nil
		}
		time.AfterFunc(20*time.Second, func() { close(stuck) })
		a := account(t, assay.Load{Rate: 10, For: time.Second, Timeout: time.Second}, s, Options{})
		if a.InFlightAtEnd != 1 || a.OK != 9 || !noted(a, "no outcome") {
			t.Errorf("got %+v, notes %q", a.Ledger, a.Notes)
		}
	})
}

func TestAccountIsExactlyTheDocumentedJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := account(t, assay.Load{Rate: 100, For: time.Second}, newStation(10, time.Millisecond), Options{})
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(b, &object); err != nil {
			t.Fatal(err)
		}
		want := strings.Fields("planned sent dropped cancelled ok timed_out in_flight_at_end errors offered_per_s sent_per_s completed_per_s response response_all service lag connections in_flight_mean generator valid void_by notes")
		for _, key := range want {
			if _, ok := object[key]; !ok {
				t.Errorf("%s is missing", key)
			}
		}
		if len(object) != len(want) {
			t.Errorf("got %d keys, want %d: %s", len(object), len(want), b)
		}
		for _, text := range []string{`"errors":{}`, `"void_by":[]`, `"notes":[]`, `"p999_ns":null`, `"cpu_ratio":`, `"rss_bytes":`} {
			if !strings.Contains(string(b), text) {
				t.Errorf("%s is missing in %s", text, b)
			}
		}
	})
}

func TestLogsAndOperationsHoldWhatTheAccountSays(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newStation(50, 30*time.Millisecond)
		s.fails = func(i int64) error {
			if i%4 == 0 {
				return Fail(Wrong, errors.New("no"))
			}
			return nil
		}
		ticks := 0
		a := account(t, assay.Load{Rate: 200, For: 3 * time.Second, Warmup: time.Second, Operations: "all"}, s, Options{Dir: dir, Tick: func(Progress) { ticks++ }})
		if ticks < 4 {
			t.Errorf("got %d ticks, want one a second", ticks)
		}
		for _, name := range []string{"response", "service", "lag"} {
			f, err := os.Open(fmt.Sprintf("%s/%s.hlog", dir, name))
			if err != nil {
				t.Fatal(err)
			}
			h, err := hist.Total(f, "")
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			if want := a.Histograms[name]; h.Count() != want.Count() || h.Max() != want.Max() {
				t.Errorf("%s.hlog: got %d up to %d, want %d up to %d", name, h.Count(), h.Max(), want.Count(), want.Max())
			}
		}
		rows, err := parquet.ReadFile[Row](dir + "/" + OperationsFile)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for _, r := range rows {
			if r.Outcome == "wrong" {
				wrong++
			}
			if r.DoneNS-r.SentNS < int64(30*time.Millisecond) || r.IntendedNS < 0 {
				t.Fatalf("got %+v", r)
			}
		}
		if len(rows) != 600 || wrong != 150 {
			t.Errorf("got %d rows, %d of them wrong; want 600 and 150", len(rows), wrong)
		}
	})
}
