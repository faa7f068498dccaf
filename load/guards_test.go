package load

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay/hist"
)

// evenly spreads n over the parts of a window.
func evenly(n int) [parts]int64 { return byQuarter([]int{n / 4, n / 4, n / 4, n / 4}) }

// byQuarter spreads a number over each quarter of the window.
func byQuarter(quarters []int) (spread [parts]int64) {
	for q, n := range quarters {
		for i := range n {
			spread[(q*n+i)*parts/4/n]++
		}
	}
	return spread
}

// judged is the judgement on an account in which everything is well but for one change.
func judged(change func(a *Account, p *Plan, s *sums), clocksApart time.Duration) Account {
	ns := func(d time.Duration) *int64 { v := int64(d); return &v }
	a := Account{
		Ledger:      Ledger{Planned: 1000, Sent: 1000, OK: 1000, Errors: map[Class]int64{}},
		OfferedPerS: 100, SentPerS: 100, CompletedPerS: 100,
		Response:   Quantiles{P50: ns(time.Millisecond), P99: ns(2 * time.Millisecond)},
		Lag:        Quantiles{P99: ns(100 * time.Microsecond)},
		OwnDelay:   Quantiles{P99: ns(100 * time.Microsecond)},
		Generator:  Generator{Cores: 2, CPURatio: 0.5, Hiccups: Quantiles{P99: ns(time.Millisecond)}},
		Failures:   map[Class]string{},
		Histograms: map[string]Series{"response": new(hist.Histogram)},
	}
	p := Plan{For: 10 * time.Second, Timeout: 10 * time.Second, InFlight: 1000, Bound: "rate x timeout", spans: []span{{100, 100, 10 * time.Second}}}
	s := &sums{arrived: evenly(1000), left: evenly(1000), answered: evenly(1000)}
	change(&a, &p, s)
	judge(&a, p, s, clocksApart)
	return a
}

