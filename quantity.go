package assay

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Dimension is what a unit measures. Quantities of different dimensions do not compare.
type Dimension struct {
	// Base is "ns" for times, "B" for sizes, "" for plain numbers and ratios, or a noun ("files")
	// that the experiment file made up.
	Base string
	// PerSecond says that the quantity is a rate: so many Base a second.
	PerSecond bool
}

// A Unit is a name with its dimension and the factor that turns a number in this unit into the
// dimension's base: nanoseconds, bytes, plain numbers, and those per second.
type Unit struct {
	Name string
	Dim  Dimension
	// Scale is base units per one of this unit: 1e6 for ms, 1024 for KiB, 0.01 for %.
	Scale float64
}

var units = []Unit{
	{"ns", Dimension{Base: "ns"}, 1}, {"us", Dimension{Base: "ns"}, 1e3}, {"µs", Dimension{Base: "ns"}, 1e3},
	{"ms", Dimension{Base: "ns"}, 1e6}, {"s", Dimension{Base: "ns"}, 1e9}, {"m", Dimension{Base: "ns"}, 60e9},
	{"h", Dimension{Base: "ns"}, 3600e9},
	{"B", Dimension{Base: "B"}, 1}, {"kB", Dimension{Base: "B"}, 1e3}, {"MB", Dimension{Base: "B"}, 1e6},
	{"GB", Dimension{Base: "B"}, 1e9}, {"KiB", Dimension{Base: "B"}, 1 << 10}, {"MiB", Dimension{Base: "B"}, 1 << 20},
	{"GiB", Dimension{Base: "B"}, 1 << 30},
	{"%", Dimension{}, 0.01}, {"", Dimension{}, 1},
}

// ParseUnit reads a unit: one of the table (ns us ms s m h; B kB MB GB KiB MiB GiB; %), any noun
// ("files", "C"), or either of them followed by /s, /m or /h.
func ParseUnit(s string) (Unit, error) {
	s = strings.TrimSpace(s)
	name, per, isRate := strings.Cut(s, "/")
	u, err := baseUnit(strings.TrimSpace(name))
	if err != nil || !isRate {
		return u, err
	}
	u.Name, u.Dim.PerSecond = s, true
	switch strings.TrimSpace(per) {
	case "s":
	case "m":
		u.Scale /= 60
	case "h":
		u.Scale /= 3600
	default:
		// A noun per noun, "B/op", is a dimension of its own.
		u.Dim = Dimension{Base: s}
		u.Scale = 1
	}
	return u, nil
}

func baseUnit(name string) (Unit, error) {
	for _, u := range units {
		if u.Name == name {
			return u, nil
		}
	}
	if strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsLetter(c) && !strings.ContainsRune("_-°$€%#", c) }) {
		return Unit{}, fmt.Errorf("unit %q: want one of ns us ms s m h, B kB MB GB KiB MiB GiB, %%, a noun, or one of these per /s /m /h", name)
	}
	return Unit{Name: name, Dim: Dimension{Base: name}, Scale: 1}, nil
}

// Compatible reports whether a bound written in unit v can stand against a measure in unit u.
// A bound without a noun ("5/s", "5") stands against any noun ("files/s", "files").
func (u Unit) Compatible(v Unit) bool {
	if u.Dim == v.Dim {
		return true
	}
	plain := func(d Dimension) bool { return d.Base == "" }
	physical := func(d Dimension) bool { return d.Base == "ns" || d.Base == "B" }
	switch {
	case plain(v.Dim) && v.Dim.PerSecond == u.Dim.PerSecond && !physical(u.Dim):
		return true
	case plain(u.Dim) && u.Dim.PerSecond == v.Dim.PerSecond && !physical(v.Dim):
		return true
	}
	return false
}

// A Quantity is a number with the unit it was written in. Bare says that no unit was written: the
// number is then in the unit of the measure it is held against.
type Quantity struct {
	Number float64
	Unit   Unit
	Bare   bool
	Text   string // as written
}

// ParseQuantity reads a number with an optional unit: "100ms", "2.5 GiB", "3/s", "5%", "1e3".
func ParseQuantity(s string) (Quantity, error) {
	text := strings.TrimSpace(s)
	n := numberPrefix(text)
	if n == 0 {
		return Quantity{}, fmt.Errorf("quantity %q: want a number with a unit, such as 100ms, 64KiB, 5%% or 3/s", s)
	}
	v, err := strconv.ParseFloat(text[:n], 64)
	if err != nil || math.IsInf(v, 0) {
		return Quantity{}, fmt.Errorf("quantity %q: the number is out of range", s)
	}
	rest := strings.TrimSpace(text[n:])
	u, err := ParseUnit(rest)
	if err != nil {
		return Quantity{}, fmt.Errorf("quantity %q: %w", s, err)
	}
	return Quantity{Number: v, Unit: u, Bare: rest == "", Text: text}, nil
}

// numberPrefix is the length of the decimal number that s starts with, 0 if there is none.
func numberPrefix(s string) int {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	digits := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == '_') {
		if s[i] == '_' {
			return 0
		}
		if s[i] != '.' {
			digits++
		} else if i+1 < len(s) && s[i+1] == '.' {
			break // the range "2..3"
		}
		i++
	}
	if digits == 0 {
		return 0
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		k := j
		for k < len(s) && s[k] >= '0' && s[k] <= '9' {
			k++
		}
		if k > j {
			i = k
		}
	}
	return i
}

// Base is the quantity in base units: nanoseconds, bytes, plain numbers, or those per second.
func (q Quantity) Base() float64 { return q.Number * q.Unit.Scale }

// In is the quantity in base units, a bare number being read in unit u.
func (q Quantity) In(u Unit) float64 {
	if q.Bare {
		return q.Number * u.Scale
	}
	return q.Base()
}

// Duration is the quantity as a time; a bare number is refused, and so is any other dimension.
func (q Quantity) Duration() (time.Duration, error) {
	if q.Bare && q.Number != 0 || !q.Bare && q.Unit.Dim != (Dimension{Base: "ns"}) {
		return 0, fmt.Errorf("duration %q: want a time with its unit, such as 500ms, 30s or 2m", q.Text)
	}
	ns := q.Base()
	if math.Abs(ns) > math.MaxInt64 {
		return 0, fmt.Errorf("duration %q: longer than 292 years", q.Text)
	}
	return time.Duration(math.Round(ns)), nil
}

func (q Quantity) String() string { return q.Text }

// ParseDuration reads a time such as "500ms", "30s", "2m" or "1.5h".
func ParseDuration(s string) (time.Duration, error) {
	q, err := ParseQuantity(s)
	if err != nil {
		return 0, fmt.Errorf("duration %q: want a time with its unit, such as 500ms, 30s or 2m", s)
	}
	return q.Duration()
}
