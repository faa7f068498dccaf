package traps

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// nan stands where there is no figure: it is near nothing.
var nan = math.NaN()

// deliveryCases are those in which the load that was asked for was not the load that was sent.
func deliveryCases() []Case {
	return []Case{
		{"T1", "a cap on operations in flight keeps a part of the load from being sent", "void for guard:delivered, not a ceiling of the target",
			func(b *Bench) (Said, error) { return b.cappedRate(true) }, func(b *Bench) (Said, error) { return b.cappedRate(false) }},
		{"T3", "operations queue in the client before its timer starts", "response time from the intended time beside the service time",
			func(b *Bench) (Said, error) { return b.clientQueue(true) }, func(b *Bench) (Said, error) { return b.clientQueue(false) }},
		{"T11", "many clients are asked for, few are ever in flight", "the concurrency and the connections that there really were",
			func(b *Bench) (Said, error) { return b.idleClients(true) }, func(b *Bench) (Said, error) { return b.idleClients(false) }},
		{"T11b", "a claim along clients of which most are never in flight", "VOID no-effect: nominal against achieved in flight",
			func(b *Bench) (Said, error) { return b.achievedClients(true) }, func(b *Bench) (Said, error) { return b.achievedClients(false) }},
		{"T7.1", "a sweep of rates whose upper steps were never sent", "void for guard:delivered at those steps, no highest rate",
			func(b *Bench) (Said, error) { return b.droppedSteps(true) }, func(b *Bench) (Said, error) { return b.droppedSteps(false) }},
	}
}

