package load

import (
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
	if got := p.spun(); got <= 0 || got > times*spinFor {
		t.Errorf("it spun for %s, want more than nothing and at most %s", got, times*spinFor)
	}
	before := p.spun()
	p.wait(0) // long past
	if got := p.spun() - before; got != 0 {
		t.Errorf("it spun for %s before a time that was past", got)
	}
}
