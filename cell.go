package assay

import (
	"maps"
	"slices"
	"strings"
)

// A Cell is one combination of levels: factor name to the level's source text. Levels match by
// text, so 0.10 and 0.1 are two levels. In hypotheses a Cell may leave factors open.
type Cell map[string]string

// Key is the cell in one canonical line, "inflight=4 reader=readfile", usable as a map key.
func (c Cell) Key() string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(c)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(c[name])
	}
	return b.String()
}

func (c Cell) String() string {
	if len(c) == 0 {
		return "(the one cell)"
	}
	return c.Key()
}

// Matches reports whether c has every level that pattern names.
func (c Cell) Matches(pattern Cell) bool {
	for name, level := range pattern {
		if c[name] != level {
			return false
		}
	}
	return true
}

// With is a copy of c in which the levels of other replace or join c's own.
func (c Cell) With(other Cell) Cell {
	out := maps.Clone(c)
	if out == nil {
		out = Cell{}
	}
	maps.Copy(out, other)
	return out
}

// Without is a copy of c that lacks the named factors.
func (c Cell) Without(names ...string) Cell {
	out := Cell{}
	for name, level := range c {
		if !slices.Contains(names, name) {
			out[name] = level
		}
	}
	return out
}

// A Level is one value of a factor.
type Level struct {
	Text string
	// Sets are the terms that a bundled level moves at once; nil for a plain level.
	Sets map[string]string
	// Opaque says that the level moves several terms that nobody named.
	Opaque bool
	// If is a shell command that must succeed for the level to exist on this machine.
	If string
}

// A Factor is what varies.
type Factor struct {
	Name   string
	Levels []Level
	Unit   string
	// Achieved, when set, is how to see that a level took effect.
	Achieved *Achieved
}

// Achieved says how the nominal level of a factor is compared with what a trial really had.
type Achieved struct {
	Source Source
	// AtLeast is the least share of the nominal level, 0 to 1.
	AtLeast float64
}

// Level is the factor's level with that source text.
func (f Factor) Level(text string) (Level, bool) {
	for _, l := range f.Levels {
		if l.Text == text {
			return l, true
		}
	}
	return Level{}, false
}

// Order is the position of each level along the factor as an axis: numeric if every level reads as
// a quantity of one kind, else as listed.
func (f Factor) Order() []string {
	texts := make([]string, len(f.Levels))
	number := map[string]float64{}
	var unit Unit
	numeric := true
	for i, l := range f.Levels {
		texts[i] = l.Text
		q, err := ParseQuantity(l.Text)
		if err != nil || i > 0 && q.Unit.Dim != unit.Dim {
			numeric = false
			continue
		}
		unit = q.Unit
		number[l.Text] = q.Base()
	}
	if numeric {
		slices.SortStableFunc(texts, func(a, b string) int {
			switch {
			case number[a] < number[b]:
				return -1
			case number[a] > number[b]:
				return 1
			}
			return 0
		})
	}
	return texts
}

// Terms are what the cell's levels set: a plain level sets its own factor, a bundled one each name
// under its sets. Opaque bundles are returned by factor name.
func Terms(factors []Factor, c Cell) (terms map[string]string, opaque []string) {
	terms = map[string]string{}
	for _, f := range factors {
		text, ok := c[f.Name]
		if !ok {
			continue
		}
		l, _ := f.Level(text)
		switch {
		case l.Opaque:
			opaque = append(opaque, f.Name)
			terms[f.Name] = text
		case l.Sets != nil:
			maps.Copy(terms, l.Sets)
		default:
			terms[f.Name] = text
		}
	}
	return terms, opaque
}
