package spec

import (
	"slices"
	"strings"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// maxCells bounds a design: at a second a trial and twelve blocks, this many take more than a day.
const maxCells = 10_000

// design is the list of cells under construction, without repetitions.
type design struct {
	cells []assay.Cell
	has   map[string]bool
}

func (d *design) add(c assay.Cell) {
	if key := c.Key(); !d.has[key] {
		d.has[key] = true
		d.cells = append(d.cells, c)
	}
}

// readDesign gives the cells in design order: all combinations, or what design: lists, less exclude:.
func (r *reader) readDesign(base, list, exclude *yaml.Node) []assay.Cell {
	if base != nil {
		r.e.Base, _ = r.cell(base, "base")
	}
	d := &design{has: map[string]bool{}}
	if list == nil {
		r.cross(d, list, assay.Cell{}, r.e.Factors, "factors")
	}
	for _, n := range r.items(list, "design", false) {
		o, ok := r.object(n, "design", "design")
		if !ok {
			continue
		}
		switch key, value := o.one("vary", "ladder"); key {
		case "vary":
			r.vary(d, o, value)
		case "ladder":
			r.ladder(d, o, value)
		}
		for _, key := range []string{"vary", "at", "ladder", "from", "add"} {
			o.ask(key)
		}
		o.close()
	}
	if exclude != nil {
		r.exclude(d, exclude)
	}
	return d.cells
}

// cross adds every combination of the factors' levels to fixed, the first factor changing slowest.
func (r *reader) cross(d *design, n *yaml.Node, fixed assay.Cell, factors []assay.Factor, what string) {
	cells := []assay.Cell{fixed}
	for _, f := range factors {
		if len(cells)*len(f.Levels) > maxCells {
			if n == nil {
				r.in(1, 1, "", "%s: all combinations are more than %d cells; say under design which are wanted", what, maxCells)
			} else {
				r.mistake(n, "%s: more than %d cells", what, maxCells)
			}
			return
		}
		var next []assay.Cell
		for _, c := range cells {
			for _, l := range f.Levels {
				next = append(next, c.With(assay.Cell{f.Name: l.Text}))
			}
		}
		cells = next
	}
	for _, c := range cells {
		d.add(c)
	}
}

func (r *reader) vary(d *design, o *object, n *yaml.Node) {
	var factors []assay.Factor
	var names []string
	good := true
	for _, c := range r.items(n, "vary", true) {
		f, ok := r.factorName(c, "vary")
		if !ok || slices.Contains(names, f.Name) {
			good = false
			continue
		}
		factors, names = append(factors, f), append(names, f.Name)
	}
	fixed := r.e.Base
	if at := o.get("at"); at != nil {
		pattern, ok := r.cell(at, "design: at")
		good = good && ok
		for _, name := range names {
			if _, both := pattern[name]; both {
				r.mistake(at, "design: %s cannot both vary and be held at a level", name)
				good = false
			}
		}
		fixed = fixed.With(pattern)
	}
	fixed = fixed.Without(names...)
	if good && r.whole(o.node, fixed, names) {
		r.cross(d, o.node, fixed, factors, "design")
	}
}

// whole reports whether every factor has a level in c or is among the names; else that is a mistake.
func (r *reader) whole(n *yaml.Node, c assay.Cell, names []string) bool {
	var open []string
	for _, f := range r.e.Factors {
		if _, ok := c[f.Name]; !ok && !slices.Contains(names, f.Name) {
			open = append(open, f.Name)
		}
	}
	if len(open) > 0 {
		r.mistake(n, "design: %s has no level here; give it one under base or at", strings.Join(open, ", "))
	}
	return len(open) == 0
}

func (r *reader) ladder(d *design, o *object, n *yaml.Node) {
	name, ok := r.text(n, "ladder")
	if ok && slices.ContainsFunc(r.e.Ladders, func(l assay.Ladder) bool { return l.Name == name }) {
		r.mistake(n, "ladder %s stands twice", name)
		return
	}
	what := "ladder " + name
	from := r.e.Base
	if f := o.get("from"); f != nil {
		cell, good := r.cell(f, what+": from")
		ok, from = ok && good, from.With(cell)
	}
	add := o.need("add", ": the terms that are moved, one a rung")
	if !ok || add == nil || !r.whole(o.node, from, nil) {
		return
	}
	l := assay.Ladder{Name: name, Rungs: []assay.Cell{from}}
	for _, c := range r.items(add, what+": add", false) {
		term, ok := r.cell(c, what+": add")
		if !ok {
			return
		}
		next := from.With(term)
		if moved := r.movedTerms(from, next); len(moved) != 1 {
			r.mistake(c, "%s: a rung moves one term; this one moves %s", what, countOf(moved))
			return
		}
		l.Rungs, l.Added = append(l.Rungs, next), append(l.Added, term)
		from = next
	}
	for _, c := range l.Rungs {
		d.add(c)
	}
	r.e.Ladders = append(r.e.Ladders, l)
}

func countOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// exclude drops cells. A pattern that drops none is a mistake: it says something else than was meant.
func (r *reader) exclude(d *design, n *yaml.Node) {
	before := len(d.cells)
	for _, c := range r.items(n, "exclude", false) {
		patterns, ok := r.patterns(c, "exclude")
		if !ok {
			continue
		}
		for _, p := range patterns {
			count := len(d.cells)
			d.cells = slices.DeleteFunc(d.cells, func(cell assay.Cell) bool { return cell.Matches(p) })
			if len(d.cells) == count && count > 0 {
				r.mistake(c, "exclude: no cell has %s", p)
			}
		}
	}
	if len(d.cells) == 0 && before > 0 {
		r.mistake(n, "exclude: no cell is left")
	}
}

// settle sorts the cells into those that this machine can execute and those that it cannot.
func (r *reader) settle(cells []assay.Cell) {
	there := map[string]bool{}
	for _, c := range cells {
		why := ""
		for _, f := range r.e.Factors {
			l, _ := f.Level(c[f.Name])
			if l.If == "" || r.host.Available == nil {
				continue
			}
			ok, asked := there[l.If]
			if !asked {
				ok = r.host.Available(l.If)
				there[l.If] = ok
			}
			if !ok && why == "" {
				why = f.Name + "=" + l.Text + " takes `" + l.If + "`, which does not succeed here"
			}
		}
		if why != "" {
			r.e.Absent = append(r.e.Absent, assay.AbsentCell{Cell: c, Why: why})
			continue
		}
		r.e.Settings = append(r.e.Settings, assay.Setting{Cell: c, Values: r.valuesOf(c)})
	}
}

// added are the cells that the refine rule has added. A level that the file does not list becomes one.
func (r *reader) added() []assay.Cell {
	for _, c := range r.host.Added {
		for i := range r.e.Factors {
			f := &r.e.Factors[i]
			if text := c[f.Name]; text != "" && !slices.Contains(levelTexts(*f), text) {
				f.Levels = append(f.Levels, assay.Level{Text: text})
			}
		}
	}
	return r.host.Added
}

// valuesOf are what is fixed, the levels of the cell and the terms that they set; derived names join
// them later.
func (r *reader) valuesOf(c assay.Cell) map[string]string {
	values := r.fixed()
	for _, f := range r.e.Factors {
		l, _ := f.Level(c[f.Name])
		values[f.Name] = l.Text
		for term, text := range l.Sets {
			values[term] = text
		}
	}
	return values
}
