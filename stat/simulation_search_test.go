//go:build !race

package stat

import (
	"math"
	"testing"
)

// A queue is an M/M/c system of mean service time 1 with a bound on the response time's p99.
type queue struct {
	servers int
	bound   float64
}

// over is the share of operations that take longer than the bound at an arrival rate (Erlang's C).
func (q queue) over(rate float64) float64 {
	c := float64(q.servers)
	if rate >= c {
		return 1
	}
	term, sum := 1.0, 0.0
	for k := range q.servers {
		sum += term
		term *= rate / float64(k+1)
	}
	waits := term * c / (c - rate)
	waits /= sum + waits
	d := c - 1 - rate
	rest := q.bound
	if math.Abs(d) > 1e-9 {
		rest = (1 - math.Exp(-q.bound*d)) / d
	}
	return math.Exp(-q.bound) * (1 + waits*rest)
}

// limit is the highest rate at which no more than 1% are over.
func (q queue) limit() float64 {
	low, high := 0.0, float64(q.servers)
	for range 60 {
		if middle := (low + high) / 2; q.over(middle) <= .01 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// TestSimulatedSearch finds the highest rate of queues from trials of 5,000 operations, and counts the
// trials beside a bisection that asks every level until two more probes agree than disagree.
func TestSimulatedSearch(t *testing.T) {
	const seeds, operations = 500, 5000
	held, narrow, trials, plain := 0, 0, 0, 0
	for seed := range seeds {
		r := seeded(seed)
		q := queue{servers: 1 + r.IntN(16), bound: 5 + 10*r.Float64()}
		limit := q.limit()
		answer := func(at float64, _ int) Decision {
			bad, share := 0, q.over(at)
			for range operations {
				if r.Float64() < share {
					bad++
				}
			}
			return DecideShare(operations, bad, .99, .95)
		}
		s := Search{Start: limit * math.Exp(4*r.Float64()-3), Width: .10}
		b, probes := walk(t, s, answer)
		trials += probes
		plain += plainBisection(s, answer)
		if b.Low <= limit && limit <= b.High {
			held++
		}
		if b.High <= 1.10*b.Low {
			narrow++
		}
	}
	t.Logf("of %d: limit inside %d, bracket at most 10%% wide %d; %.1f trials, plain bisection %.1f",
		seeds, held, narrow, float64(trials)/seeds, float64(plain)/seeds)
	if held < .95*seeds || narrow < .8*seeds || trials > plain {
		t.Errorf("of %d: limit inside %d, bracket narrow %d; %d trials, plain bisection %d", seeds, held, narrow, trials, plain)
	}
}

// plainBisection is the number of trials of doubling and halving with every level settled by itself.
func plainBisection(s Search, answer func(float64, int) Decision) (trials int) {
	s = s.withDefaults()
	settle := func(at float64) bool {
		net := 0
		for count := 0; net > -s.Agree && net < s.Agree && count < 2*s.Repeats; count++ {
			trials++
			switch answer(at, trials) {
			case Confirmed:
				net++
			case Refuted:
				net--
			}
		}
		return net > 0
	}
	low, high := s.Start, s.Start
	if settle(s.Start) {
		for high *= 2; settle(high); high *= 2 {
			low = high
		}
	} else {
		for low /= 2; !settle(low); low /= 2 {
			high = low
		}
	}
	for high > low*(1+s.Width) {
		if middle := math.Sqrt(low * high); settle(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return trials
}
