package load

import "math"

// Counted holds what the target says that it has counted against what was sent: two readings of a
// counter of its requests, before the load and after it. What was sent and had no answer may have
// arrived or not; anything outside these bounds means that another one loads the target, that
// something in between answers or repeats, or that a count is wrong, and voids the account.
func (a *Account) Counted(before, after float64) {
	const guard = "counter"
	all := func(n func(Ledger) int64) int64 { return n(a.Ledger) + n(a.Warmup) }
	sent := all(func(l Ledger) int64 { return l.Sent })
	answered := all(func(l Ledger) int64 { return l.OK + l.Errors[Shed] + l.Errors[Status] + l.Errors[Wrong] })
	counted := int64(math.Round(after - before))
	switch {
	case after < before:
		a.void(guard, "the target's own counter fell from %.0f to %.0f: it was reset, so that nobody can say what arrived", before, after)
	case counted > sent:
		a.void(guard, "the target counted %d arrivals, and %d were sent: somebody else loads it, or something in between repeats requests", counted, sent)
	case counted < answered:
		a.void(guard, "the target counted %d arrivals, and %d of the %d that were sent were answered: something else answers in its place, or its counter is wrong", counted, answered, sent)
	case counted < sent:
		a.note("the target counted %d arrivals of %d sent; the other %d had no answer", counted, sent, sent-counted)
	default:
		a.note("the target counted %d arrivals, as many as were sent", counted)
	}
	a.Valid = a.Valid && len(a.VoidBy) == 0
}

// Uncounted says that the target's counter could not be read at the end.
func (a *Account) Uncounted(err error) {
	a.void("counter", "the target's own counter could not be read after the load: %s", err)
	a.Valid = false
}
