package load

import (
	"math"
	"slices"
	"strconv"
	"time"

	assay "github.com/assaybench/assay"
)

const (
	// delivery is the share of the planned operations that must be sent (the figure of Nighthawk's
	// documentation and of the usual service level of a generator).
	delivery = 0.99
	// lagFloor bounds the generator's own delay at its 99th percentile, hiccupFloor how much too
	// late short sleeps may end, at the same percentile. Against a slow target the bound is
	// ownShare of the median response time. Above it the delay would be read as the target's.
	lagFloor    = 2 * time.Millisecond
	hiccupFloor = 10 * time.Millisecond
	ownShare    = 0.05
	// cpuShare of the processor time that the process may use is starvation: it leaves the
	// scheduler no room to be in time.
	cpuShare = 0.95
	// spinNoted is the part of a core from which on it is said what waiting took.
	spinNoted = 0.25
	// reached is the share of the clients of a closed loop that must be in flight on average.
	reached = 0.9
	// clockDrift is how far the two clocks may disagree on the window.
	clockDrift = 50 * time.Millisecond
	clockShare = 0.01
)

// judge applies the guards that this package can answer for, and says what else must be known
// about the figures. Nothing is valid before every guard has been asked.
func judge(a *Account, p Plan, s *sums, clocksApart time.Duration) {
	healthy := guardGenerator(a, p)
	guardDelivered(a, p, healthy)
	guardClock(a, p, clocksApart)
	if err := a.Balance(); err != nil {
		a.void("ledger", "%s; this is a mistake in assay", err)
	}
	for i, second := range a.Seconds {
		if err := second.Balance(); err != nil {
			a.void("ledger", "second %d: %s; this is a mistake in assay", i, err)
			break
		}
	}
	a.Valid = len(a.VoidBy) == 0
	findOverload(a, p, s)
	findStall(a, p, s)
	remark(a, p)
}

// void records that a guard did not hold, and why.
func (a *Account) void(guard, format string, values ...any) {
	if name := assay.GuardVoid(guard); !slices.Contains(a.VoidBy, name) {
		a.VoidBy = append(a.VoidBy, name)
	}
	a.note(format, values...)
}

// guardGenerator asks whether the generator itself was in time.
func guardGenerator(a *Account, p Plan) (healthy bool) {
	before := len(a.VoidBy)
	if n := a.Errors[Ports] + a.Errors[Descriptors]; n > 0 {
		a.void("generator", "%d operations found no local port or no file descriptor: the generator ran out, the target did not refuse; keep connections alive, or raise ip_local_port_range or ulimit -n", n)
	}
	g := a.Generator
	// A spin before an intended time takes what nobody needs: it ends when there is something to do.
	if cores, busy := float64(g.Cores), g.CPURatio-g.Spun.Seconds()/p.For.Seconds(); busy > cpuShare*cores && cores > 0 {
		a.void("generator", "the generator used %.2f of its %d cores: it is the bound, not the target; give it more cores or lower the load", busy, g.Cores)
	}
	var share time.Duration
	if a.Response.P50 != nil {
		share = time.Duration(ownShare * float64(*a.Response.P50))
	}
	limit := max(lagFloor, share)
	if own := a.OwnDelay.P99; own != nil && !p.Closed() && time.Duration(*own) > limit {
		a.void("generator", "the generator itself was late: 99%% of the operations started within %s of their time, the limit is %s; response times contain this delay, service times do not; give the generator a core of its own", time.Duration(*own), limit)
	}
	if late := g.Hiccups.P99; late != nil && time.Duration(*late) > max(hiccupFloor, share) {
		a.void("generator", "the generator's process was held up: 1%% of its 5 ms sleeps ended more than %s late (garbage collection at most %s at a time); give it a core of its own", time.Duration(*late), g.GCPause)
	}
	return len(a.VoidBy) == before
}

// guardDelivered asks whether the load was sent. Drops of a healthy generator with enough slots
// are the target's doing: a finding, and no reason to discard the trial.
func guardDelivered(a *Account, p Plan, healthy bool) {
	due := a.Planned - a.Cancelled
	switch {
	case due == 0 && a.Cancelled > 0:
		a.void("delivered", "stopped before anything was sent")
		return
	case due == 0:
		a.void("delivered", "nothing was planned within the window")
		return
	case a.Cancelled > 0:
		a.void("delivered", "stopped: %d of %d planned operations were cancelled", a.Cancelled, a.Planned)
	}
	if a.Dropped == 0 {
		return
	}
	share := 100 * float64(a.Dropped) / float64(due)
	enough := float64(p.InFlight) >= math.Floor(p.needed())
	switch {
	case float64(a.Sent) >= delivery*float64(due):
		a.note("%d of %d operations (%.2g%%) were dropped: all %d slots were taken (in_flight: %s)", a.Dropped, due, share, p.InFlight, p.Bound)
	case enough && healthy:
		a.note("%d of %d operations (%.2g%%) were dropped: the target held all %d slots, which is rate x timeout; this is a miss of the target", a.Dropped, due, share, p.InFlight)
	default:
		a.void("delivered", "%s of the %s offered were sent: %d of %d operations (%.2g%%) were dropped because all %d slots were taken (in_flight: %s, rate x timeout would be %.0f); raise in_flight, or allow late sending", perSecond(a.SentPerS), perSecond(a.OfferedPerS), a.Dropped, due, share, p.InFlight, p.Bound, math.Ceil(p.needed()))
	}
}