func TestGuards(t *testing.T) {
	ns := func(d time.Duration) *int64 { v := int64(d); return &v }
	for _, c := range []struct {
		name   string
		change func(*Account, *Plan, *sums)
		apart  time.Duration
		void   string // guard, or empty for a valid trial
		note   string
	}{
		{name: "all is well", change: func(*Account, *Plan, *sums) {}},
		{name: "no port left", change: func(a *Account, _ *Plan, _ *sums) { a.OK, a.Errors[Ports] = 999, 1 }, void: "generator", note: "ip_local_port_range"},
		{name: "no descriptor left", change: func(a *Account, _ *Plan, _ *sums) { a.OK, a.Errors[Descriptors] = 999, 1 }, void: "generator", note: "ulimit"},
		{name: "refused by the target", change: func(a *Account, _ *Plan, _ *sums) { a.OK, a.Errors[Refused] = 500, 500 }, note: "500 operations failed: refused"},
		{name: "late", change: func(a *Account, _ *Plan, _ *sums) { a.OwnDelay.P99 = ns(3 * time.Millisecond) }, void: "generator", note: "the generator itself was late"},
		{name: "late against a slow target", change: func(a *Account, _ *Plan, _ *sums) {
			a.OwnDelay.P99, a.Response.P50 = ns(3*time.Millisecond), ns(time.Second)
		}},
		{name: "late in a closed loop", change: func(a *Account, p *Plan, _ *sums) { a.OwnDelay.P99, p.Clients = ns(3*time.Millisecond), 1 }, note: "closed loop of 1 clients"},
		{name: "out of processor time", change: func(a *Account, _ *Plan, _ *sums) { a.Generator.CPURatio = 1.95 }, void: "generator", note: "it is the bound, not the target"},
		{name: "busy with waiting", change: func(a *Account, _ *Plan, _ *sums) { a.Generator.CPURatio, a.Generator.Spun = 1.95, 8*time.Second }, note: "0.80 of the generator's 1.95 cores went into waiting"},
		{name: "busy with more than waiting", change: func(a *Account, _ *Plan, _ *sums) {
			a.Generator.CPURatio, a.Generator.Spun = 1.95, 300*time.Millisecond
		}, void: "generator", note: "it is the bound"},
		{name: "held up", change: func(a *Account, _ *Plan, _ *sums) { a.Generator.Hiccups.P99 = ns(30 * time.Millisecond) }, void: "generator", note: "held up"},
		{name: "held up against a slow target", change: func(a *Account, _ *Plan, _ *sums) {
			a.Generator.Hiccups.P99, a.Response.P50 = ns(30*time.Millisecond), ns(time.Second)
		}},
		{name: "a few drops", change: func(a *Account, _ *Plan, _ *sums) { a.Sent, a.OK, a.Dropped = 995, 995, 5 }, note: "5 of 1000"},
		{name: "drops by a bound that is too low", change: func(a *Account, p *Plan, _ *sums) {
			a.Sent, a.OK, a.Dropped, p.InFlight, p.Bound = 800, 800, 200, 500, "declared"
		}, void: "delivered", note: "rate x timeout would be 1000"},
		{name: "drops by the target", change: func(a *Account, _ *Plan, _ *sums) {
			a.Sent, a.OK, a.Dropped, a.CompletedPerS = 800, 800, 200, 80
		}, note: "a miss of the target"},
		{name: "drops of an ill generator", change: func(a *Account, _ *Plan, _ *sums) {
			a.Sent, a.OK, a.Dropped, a.Generator.CPURatio = 800, 800, 200, 2
		}, void: "delivered"},
		{name: "nothing planned", change: func(a *Account, _ *Plan, _ *sums) { a.Ledger = Ledger{} }, void: "delivered", note: "nothing was planned"},
		{name: "clock set", change: func(*Account, *Plan, *sums) {}, apart: time.Second, void: "clock-step"},
		{name: "window too short", change: func(_ *Account, p *Plan, _ *sums) { p.For = time.Microsecond }, void: "clock"},
		{name: "books that do not balance", change: func(a *Account, _ *Plan, _ *sums) { a.OK-- }, void: "ledger", note: "mistake in assay"},
		{name: "a second that does not balance", change: func(a *Account, _ *Plan, _ *sums) { a.Seconds = []Second{{}, {Ledger: Ledger{Sent: 1}}} }, void: "ledger", note: "second 1"},
		{name: "a backlog that grows", change: func(_ *Account, _ *Plan, s *sums) { s.left = evenly(800) }, note: "the server completes 80/s of the 100/s offered"},
		{name: "a stall", change: func(_ *Account, _ *Plan, s *sums) { clear(s.answered[64:192]) }, note: "nothing was answered for 5s from 2.5s on, while 500 operations were due"},
		{name: "a stall of a closed loop", change: func(_ *Account, p *Plan, s *sums) {
			p.Clients = 8
			clear(s.answered[64:192])
		}, note: "some 500 operations were never sent"},
		{name: "fewer in flight than clients", change: func(a *Account, p *Plan, _ *sums) {
			p.Clients, a.InFlightMean, a.Connections = 100, 12, 12
		}, note: "100 clients were asked for, but 12 operations"},
		{name: "a wait for a slot of few operations", change: func(a *Account, _ *Plan, _ *sums) {
			a.Lag, a.OwnDelay = Quantiles{Max: ns(3 * time.Second)}, Quantiles{Max: ns(time.Millisecond)}
		}, note: "lag at most 3s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := judged(c.change, c.apart)
			if a.Valid != (c.void == "") || c.void != "" && !slices.Contains(a.VoidBy, "guard:"+c.void) {
				t.Errorf("got valid %t, void by %q; want %q", a.Valid, a.VoidBy, c.void)
			}
			if c.note != "" && !strings.Contains(strings.Join(a.Notes, "\n"), c.note) {
				t.Errorf("got notes %q, want %q", a.Notes, c.note)
			}
			if c.name == "all is well" && len(a.Notes) != 0 {
				t.Errorf("got notes %q where all is well", a.Notes)
			}
		})
	}
}

// A stall is no overload: its backlog goes away again.
func TestAStallIsNoOverload(t *testing.T) {
	for name, left := range map[string][]int{
		"early":      {100, 400, 250, 250},
		"at the end": {250, 250, 250, 150},
		"all over":   {240, 255, 245, 250},
	} {
		if a := judged(func(_ *Account, _ *Plan, s *sums) { s.left = byQuarter(left) }, 0); a.Overload {
			t.Errorf("%s: called overload: %q", name, a.Notes)
		}
	}
}

// A silence that is short, that little was due in, or in which the generator stood still as well, is
// no stall of the target.
func TestWhatIsNoStall(t *testing.T) {
	still := int64(5 * time.Second)
	for name, change := range map[string]func(a *Account, p *Plan, s *sums){
		"short":                 func(_ *Account, _ *Plan, s *sums) { clear(s.answered[100:104]) },
		"of the machine":        func(a *Account, _ *Plan, s *sums) { clear(s.answered[64:192]); a.Generator.Hiccups.Max = &still },
		"nothing due":           func(_ *Account, _ *Plan, s *sums) { clear(s.answered[64:192]); clear(s.arrived[64:192]) },
		"as long as a response": func(a *Account, _ *Plan, s *sums) { clear(s.answered[:64]); *a.Response.P50 = int64(2 * time.Second) },
	} {
		if a := judged(change, 0); strings.Contains(strings.Join(a.Notes, " "), "stall:") {
			t.Errorf("%s: %q", name, a.Notes)
		}
	}
}
