package load

import (
	"errors"
	"fmt"
	"math"
	"time"

	assay "github.com/assaybench/assay"
)

// DefaultTimeout is the time after which an operation has timed out if the file does not say.
const DefaultTimeout = 30 * time.Second

// A Plan is what Run carries out. Clients > 0 makes a closed loop, everything else an open one.
type Plan struct {
	// Clients and Think describe a closed loop: each client waits for Think between operations.
	Clients int
	Think   time.Duration

	// Poisson says that arrivals are a Poisson process; else they are evenly spaced.
	Poisson bool
	Seed    uint64 // of the arrivals
	spans   []span
	trace   string

	Warmup  time.Duration // load before the window, recorded apart
	For     time.Duration // the window
	Timeout time.Duration // of one operation, from its start; also how long the trial drains
	// InFlight bounds the operations in flight in an open loop.
	InFlight int
	// Late says that an arrival which finds no slot is sent as soon as there is one, its lag
	// counted, instead of dropped.
	Late bool
	// Operations says that every single operation is kept.
	Operations bool

	// Bound says what decided InFlight: "declared", "rate x timeout", or the resource that ran
	// short: "descriptors", "ports", "memory".
	Bound string

	plainPacing bool // time.Sleep instead of a timer of the kernel's; for tests on a false clock
}

// NewPlan makes the plan of one trial; arrivals come from seed. What the load declares is kept or
// refused. Only what it leaves open is decided here: the timeout (30 s), and in_flight = auto as
// rate x timeout, at most what descriptors, ports and memory of this machine allow.
func NewPlan(l assay.Load, seed uint64) (Plan, error) {
	p := Plan{
		Clients: l.Clients, Think: l.Think, Poisson: l.Arrivals == "poisson", Seed: seed, trace: l.Trace,
		Warmup: l.Warmup, For: l.For, Timeout: l.Timeout, InFlight: l.InFlight, Late: l.Late,
		Operations: l.Operations == "all",
	}
	if p.Timeout == 0 {
		p.Timeout = DefaultTimeout
	}
	if err := checkLoad(l); err != nil {
		return Plan{}, err
	}
	peak, err := p.arrivalsOf(l)
	if err != nil {
		return Plan{}, err
	}
	if p.For <= 0 {
		return Plan{}, errors.New("load: for is missing: say how long the load lasts")
	}
	if p.Clients == 0 {
		p.boundInFlight(l, peak)
	}
	return p, nil
}

// checkLoad finds what contradicts itself in a load.
func checkLoad(l assay.Load) error {
	ways := 0
	for _, set := range []bool{l.Rate != 0, l.Clients != 0, len(l.Steps) > 0, l.Ramp != nil, l.Trace != ""} {
		if set {
			ways++
		}
	}
	switch {
	case ways != 1:
		return fmt.Errorf("load: got %d of rate, clients, steps, ramp and trace; want exactly one", ways)
	case l.Rate < 0 || math.IsInf(l.Rate, 0) || math.IsNaN(l.Rate):
		return fmt.Errorf("load: rate %v/s: want more than 0", l.Rate)
	case l.Clients < 0 || l.InFlight < 0:
		return fmt.Errorf("load: got clients %d and in_flight %d; want no negative numbers", l.Clients, l.InFlight)
	case l.Warmup < 0 || l.Timeout < 0 || l.Think < 0 || l.For < 0:
		return errors.New("load: for, warmup, timeout and think cannot be negative")
	case l.Arrivals != "" && l.Arrivals != "constant" && l.Arrivals != "poisson":
		return fmt.Errorf("load: arrivals %q: want constant or poisson", l.Arrivals)
	case l.Think > 0 && l.Clients == 0:
		return errors.New("load: think is for clients; an open loop does not wait")
	case l.Clients > 0 && (l.InFlight > 0 || l.Late || l.Arrivals == "poisson"):
		return errors.New("load: in_flight, late and arrivals are for an open loop; clients bound a closed one")
	case l.Trace != "" && (l.Warmup > 0 || l.Arrivals == "poisson"):
		return errors.New("load: a trace has its own arrivals: no warmup and no poisson")
	case l.Operations != "" && l.Operations != "all":
		return fmt.Errorf("load: operations %q: want all or nothing", l.Operations)
	}
	return nil
}

