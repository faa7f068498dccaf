package load

import (
	"fmt"
	"maps"
	"slices"
)

// A Ledger counts operations. Each planned one stands in it exactly once:
//
//	planned = sent + dropped + cancelled
//	sent    = ok + errors + timed_out + in_flight_at_end
type Ledger struct {
	Planned   int64 `json:"planned"`
	Sent      int64 `json:"sent"`
	Dropped   int64 `json:"dropped"`   // found no slot at their intended time
	Cancelled int64 `json:"cancelled"` // not sent because the trial was stopped
	OK        int64 `json:"ok"`
	TimedOut  int64 `json:"timed_out"`
	// InFlightAtEnd is what had no outcome when the drain or the trial was over.
	InFlightAtEnd int64           `json:"in_flight_at_end"`
	Errors        map[Class]int64 `json:"errors"`
}

// Failed is the number of operations that ended with an error, timeouts apart.
func (l Ledger) Failed() int64 {
	var n int64
	for _, k := range l.Errors {
		n += k
	}
	return n
}

// Balance is nil if both identities hold. An imbalance is a mistake in this package, never a
// property of the target.
func (l Ledger) Balance() error {
	if out := l.Sent + l.Dropped + l.Cancelled; out != l.Planned {
		return fmt.Errorf("balance ledger: planned %d, but sent %d + dropped %d + cancelled %d = %d", l.Planned, l.Sent, l.Dropped, l.Cancelled, out)
	}
	if out := l.OK + l.Failed() + l.TimedOut + l.InFlightAtEnd; out != l.Sent {
		return fmt.Errorf("balance ledger: sent %d, but ok %d + errors %d + timed out %d + in flight %d = %d", l.Sent, l.OK, l.Failed(), l.TimedOut, l.InFlightAtEnd, out)
	}
	return nil
}

// A Second is the ledger of the operations that were intended within one second of the window.
type Second struct {
	Ledger
	// Completed is what ended ok within this second, whenever it was intended.
	Completed int64 `json:"completed"`
}

// tally is a Second as it is counted: an array instead of a map, so that counting allocates nothing.
type tally struct {
	planned, sent, dropped, cancelled, ok int64
	completed                             int64
	failed                                [classes]int64
}

func (t *tally) add(o *tally) {
	t.planned += o.planned
	t.sent += o.sent
	t.dropped += o.dropped
	t.cancelled += o.cancelled
	t.ok += o.ok
	t.completed += o.completed
	for i, n := range o.failed {
		t.failed[i] += n
	}
}

// ledger closes the tally: what was sent and had no outcome is in flight at the end.
func (t *tally) ledger() Ledger {
	l := Ledger{Planned: t.planned, Sent: t.sent, Dropped: t.dropped, Cancelled: t.cancelled, OK: t.ok, TimedOut: t.failed[TimedOut], Errors: map[Class]int64{}}
	for c := Class(1); c < TimedOut; c++ {
		if t.failed[c] > 0 {
			l.Errors[c] = t.failed[c]
		}
	}
	l.InFlightAtEnd = l.Sent - l.OK - l.TimedOut - l.Failed()
	return l
}

// mostFrequent are the classes of a ledger, the most frequent first.
func (l Ledger) mostFrequent() []Class {
	return slices.SortedFunc(maps.Keys(l.Errors), func(a, b Class) int {
		if l.Errors[a] != l.Errors[b] {
			return int(l.Errors[b] - l.Errors[a])
		}
		return int(a) - int(b)
	})
}