// guardClock asks whether the window was long enough to be timed, and by one undisturbed clock.
func guardClock(a *Account, p Plan, apart time.Duration) {
	if p.For < time.Millisecond {
		a.void("clock", "the window of %s is too short to be timed; want 1 ms or more", p.For)
	}
	if limit := max(clockDrift, time.Duration(clockShare*float64(p.For))); apart > limit {
		a.void("clock-step", "the wall clock and the monotonic clock differ by %s over the window, the limit is %s; somebody set the clock", apart, limit)
	}
}

// findOverload looks for a backlog that grows in every quarter of the window.
func findOverload(a *Account, p Plan, s *sums) {
	if p.Closed() || a.Interrupted {
		return
	}
	const quarters = 4
	var backlog, arrivals, leaving [quarters]int64
	for i := range parts {
		arrivals[i*quarters/parts] += s.arrived[i]
		leaving[i*quarters/parts] += s.left[i]
	}
	for q, open := 0, int64(0); q < quarters; q++ {
		open += arrivals[q] - leaving[q]
		backlog[q] = open
	}
	whole := backlog[quarters-1]
	grows := whole >= 10
	for q, before := 0, int64(0); q < quarters; q++ {
		grows = grows && float64(backlog[q]-before) >= 0.5*float64(whole)/quarters
		before = backlog[q]
	}
	half := p.For.Seconds() / 2
	offered := float64(arrivals[2]+arrivals[3]) / half
	completed := float64(leaving[2]+leaving[3]) / half
	switch {
	case grows:
		a.Overload = true
		a.note("overload: the server completes %s of the %s offered; response time grows without bound, so its quantiles say how long the load lasted and not how fast the server is", perSecond(completed), perSecond(offered))
	case a.Valid && float64(a.TimedOut+a.Dropped+a.InFlightAtEnd) > (1-delivery)*float64(a.Planned) && a.CompletedPerS < delivery*a.OfferedPerS:
		a.Overload = true
		a.note("overload: the server completes %s of the %s offered; %d operations timed out after %s, %d were dropped, %d had no answer at the end", perSecond(a.CompletedPerS), perSecond(a.OfferedPerS), a.TimedOut, p.Timeout, a.Dropped, a.InFlightAtEnd)
	}
}

// remark says what the figures do not support.
func remark(a *Account, p Plan) {
	if p.Closed() {
		a.note("closed loop of %d clients: the target sets the pace, and while it stalls nobody asks; for response times under a given arrival rate use an open loop (rate)", p.Clients)
	}
	for _, c := range a.mostFrequent() {
		a.note("%d operations failed: %s; the first: %s", a.Errors[c], c, a.Failures[c])
	}
	if a.TimedOut > 0 {
		a.note("%d operations timed out after %s; quantiles of the others do not know them, response_all counts them as infinite", a.TimedOut, p.Timeout)
	}
	if a.InFlightAtEnd > 0 {
		a.note("%d operations had no outcome at the end; response_all counts them as infinite", a.InFlightAtEnd)
	}
	if share := a.Generator.Spun.Seconds() / p.For.Seconds(); share > spinNoted {
		a.note("%.2f of the generator's %.2f cores went into waiting for the intended times to the microsecond; no target needs them", share, a.Generator.CPURatio)
	}
	if n := a.Histograms["response"].Saturated(); n > 0 {
		a.note("%d response times were longer than %s, beyond the histogram; they are counted, the largest is exact", n, time.Duration(1<<47-1))
	}
	if waited, own, name := a.waited(); !p.Closed() && waited > 2*own && waited > time.Millisecond {
		a.note("operations waited for a slot or a connection before they were sent (lag %s %s): response time contains that wait, service time does not", name, waited)
	}
	if p.Closed() && p.Think == 0 && !a.Interrupted && a.OK > 0 && a.InFlightMean < reached*float64(p.Clients)*a.steadyShare(p) {
		a.note("%d clients were asked for, but %.3g operations were in flight on average, over %d connections at most: the load is that of so many", p.Clients, a.InFlightMean, a.Connections)
	}
	if a.Planned == 0 || a.OK == 0 {
		a.note("no operation ended ok: there is no response time")
	}
}

// steadyShare is the share of the window without one service time, which a warm-up's last operations
// may take up; at least a half.
func (a *Account) steadyShare(p Plan) float64 {
	if a.Service.P50 == nil {
		return 0.5
	}
	return 1 - min(0.5, float64(*a.Service.P50)/float64(p.For))
}

// waited is the highest quantile of the lag that is known, and the generator's own part in it.
func (a *Account) waited() (waited, own time.Duration, name string) {
	if a.Lag.P99 != nil && a.OwnDelay.P99 != nil {
		return time.Duration(*a.Lag.P99), time.Duration(*a.OwnDelay.P99), "p99"
	}
	if a.Lag.Max != nil && a.OwnDelay.Max != nil {
		return time.Duration(*a.Lag.Max), time.Duration(*a.OwnDelay.Max), "at most"
	}
	return 0, 0, ""
}

// perSecond prints a rate for people: whole numbers from 10 up, two digits below.
func perSecond(rate float64) string {
	if rate >= 10 {
		return strconv.FormatFloat(rate, 'f', 0, 64) + "/s"
	}
	return strconv.FormatFloat(rate, 'g', 2, 64) + "/s"
}
