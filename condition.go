package assay

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// An Op is a comparison operator of a condition.
type Op string

// The six operators.
const (
	Less      Op = "<"
	LessEq    Op = "<="
	Greater   Op = ">"
	GreaterEq Op = ">="
	Equal     Op = "=="
	NotEqual  Op = "!="
)

var opsByLength = []Op{LessEq, GreaterEq, Equal, NotEqual, Less, Greater}

// Holds reports whether x op y. Comparisons with NaN never hold.
func (o Op) Holds(x, y float64) bool {
	switch o {
	case Less:
		return x < y
	case LessEq:
		return x <= y
	case Greater:
		return x > y
	case GreaterEq:
		return x >= y
	case Equal:
		return x == y
	case NotEqual:
		return x != y && x == x && y == y
	}
	return false
}

// A MeasureRef names a measure: name, name(object), stat(name) or stat(name(object)).
type MeasureRef struct {
	Stat   string // "", mean, median, min, max, sum, sd, or pNN as in p99 and p99.9
	Name   string
	Object string
}

var (
	statName  = regexp.MustCompile(`^(mean|median|min|max|sum|sd|p[0-9]{1,2}(\.[0-9]+)?)$`)
	identName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// IsIdent reports whether s can name a factor, a measure, a probe or a target.
func IsIdent(s string) bool { return identName.MatchString(s) }

// IsStat reports whether s names a statistic over the readings or operations of one trial.
func IsStat(s string) bool { return statName.MatchString(s) }

// Quantile is the quantile that a statistic such as p99 or median names, in (0, 1).
func Quantile(stat string) (q float64, ok bool) {
	if stat == "median" {
		return 0.5, true
	}
	if !strings.HasPrefix(stat, "p") || !IsStat(stat) {
		return 0, false
	}
	p, err := strconv.ParseFloat(stat[1:], 64)
	return p / 100, err == nil && p > 0
}

// ParseMeasureRef reads the measure of a condition or hypothesis.
func ParseMeasureRef(s string) (MeasureRef, error) {
	text := strings.TrimSpace(s)
	outer, inner, ok := splitCall(text)
	var r MeasureRef
	switch {
	case !ok:
		r.Name = text
	case IsStat(outer):
		r.Stat = outer
		if name, object, ok := splitCall(inner); ok {
			r.Name, r.Object = name, strings.TrimSpace(object)
		} else {
			r.Name = inner
		}
	default:
		r.Name, r.Object = outer, strings.TrimSpace(inner)
	}
	if !identName.MatchString(r.Name) || ok && r.Stat == "" && r.Object == "" || !balanced(r.Object) {
		return MeasureRef{}, fmt.Errorf("measure %q: want name, name(object), stat(name) or stat(name(object)), such as rate, cpu(api) or p99(response_time)", s)
	}
	return r, nil
}

// splitCall splits "f(x)" into f and x.
func splitCall(s string) (fn, arg string, ok bool) {
	i := strings.IndexByte(s, '(')
	if i <= 0 || !strings.HasSuffix(s, ")") {
		return "", "", false
	}
	return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+1 : len(s)-1]), true
}