// arrivalsOf fills in the spans and the window, and gives the most arrivals within one timeout.
func (p *Plan) arrivalsOf(l assay.Load) (peak float64, err error) {
	top := l.Rate
	switch {
	case l.Clients > 0:
		return 0, nil
	case l.Trace != "":
		last, densest, err := surveyTrace(l.Trace, p.Timeout)
		if err != nil {
			return 0, fmt.Errorf("load: trace: %w", err)
		}
		if l.For > 0 && last >= l.For {
			return 0, fmt.Errorf("load: trace %s ends at %s, after the window of %s", l.Trace, last, l.For)
		}
		if l.For == 0 {
			p.For = last + 1
		}
		return float64(densest), nil
	case l.Ramp != nil:
		if l.Ramp.For <= 0 || l.Ramp.From < 0 || l.Ramp.To < 0 || l.Ramp.From+l.Ramp.To == 0 {
			return 0, fmt.Errorf("load: ramp from %v/s to %v/s for %s: want rates from 0 up, not both 0, and a time", l.Ramp.From, l.Ramp.To, l.Ramp.For)
		}
		p.spans = []span{{l.Ramp.From, l.Ramp.To, l.Ramp.For}}
		top = max(l.Ramp.From, l.Ramp.To)
	case len(l.Steps) > 0:
		for i, s := range l.Steps {
			if s.For <= 0 || s.Rate < 0 {
				return 0, fmt.Errorf("load: step %d of %v/s for %s: want a rate from 0 up and a time", i+1, s.Rate, s.For)
			}
			p.spans = append(p.spans, span{s.Rate, s.Rate, s.For})
			top = max(top, s.Rate)
		}
	default:
		p.spans = []span{{l.Rate, l.Rate, l.For}}
		return top * p.Timeout.Seconds(), nil
	}
	var whole time.Duration
	for _, s := range p.spans {
		whole += s.length
	}
	if l.For != 0 && l.For != whole {
		return 0, fmt.Errorf("load: for is %s, but the steps or the ramp last %s", l.For, whole)
	}
	p.For = whole
	return top * p.Timeout.Seconds(), nil
}

// boundInFlight decides in_flight where the file leaves it open.
func (p *Plan) boundInFlight(l assay.Load, peak float64) {
	if p.InFlight > 0 {
		p.Bound = "declared"
		return
	}
	p.InFlight, p.Bound = int(math.Ceil(max(1, min(peak, 1<<30)))), "rate x timeout"
	multiplexed := l.Connections() > 0 || l.HTTP != nil && l.HTTP.Version == "2"
	if most, by := capacity(!multiplexed); most < p.InFlight {
		p.InFlight, p.Bound = most, by
	}
}

// needed is rate x timeout: how many slots an open loop can fill at most.
func (p Plan) needed() float64 {
	top := 0.0
	for _, s := range p.spans {
		top = max(top, s.from, s.to)
	}
	return top * p.Timeout.Seconds()
}

// Closed reports whether the plan is a closed loop.
func (p Plan) Closed() bool { return p.Clients > 0 }

// Schedule is the intended times of the window, from the beginning. A trace must have been
// readable when the plan was made; if it no longer is, that is the error.
func (p Plan) Schedule() (Schedule, error) {
	if p.trace != "" {
		return openTrace(p.trace)
	}
	return newRated(p.spans, p.Poisson, p.Seed), nil
}

// warmupSchedule is the intended times before the window, at the rate that the window begins with.
func (p Plan) warmupSchedule() Schedule {
	if p.Warmup == 0 || len(p.spans) == 0 {
		return newRated(nil, false, 0)
	}
	rate := p.spans[0].from
	return newRated([]span{{rate, rate, p.Warmup}}, p.Poisson, ^p.Seed)
}
