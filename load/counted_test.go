package load

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestTheTargetsCountIsHeldAgainstWhatWasSent(t *testing.T) {
	whole := Ledger{Planned: 110, Sent: 100, Dropped: 10, OK: 80, TimedOut: 5, Errors: map[Class]int64{Status: 10, Reset: 5}}
	for _, c := range []struct {
		name          string
		before, after float64
		warmup        int64
		void          bool
		note          string
	}{
		{"as many", 1000, 1100, 0, false, "counted 100 arrivals, as many as were sent"},
		{"with the warm-up", 0, 120, 20, false, "counted 120 arrivals, as many as were sent"},
		{"the warm-up was not counted", 0, 100, 20, true, "110 of the 120 that were sent were answered"},
		{"all that were answered", 7, 97, 0, false, "counted 90 arrivals of 100 sent; the other 10 had no answer"},
		{"fewer than were answered", 7, 96, 0, true, "counted 89 arrivals, and 90 of the 100 that were sent were answered"},
		{"more", 7, 108, 0, true, "counted 101 arrivals, and 100 were sent"},
		{"nothing", 7, 7, 0, true, "counted 0 arrivals"},
		{"reset", 1000, 100, 0, true, "fell from 1000 to 100"},
	} {
		a := Account{Ledger: whole, Warmup: Ledger{Sent: c.warmup, OK: c.warmup}, Valid: true}
		a.Counted(c.before, c.after)
		if a.Valid == c.void || slices.Contains(a.VoidBy, "guard:counter") != c.void || !strings.Contains(strings.Join(a.Notes, "\n"), c.note) {
			t.Errorf("%s: got valid %t by %q, notes %q; want void %t and %q", c.name, a.Valid, a.VoidBy, a.Notes, c.void, c.note)
		}
	}
}

func TestACounterThatCannotBeReadVoids(t *testing.T) {
	a := Account{Valid: true}
	a.Uncounted(errors.New("connection refused"))
	if a.Valid || !slices.Contains(a.VoidBy, "guard:counter") {
		t.Errorf("got valid %t by %q", a.Valid, a.VoidBy)
	}
	a = Account{VoidBy: []string{"guard:delivered"}}
	if a.Counted(0, 0); a.Valid {
		t.Error("a void account became valid")
	}
}