func balanced(s string) bool {
	depth := 0
	for _, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

func (r MeasureRef) String() string {
	s := r.Name
	if r.Object != "" {
		s += "(" + r.Object + ")"
	}
	if r.Stat != "" {
		s = r.Stat + "(" + s + ")"
	}
	return s
}

// A Bound is what a condition compares with: a quantity, a quoted text, or a multiple of another
// measure ("1000 * clock_tick").
type Bound struct {
	Quantity Quantity
	Text     string
	IsText   bool
	// Times, when it names a measure, multiplies Quantity.
	Times MeasureRef
}

func (b Bound) String() string {
	switch {
	case b.IsText:
		return "'" + strings.ReplaceAll(b.Text, "'", "''") + "'"
	case b.Times.Name != "":
		return b.Quantity.String() + " * " + b.Times.String()
	}
	return b.Quantity.String()
}

// A Condition is MEASURE OP BOUND [over DUR] [patience DUR]: one predicate with four consequences.
// As a gate it must hold before a trial, as a kill rule it stops one, as a guard it voids one, and
// as part of a hypothesis it is judged after all of them.
type Condition struct {
	Measure MeasureRef
	Op      Op
	Bound   Bound
	// Over is the window of a kill rule; 0 where none was written.
	Over time.Duration
	// Patience is how long a gate waits; 0 where none was written.
	Patience time.Duration
}

var clause = regexp.MustCompile(`^(.*)\s(over|patience)\s+(\S+)$`)

// ParseCondition reads a condition. Its errors say what was got and what would be right.
func ParseCondition(s string) (Condition, error) {
	var c Condition
	text := strings.TrimSpace(s)
	for {
		m := clause.FindStringSubmatch(text)
		if m == nil {
			break
		}
		d, err := ParseDuration(m[3])
		if err != nil {
			return Condition{}, fmt.Errorf("condition %q: %s: %w", s, m[2], err)
		}
		if d <= 0 {
			return Condition{}, fmt.Errorf("condition %q: %s: want more than 0", s, m[2])
		}
		at := &c.Over
		if m[2] == "patience" {
			at = &c.Patience
		}
		if *at != 0 {
			return Condition{}, fmt.Errorf("condition %q: %s stands twice", s, m[2])
		}
		*at, text = d, strings.TrimSpace(m[1])
	}
	i, op := findOp(text)
	if i < 0 {
		return Condition{}, fmt.Errorf("condition %q: no operator; want MEASURE OP BOUND, such as load1 < 4 (operators: < <= > >= == !=)", s)
	}
	var err error
	if c.Measure, err = ParseMeasureRef(text[:i]); err != nil {
		return Condition{}, fmt.Errorf("condition %q: %w", s, err)
	}
	c.Op = op
	if c.Bound, err = parseBound(text[i+len(op):]); err != nil {
		return Condition{}, fmt.Errorf("condition %q: %w", s, err)
	}
	if c.Bound.IsText && op != Equal && op != NotEqual {
		return Condition{}, fmt.Errorf("condition %q: a text compares with == or != only", s)
	}
	return c, nil
}

// findOp is the place of the first operator outside parentheses, -1 if there is none.
func findOp(s string) (int, Op) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth > 0 {
			continue
		}
		for _, op := range opsByLength {
			if strings.HasPrefix(s[i:], string(op)) {
				return i, op
			}
		}
	}
	return -1, ""
}

func parseBound(s string) (Bound, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return Bound{}, fmt.Errorf("the bound is missing; want a number with a unit or a text in quotes")
	}
	for _, q := range []string{"'", `"`} {
		if len(s) >= 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return Bound{IsText: true, Text: strings.ReplaceAll(s[1:len(s)-1], q+q, q)}, nil
		}
	}
	if number, name, ok := strings.Cut(s, "*"); ok {
		q, err := ParseQuantity(number)
		if err != nil {
			return Bound{}, err
		}
		r, err := ParseMeasureRef(name)
		return Bound{Quantity: q, Times: r}, err
	}
	q, err := ParseQuantity(s)
	if err != nil {
		if r, refErr := ParseMeasureRef(s); refErr == nil && s != "" {
			return Bound{}, fmt.Errorf("bound %q: want a number with a unit or a text in quotes ('%s'), or a multiple of a measure (1 * %s)", s, s, r)
		}
		return Bound{}, err
	}
	return Bound{Quantity: q}, nil
}

func (c Condition) String() string {
	s := c.Measure.String() + " " + string(c.Op) + " " + c.Bound.String()
	if c.Over > 0 {
		s += " over " + FormatDuration(c.Over)
	}
	if c.Patience > 0 {
		s += " patience " + FormatDuration(c.Patience)
	}
	return s
}

// FormatDuration prints d so that [ParseDuration] reads it back exactly: "90s", "1500ms", "5m".
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}} {
		if d%u.size == 0 {
			return strconv.FormatInt(int64(d/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + "ns"
}

// HoldsFor reports whether the condition holds for a value of its measure, given in unit u. With a
// bound that is a multiple of another measure, times is that measure's value in the same base.
func (c Condition) HoldsFor(v Value, u Unit, times float64) bool {
	if c.Bound.IsText || v.IsText {
		if !c.Bound.IsText || !v.IsText {
			return false
		}
		return (v.Text == c.Bound.Text) == (c.Op == Equal)
	}
	bound := c.Bound.Quantity.In(u)
	if c.Bound.Times.Name != "" {
		bound = c.Bound.Quantity.Base() * times
	}
	return c.Op.Holds(v.Number*u.Scale, bound)
}