// lasting prints a duration as flags take it.
func lasting(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

func (b *Bench) cappedRate(trap bool) (Said, error) {
	service, rate := b.milliseconds(60, 150), b.between(60, 180)
	share := b.between(0.45, 0.8) // of the slots that the rate takes
	url, stop, err := serve(&Stub{Service: service})
	if err != nil {
		return Said{}, err
	}
	defer stop()
	slots := max(1, int(share*rate*service.Seconds()))
	args := []string{"--rate", fmt.Sprintf("%.1f/s", rate), "--for", "1500ms", "--timeout", "2s"}
	if trap {
		args = append(args, "--in-flight", strconv.Itoa(slots))
	}
	a, err := b.load(url, append(args, b.protocol()...)...)
	if err != nil {
		return Said{}, err
	}
	s := a.said("guard:delivered", "were dropped")
	s.Warned = s.Warned && a.voided("guard:delivered") && a.exit == 3
	if trap {
		s.near("sent per second", a.SentPerS, float64(slots)/service.Seconds(), 0.2, 4)
	} else if a.Sent != a.Planned {
		s.wrongf("sent %d of %d", a.Sent, a.Planned)
	}
	return s, nil
}

func (b *Bench) clientQueue(trap bool) (Said, error) {
	const operations = 8
	service := b.milliseconds(150, 500)
	gap := time.Duration(b.between(0.2, 0.6) * float64(service)).Truncate(time.Millisecond)
	url, stop, err := serve(&Stub{Service: service})
	if err != nil {
		return Said{}, err
	}
	defer stop()
	// Half a gap less, so that rounding adds no ninth arrival.
	args := []string{"--rate", strconv.FormatFloat(1/gap.Seconds(), 'f', 6, 64) + "/s", "--for", lasting(operations*gap - gap/2)}
	if trap {
		args = append(args, "--in-flight", "1", "--late")
	}
	a, err := b.load(url, args...)
	if err != nil {
		return Said{}, err
	}
	s := a.said("response_time", "response time contains that wait")
	if s.Text == "" {
		s.Text = fmt.Sprintf("response at most %.0f ms, service %.0f ms", ms(a.Response.Max), ms(a.Service.Max))
	}
	want := service
	if trap {
		want = operations*service - (operations-1)*gap
	}
	s.near("largest response time in ms", ms(a.Response.Max), want.Seconds()*1e3, 0.15, 60)
	s.near("median service time in ms", ms(a.Service.P50), service.Seconds()*1e3, 0.15, 60)
	return s, nil
}

func (b *Bench) idleClients(trap bool) (Said, error) {
	clients := 40 + b.Rand.IntN(60)
	open := clients
	service := b.milliseconds(60, 150)
	url, stop, err := serve(&Stub{Service: service})
	if err != nil {
		return Said{}, err
	}
	defer stop()
	args := []string{"--clients", strconv.Itoa(clients), "--for", "1500ms"}
	if trap {
		open = clients / (3 + b.Rand.IntN(5))
		args = append(args, "--connections", strconv.Itoa(open))
	}
	a, err := b.load(url, args...)
	if err != nil {
		return Said{}, err
	}
	s := a.said("in_flight", "in flight on average")
	if a.Connections != open {
		s.wrongf("%d connections, the truth is %d", a.Connections, open)
	}
	s.near("operations in flight", a.InFlightMean, float64(open), 0.15, 1)
	// Little's law, from the figures printed: L = X W.
	s.near("in flight by Little's law", a.CompletedPerS*ms(a.Service.P50)/1e3, a.InFlightMean, 0.25, 1)
	return s, nil
}

// achievedClients claims something along clients and says what they achieve; in the trap fewer
// connections than clients carry them.
func (b *Bench) achievedClients(trap bool) (Said, error) {
	many, open := 16+b.Rand.IntN(16), 64
	if trap {
		open = 6 + b.Rand.IntN(4)
	}
	url, stop, err := serve(&Stub{Service: b.milliseconds(40, 80)})
	if err != nil {
		return Said{}, err
	}
	defer stop()
	f, err := b.run(fmt.Sprintf(`experiment: clients
factors: {clients: {levels: [4, %d], achieved: {json: in_flight_mean, at_least: 75%%}}}
blocks: 6
retries: 0
load:
  http: {url: "%s", connections: %d}
  clients: "{clients}"
  for: 500ms
  timeout: 5s
hypotheses:
  H1: {claim: Many clients get more., ratio: rate, of: {clients: %d}, to: {clients: 4}, expect: "> 1.1"}
`, many, url, open, many))
	if err != nil {
		return Said{}, err
	}
	s := f.verdict("VOID", "no-effect")
	if h := f.Hypotheses; !trap && len(h) > 0 && s.Noise == "" && h[0].Verdict != "PASS" {
		s.wrongf("%s %s", h[0].Verdict, h[0].Reason)
	}
	return s, nil
}

func (b *Bench) droppedSteps(trap bool) (Said, error) {
	service := b.milliseconds(60, 120)
	low := 20 + b.Rand.IntN(20)
	high := low * (3 + b.Rand.IntN(3))
	url, stop, err := serve(&Stub{Service: service})
	if err != nil {
		return Said{}, err
	}
	defer stop()
	bound := "auto"
	if trap { // enough for the lower step, not for the higher one
		bound = strconv.Itoa(int(1 + 1.4*float64(low)*service.Seconds()))
	}
	f, err := b.run(fmt.Sprintf(`experiment: steps
factors:
  offered: [%d, %d]
blocks: 6
retries: 0
load:
  http: {url: "%s"}
  rate: "{offered}/s"
  for: 400ms
  timeout: 2s
  in_flight: %s
hypotheses:
  H1:
    claim: The service carries the higher rate.
    highest: offered
    meets: ["errors < 5%%"]
    expect: ">= %d"
`, low, high, url, bound, high))
	if err != nil {
		return Said{}, err
	}
	s := f.verdict("VOID", "guard:delivered")
	if h := f.Hypotheses; !trap && len(h) > 0 && s.Noise == "" && h[0].Verdict != "PASS" {
		s.wrongf("%s %s", h[0].Verdict, h[0].Reason)
	}
	return s, nil
}
