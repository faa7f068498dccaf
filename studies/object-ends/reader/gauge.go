package reader

import (
	"sync"
	"time"
)

// A gauge follows how many of something there are, and for how long. Safe for several goroutines.
type gauge struct {
	mu    sync.Mutex
	now   int
	since time.Time
	spent []time.Duration // by level
}

// add changes the level by one up or down.
func (g *gauge) add(change int) {
	at := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.spent) <= g.now+max(change, 0) {
		g.spent = append(g.spent, 0)
	}
	if !g.since.IsZero() {
		g.spent[g.now] += at.Sub(g.since)
	}
	g.now += change
	g.since = at
}

// peak returns the highest level.
func (g *gauge) peak() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(len(g.spent)-1, 0)
}

// within returns the least level that was not exceeded in a share q of the time from the first change to
// the last.
func (g *gauge) within(q float64) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	var whole, below time.Duration
	for _, spent := range g.spent {
		whole += spent
	}
	for level, spent := range g.spent {
		if below += spent; float64(below) >= q*float64(whole) {
			return level
		}
	}
	return 0
}

// A holding follows how many rows, and how many bytes of them, are decoded and not yet written.
type holding struct {
	mu                  sync.Mutex
	rows, bytes         int64
	rowsPeak, bytesPeak int64
}

func (h *holding) add(rows, bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rows += rows
	h.bytes += bytes
	h.rowsPeak, h.bytesPeak = max(h.rowsPeak, h.rows), max(h.bytesPeak, h.bytes)
}
