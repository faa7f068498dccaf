package spec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// A reader turns one file into one experiment and collects the mistakes on the way.
type reader struct {
	name string // as printed in messages
	dir  string // where relative paths start; absolute
	host Host

	lines    []string
	moved    []shift
	mistakes Mistakes
	broken   map[*yaml.Node]bool // already reported, or of no use
	known    map[string]map[string]bool

	e        *assay.Experiment
	loaded   bool // the workload is a load, not a command
	derived  []derivation
	failed   []string // derived names whose expression is wrong
	measures map[string]assay.Measure
	declared []string // names of measures, in order
	targets  []string
	probes   []string
	seen     map[[2]int]bool // places where a cell's mistake stands already
	unsure   bool            // the factors or the design have mistakes, so that cells may be missing
	all      []assay.Cell
	keys     map[string]bool // of all cells
}

// A shift says that n characters were put in at a place when the text was mended.
type shift struct{ line, column, n int }

// at reports a mistake at a place of the text that was parsed, which may have been mended.
func (r *reader) at(line, column int, try, format string, args ...any) {
	for _, s := range slices.Backward(r.moved) {
		if s.line == line && s.column < column {
			column -= s.n
		}
	}
	r.in(line, column, try, format, args...)
}

// maxMistakes bounds what is reported: beyond it, the file is something else than it seems.
const maxMistakes = 200

// full reports whether no further mistake is reported.
func (r *reader) full() bool { return len(r.mistakes) >= maxMistakes }

// in reports a mistake at a place of the text as written.
func (r *reader) in(line, column int, try, format string, args ...any) {
	if r.full() {
		return
	}
	r.mistakes = append(r.mistakes, Mistake{
		File: r.name, Line: max(1, line), Column: max(1, column), Message: fmt.Sprintf(format, args...), Try: try})
}

func (r *reader) mistake(n *yaml.Node, format string, args ...any) {
	r.at(n.Line, n.Column, "", format, args...)
}

func (r *reader) try(n *yaml.Node, try, format string, args ...any) {
	r.at(n.Line, n.Column, try, format, args...)
}

// know notes that the reader understands a key of a kind of object, for the comparison with the schema.
func (r *reader) know(kind, key string) {
	if r.known[kind] == nil {
		r.known[kind] = map[string]bool{}
	}
	r.known[kind][key] = true
}

// cells are all cells of the design, those included that this machine cannot execute.
func (r *reader) cells() []assay.Cell {
	if r.all != nil {
		return r.all
	}
	var cells []assay.Cell
	for _, s := range r.e.Settings {
		cells = append(cells, s.Cell)
	}
	for _, a := range r.e.Absent {
		cells = append(cells, a.Cell)
	}
	r.all = cells
	return cells
}

func (r *reader) factor(name string) (assay.Factor, bool) {
	for _, f := range r.e.Factors {
		if f.Name == name {
			return f, true
		}
	}
	return assay.Factor{}, false
}

func (r *reader) factorNames() []string {
	names := make([]string, len(r.e.Factors))
	for i, f := range r.e.Factors {
		names[i] = f.Name
	}
	return names
}

// terms are the names that bundled levels set.
func (r *reader) terms() []string {
	names := map[string]bool{}
	for _, f := range r.e.Factors {
		for _, l := range f.Levels {
			for name := range l.Sets {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// fixed are the values of what is held, by name.
func (r *reader) fixed() map[string]string {
	values := map[string]string{}
	for _, f := range r.e.Fixed {
		values[f.Name] = f.Text
	}
	return values
}

// factorName is n as the name of a factor.
func (r *reader) factorName(n *yaml.Node, what string) (assay.Factor, bool) {
	s, ok := r.text(n, what)
	if !ok {
		return assay.Factor{}, false
	}
	f, ok := r.factor(s)
	if !ok {
		r.mistake(n, "%s: no factor is named %q%s", what, shorten(s), suggest(s, r.factorNames()))
	}
	return f, ok
}

// cell is n as levels of factors, one each. It is not ok where any of it is wrong.
func (r *reader) cell(n *yaml.Node, what string) (assay.Cell, bool) {
	cells, ok := r.patterns(n, what)
	if ok && len(cells) != 1 {
		r.mistake(n, "%s: one level a factor; a list of levels cannot stand here", what)
		return nil, false
	}
	if !ok {
		return nil, false
	}
	return cells[0], true
}

// patterns are the cells that n means, a list of levels standing for each of them in turn.
func (r *reader) patterns(n *yaml.Node, what string) ([]assay.Cell, bool) {
	if n == nil || r.broken[n] {
		return nil, false
	}
	if n.Kind != yaml.MappingNode {
		r.mistake(n, "%s: want factors with levels, such as {reader: stream}, got %s", what, describe(n))
		return nil, false
	}
	cells, good := []assay.Cell{{}}, true
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if r.broken[key] {
			good = false
			continue
		}
		levels, ok := r.levelsOf(key, value, what)
		if !ok {
			good = false
			continue
		}
		var next []assay.Cell
		for _, c := range cells {
			for _, l := range levels {
				next = append(next, c.With(assay.Cell{key.Value: l}))
			}
		}
		if cells = next; len(cells) > maxCells {
			r.mistake(n, "%s: more than %d combinations", what, maxCells)
			return nil, false
		}
	}
	return cells, good
}

// levelsOf are the levels that a pattern names for one factor.
func (r *reader) levelsOf(key, value *yaml.Node, what string) ([]string, bool) {
	f, ok := r.factor(key.Value)
	if !ok {
		if name, glued, isGlued := cutGlued(key, value); isGlued {
			r.try(key, name+": "+glued, "%q: a space is missing after the colon", key.Value)
		} else {
			r.mistake(key, "%s: no factor is named %q%s", what, shorten(key.Value), suggest(key.Value, r.factorNames()))
		}
		return nil, false
	}
	texts := r.texts(value, what+": "+f.Name, true)
	good := len(texts) > 0
	for _, s := range texts {
		if _, ok := f.Level(s); !ok {
			r.mistake(value, "%s: factor %s has no level %q%s", what, f.Name, shorten(s), suggest(s, levelTexts(f)))
			good = false
		}
	}
	return texts, good
}

func levelTexts(f assay.Factor) []string {
	texts := make([]string, len(f.Levels))
	for i, l := range f.Levels {
		texts[i] = l.Text
	}
	return texts
}
