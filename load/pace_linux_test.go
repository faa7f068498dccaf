package load

import (
	"math/rand/v2"
	"testing"
	"time"
)

// What the pacer spins is less than it waits, and no more than the last stretch before each time.
func TestThePacerKnowsWhatItSpins(t *testing.T) {
	c := clock{zero: time.Now().Add(time.Millisecond)}
	p, err := newPacer(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	const times, gap = 100, time.Millisecond
	for k := range times {
		p.wait(time.Duration(k) * gap)
		if now := c.now(); now < time.Duration(k)*gap {
			t.Fatalf("wait ended %s early", time.Duration(k)*gap-now)
		}
	}
	if got := p.spun(); got <= 0 || got > times*longestSpin {
		t.Errorf("it spun for %s, want more than nothing and at most %s", got, times*longestSpin)
	}
	before := p.spun()
	p.wait(0) // long past
	if got := p.spun() - before; got != 0 {
		t.Errorf("it spun for %s before a time that was past", got)
	}
}

func TestNapsFollowTheProcessorTime(t *testing.T) {
	const past = napEvery
	spend := func(cores float64) time.Duration { return time.Duration(cores * float64(past)) }
	for _, c := range []struct {
		last     time.Duration
		cores    float64
		from, to time.Duration
	}{
		{longestNap, 0.69, 79 * time.Microsecond, 82 * time.Microsecond}, // a tenth under the budget: by a third
		{shortestNap, 0.89, 36 * time.Microsecond, 38 * time.Microsecond},
		{50 * time.Microsecond, napBudget, 49 * time.Microsecond, 51 * time.Microsecond},
		{shortestNap, 0, shortestNap, shortestNap},
		{shortestNap, 100, longestNap, longestNap},
	} {
		if got := nextNap(c.last, spend(c.cores), past); got < c.from || got > c.to {
			t.Errorf("nextNap(%s) at %g of a core = %s, want %s to %s", c.last, c.cores, got, c.from, c.to)
		}
	}
}

func TestTheSpinFollowsTheWakeUps(t *testing.T) {
	for _, c := range []struct{ most, from, to time.Duration }{
		{50 * time.Microsecond, leastSpin, 80 * time.Microsecond}, // late by up to so much, evenly
		{150 * time.Microsecond, 120 * time.Microsecond, 180 * time.Microsecond},
		{time.Millisecond, longestSpin - 99*spinStep, longestSpin},
	} {
		r := rand.New(rand.NewPCG(1, uint64(c.most)))
		spin, sum, late := spinFor, time.Duration(0), 0
		const settle, wakes = 5_000, 20_000
		for i := range settle + wakes {
			l := time.Duration(r.Int64N(int64(c.most)))
			if i >= settle {
				sum += spin
				if l > spin {
					late++
				}
			}
			spin = nextSpin(spin, l)
		}
		if mean := sum / wakes; mean < c.from || mean > c.to {
			t.Errorf("wake-ups late by up to %s: the spin is %s in the mean, want %s to %s", c.most, mean, c.from, c.to)
		}
		if c.most < longestSpin && late > wakes/50 {
			t.Errorf("wake-ups late by up to %s: %d of %d later than the spin, want one in a hundred", c.most, late, wakes)
		}
	}
}

// The pacer reads the processor time of its own process.
func TestThePacerTunesItsNaps(t *testing.T) {
	c := clock{zero: time.Now()}
	made, err := newPacer(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer made.close()
	p := made.(*precisePacer)
	p.tune(napEvery) // the first time there is nothing to compare with
	if p.nap != longestNap {
		t.Errorf("nap = %s before anything is known, want %s", p.nap, longestNap)
	}
	p.tune(time.Hour) // whatever was spent meanwhile is next to nothing of an hour
	if p.nap >= longestNap {
		t.Errorf("nap = %s after an hour without work, want a shorter one", p.nap)
	}
	short := p.nap
	p.tuned, p.spent = time.Hour, p.spent-10*napEvery // as if it had taken ten processors
	p.tune(time.Hour + napEvery)
	if p.nap <= short {
		t.Errorf("nap = %s after more work than the budget, was %s: want a longer one", p.nap, short)
	}
}
