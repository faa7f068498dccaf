package traps

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// targetCases are those in which the target does what a careless figure leaves out: it stands still,
// refuses quickly, or does not answer at all.
func targetCases() []Case {
	return []Case{
		{"T2", "the server stands still for a good part of the test", "quantiles from the intended times, and the stall by name",
			func(b *Bench) (Said, error) { return b.frozen(true) }, func(b *Bench) (Said, error) { return b.frozen(false) }},
		{"T2c", "the same under a closed loop, whose quantiles hardly show it", "the stall by name, and how much was never sent",
			func(b *Bench) (Said, error) { return b.frozenClients(true) }, func(b *Bench) (Said, error) { return b.frozenClients(false) }},
		{"T6", "quick refusals make the median small", "failures apart and as infinite, by class; a claim on p95 fails",
			func(b *Bench) (Said, error) { return b.shedding(true) }, func(b *Bench) (Said, error) { return b.shedding(false) }},
		{"T7.13", "requests that time out are left out of the percentiles", "timeouts counted, and infinite in the response time of all",
			func(b *Bench) (Said, error) { return b.survivors(true) }, func(b *Bench) (Said, error) { return b.survivors(false) }},
	}
}

func (b *Bench) frozen(trap bool) (Said, error) {
	window := 2 * time.Second
	service := b.milliseconds(1, 5)
	stub := &Stub{Service: service}
	share := b.between(0.3, 0.45)
	if trap {
		stub.Freeze = time.Duration(b.between(0.1, 0.4) * float64(window))
		stub.Thaw = stub.Freeze + time.Duration(share*float64(window))
	}
	url, stop, err := serve(stub)
	if err != nil {
		return Said{}, err
	}
	defer stop()
	a, err := b.load(url, append(b.protocol(), "--rate", fmt.Sprintf("%.1f/s", b.between(60, 160)), "--for", lasting(window))...)
	if err != nil {
		return Said{}, err
	}
	if !trap {
		share = 0
	}
	return a.stoodStill(service, share, window), nil
}

// stoodStill is what was said of a target that stood still for a share of the window: what was due then
// waited a time that is spread evenly up to all of it.
func (a *account) stoodStill(service time.Duration, share float64, window time.Duration) Said {
	s := a.said("stall", "stall:")
	if s.Text == "" {
		s.Text = fmt.Sprintf("p50 %.1f ms, p90 %.1f ms", ms(a.Response.P50), ms(a.Response.P90))
	}
	want := service.Seconds()
	if share > 0 {
		want = (1 - 0.1/share) * share * window.Seconds()
	}
	s.near("p90 in ms", ms(a.Response.P90), want*1e3, 0.12, 50)
	s.near("p50 in ms", ms(a.Response.P50), service.Seconds()*1e3, 0.12, 50)
	return s
}

func (b *Bench) frozenClients(trap bool) (Said, error) {
	window := 2 * time.Second
	stub := &Stub{Service: b.milliseconds(20, 50)}
	if trap {
		stub.Freeze = time.Duration(b.between(0.1, 0.3) * float64(window))
		stub.Thaw = stub.Freeze + time.Duration(b.between(0.35, 0.6)*float64(window))
	}
	url, stop, err := serve(stub)
	if err != nil {
		return Said{}, err
	}
	defer stop()
	a, err := b.load(url, "--clients", strconv.Itoa(2+b.Rand.IntN(6)), "--for", lasting(window))
	if err != nil {
		return Said{}, err
	}
	return a.said("stall", "stall:"), nil
}

func (b *Bench) shedding(trap bool) (Said, error) {
	stub := &Stub{Service: b.milliseconds(60, 120)}
	if trap {
		stub.Shed = b.between(0.3, 0.8)
	}
	url, stop, err := serve(stub)
	if err != nil {
		return Said{}, err
	}
	defer stop()
	rate := fmt.Sprintf("%.1f/s", b.between(100, 180))
	a, err := b.load(url, append(b.protocol(), "--rate", rate, "--for", "1500ms")...)
	if err != nil {
		return Said{}, err
	}
	s := a.said("shed", "operations failed: shed")
	planned := float64(a.Planned)
	s.near("share that was shed", float64(a.Errors["shed"])/planned, stub.Shed, 0.05, 1.5/planned)
	s.near("p50 of the ok ones in ms", ms(a.Response.P50), stub.Service.Seconds()*1e3, 0.15, 50)
	if trap && a.ResponseAll.P95 != nil {
		s.wrongf("p95 of all is %.0f ms, and a third or more failed", ms(a.ResponseAll.P95))
	}
	f, err := b.run(claim(url, rate, "800ms", "2s", "value: p95(response_time)", "< 1s"))
	if err != nil {
		return s, err
	}
	v := f.verdict("FAIL", "contradicted")
	s.Noise += v.Noise
	s.Text += "; p95(response_time) < 1s: " + v.Reason
	if v.Noise == "" && v.Warned != trap {
		s.wrongf("p95(response_time) < 1s is %s", v.Reason)
	}
	return s, nil
}

// claim is an experiment of one cell and one claim about its load.
func claim(url, rate, lasts, timeout, kind, expect string) string {
	return fmt.Sprintf(`experiment: claim
factors: {only: [one]}
blocks: 6
retries: 0
load:
  http: {url: "%s"}
  rate: "%s"
  for: %s
  timeout: %s
hypotheses:
  H1:
    claim: It is as expected.
    %s
    expect: "%s"
`, url, rate, lasts, timeout, kind, expect)
}

func (b *Bench) survivors(trap bool) (Said, error) {
	stub := &Stub{Service: b.milliseconds(20, 80)}
	if trap {
		stub.Hang = b.between(0.08, 0.4)
	}
	url, stop, err := serve(stub)
	if err != nil {
		return Said{}, err
	}
	defer stop()
	a, err := b.load(url, append(b.protocol(), "--rate", fmt.Sprintf("%.1f/s", b.between(100, 180)),
		"--for", "1500ms", "--timeout", lasting(b.milliseconds(600, 1000)))...)
	if err != nil {
		return Said{}, err
	}
	s := a.said("timed_out", "quantiles of the others do not know them")
	planned := float64(a.Planned)
	s.near("share that timed out", float64(a.TimedOut)/planned, stub.Hang, 0.05, 1.5/planned)
	if trap && a.ResponseAll.P95 != nil {
		s.wrongf("p95 of all is %.0f ms, and %d of %d timed out", ms(a.ResponseAll.P95), a.TimedOut, a.Planned)
	}
	if trap && !strings.Contains(strings.Join(a.Notes, " "), "infinite") {
		s.Warned = false
	}
	return s, nil
}
