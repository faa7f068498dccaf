package assay

import (
	"fmt"
	"strings"
)

// An Expectation is the set of values that a claim allows: an operator with a bound ("> 1.05"), or
// a closed range ("2.3GiB..2.7GiB").
type Expectation struct {
	Op    Op
	Bound Quantity
	// High, in a range, is its upper end; Bound is then the lower one and Op is empty.
	High    Quantity
	IsRange bool
}

// ParseExpectation reads the expect:, slope: or intercept: of a hypothesis.
func ParseExpectation(s string) (Expectation, error) {
	text := strings.TrimSpace(s)
	if low, high, ok := strings.Cut(text, ".."); ok {
		return parseRange(s, low, high)
	}
	i, op := findOp(text)
	if i != 0 {
		return Expectation{}, fmt.Errorf("expectation %q: want an operator and a bound, such as > 1.05, or a range, such as 2.3GiB..2.7GiB", s)
	}
	q, err := ParseQuantity(text[len(op):])
	if err != nil {
		return Expectation{}, fmt.Errorf("expectation %q: %w", s, err)
	}
	return Expectation{Op: op, Bound: q}, nil
}

func parseRange(s, low, high string) (Expectation, error) {
	lo, err := ParseQuantity(low)
	if err != nil {
		return Expectation{}, fmt.Errorf("expectation %q: %w", s, err)
	}
	hi, err := ParseQuantity(high)
	if err != nil {
		return Expectation{}, fmt.Errorf("expectation %q: %w", s, err)
	}
	if lo.Bare && !hi.Bare {
		lo.Unit, lo.Bare = hi.Unit, false
		lo.Text += hi.Unit.Name
	}
	if !lo.Unit.Compatible(hi.Unit) || lo.Base() > hi.Base() {
		return Expectation{}, fmt.Errorf("expectation %q: the range's lower end comes first, both in one kind of unit", s)
	}
	return Expectation{Bound: lo, High: hi, IsRange: true}, nil
}

func (e Expectation) String() string {
	if e.IsRange {
		return e.Bound.String() + ".." + e.High.String()
	}
	if e.Op == "" {
		return ""
	}
	return string(e.Op) + " " + e.Bound.String()
}

// IsZero reports whether nothing is expected.
func (e Expectation) IsZero() bool { return e.Op == "" && !e.IsRange }

// Allows reports whether the value x, in base units, is in the set. A bare bound is read in unit u.
// The zero Expectation allows nothing.
func (e Expectation) Allows(x float64, u Unit) bool {
	if e.IsRange {
		return e.Bound.In(u) <= x && x <= e.High.In(u)
	}
	return e.Op.Holds(x, e.Bound.In(u))
}

// Inside reports whether every value of [low, high], in base units, is allowed.
func (e Expectation) Inside(low, high float64, u Unit) bool {
	if !(low <= high) {
		return false
	}
	if e.Op == NotEqual {
		b := e.Bound.In(u)
		return b < low || b > high
	}
	return e.Allows(low, u) && e.Allows(high, u) // the other sets are convex
}

// Outside reports whether no value of [low, high], in base units, is allowed.
func (e Expectation) Outside(low, high float64, u Unit) bool {
	if !(low <= high) || e.IsZero() {
		return false
	}
	b := e.Bound.In(u)
	switch {
	case e.IsRange:
		return high < b || low > e.High.In(u)
	case e.Op == Less:
		return low >= b
	case e.Op == LessEq:
		return low > b
	case e.Op == Greater:
		return high <= b
	case e.Op == GreaterEq:
		return high < b
	case e.Op == Equal:
		return b < low || b > high
	case e.Op == NotEqual:
		return low == b && high == b
	}
	return false
}
