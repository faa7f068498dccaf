package load

import (
	"fmt"
	"time"

	"github.com/assaybench/assay/hist"
)

// An Account is what Run has to say of a trial. As JSON it is the object of `assay load --json`;
// what that does not show is beside it for whoever judges or prints.
type Account struct {
	Ledger
	// OfferedPerS is planned, SentPerS sent and CompletedPerS ok operations per second of the
	// window; only operations that ended within the window are counted as completed.
	OfferedPerS   float64   `json:"offered_per_s"`
	SentPerS      float64   `json:"sent_per_s"`
	CompletedPerS float64   `json:"completed_per_s"`
	Response      Quantiles `json:"response"`     // of the operations that ended ok
	ResponseAll   Quantiles `json:"response_all"` // of all planned ones; what did not end ok is infinite
	Service       Quantiles `json:"service"`      // of the operations that ended ok
	Lag           Quantiles `json:"lag"`          // of the operations that ended
	Connections   int       `json:"connections"`  // most that were open at once
	InFlightMean  float64   `json:"in_flight_mean"`
	Generator     Generator `json:"generator"`
	Valid         bool      `json:"valid"`
	VoidBy        []string  `json:"void_by"`
	Notes         []string  `json:"notes"`
	// Phases are the phases of operations by name, if they were asked for.
	Phases map[string]PhaseTimes `json:"phases,omitempty"`

	Closed      bool              `json:"-"` // a closed loop: the target set the pace
	Overload    bool              `json:"-"` // the target could not keep up with the schedule
	Interrupted bool              `json:"-"`
	Warmup      Ledger            `json:"-"`
	Seconds     []Second          `json:"-"` // by intended time
	Opened      int               `json:"-"` // connections opened in all
	Remotes     []Remote          `json:"-"` // by address, where there are several
	InFlightSum time.Duration     `json:"-"` // in-flight integrated over time, drain included
	OwnDelay    Quantiles         `json:"-"` // from intended (or the slot becoming free) to the driver
	Failures    map[Class]string  `json:"-"` // the first error of each class
	Histograms  map[string]Series `json:"-"`
	Batches     []hist.Packed     `json:"-"` // response times of operations that ended ok, in order of time, if asked for
}

// A Series is a histogram of the whole window: "response", "service", "lag" or "failed".
type Series = *hist.Histogram

// account closes the books.
func (l *loop) account(r *recorder, w *health, interrupted bool) Account {
	a := Account{
		Closed: l.plan.Closed(), Interrupted: interrupted, Generator: w.gauge, VoidBy: []string{}, Notes: []string{},
		Histograms: map[string]Series{"response": &r.total.response, "service": &r.total.service, "lag": &r.total.lag, "failed": &r.total.failed},
	}
	if r.batches != nil {
		a.Batches = r.batches.all()
	}
	a.Generator.Spun = l.spun()
	sum := l.sum()
	a.Ledger, a.Seconds, a.Warmup = sum.window, sum.seconds, sum.warmup.ledger()
	seconds := l.plan.For.Seconds()
	a.OfferedPerS = float64(a.Planned) / seconds
	a.SentPerS = float64(a.Sent) / seconds
	a.CompletedPerS = float64(sum.completed) / seconds
	a.Response = quantilesOf(&r.total.response, 0)
	a.ResponseAll = quantilesOf(&r.total.response, a.Planned-a.Cancelled-a.OK)
	a.Service = quantilesOf(&r.total.service, 0)
	a.Lag = quantilesOf(&r.total.lag, 0)
	a.OwnDelay = quantilesOf(&sum.own, 0)
	a.InFlightMean = sum.inFlight.Seconds() / seconds
	a.InFlightSum = sum.inSystem
	a.Failures, a.Phases = sum.failures, sum.phases.times()
	c := l.driver.Connections()
	a.Connections, a.Opened, a.Remotes = c.Peak, c.Opened, c.Remotes
	judge(&a, l.plan, sum, w.clocksApart())
	a.remarkRemotes(c)
	return a
}

// sums are the pages of the book added up.
type sums struct {
	window        Ledger
	seconds       []Second
	warmup        tally
	completed     int64
	own           hist.Histogram
	inFlight      time.Duration
	inSystem      time.Duration
	arrived, left [parts]int64
	answered      [parts]int64
	failures      map[Class]string
	phases        phaseBook
}

// sum adds the pages up. The book must be closed.
func (l *loop) sum() *sums {
	s := &sums{failures: map[Class]string{}}
	var seconds []tally
	for _, p := range l.book.pages {
		s.warmup.add(&p.warmup)
		for len(seconds) < len(p.seconds) {
			seconds = append(seconds, tally{})
		}
		for i := range p.seconds {
			seconds[i].add(&p.seconds[i])
		}
		s.own.Merge(&p.own)
		s.inFlight += p.inFlight
		s.inSystem += p.inSystem
		for i := range parts {
			s.arrived[i] += p.arrived[i]
			s.left[i] += p.left[i]
			s.answered[i] += p.answered[i]
		}
		for c, err := range p.first {
			if err != nil && s.failures[Class(c)] == "" {
				s.failures[Class(c)] = err.Error()
			}
		}
		if p.phase != nil {
			s.phases.merge(p.phase)
		}
	}
	var whole tally
	for i := range seconds {
		s.seconds = append(s.seconds, Second{Ledger: seconds[i].ledger(), Completed: seconds[i].completed})
		whole.add(&seconds[i])
	}
	s.window, s.completed = whole.ledger(), whole.completed
	return s
}

// note adds a remark.
func (a *Account) note(format string, values ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, values...))
}
