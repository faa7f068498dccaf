package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// condition reads n and checks its measure and bound for the place.
func (r *reader) condition(n *yaml.Node, text, what string, p place) (assay.Condition, bool) {
	c, err := assay.ParseCondition(text)
	if err != nil && len(text) > 1 && strings.ContainsAny(text[:1], `'"`) && text[0] == text[len(text)-1] {
		r.onceAt(n, "%s: the condition stands in quotes twice; leave the inner ones out", what)
		return c, false
	}
	if err != nil {
		r.onceAt(n, "%s: %v", what, err)
		return c, false
	}
	ref, u, ok := r.resolve(n, c.Measure, what, p)
	c.Measure = ref
	if !ok {
		return c, false
	}
	switch {
	case p != during && c.Over > 0:
		r.onceAt(n, "%s: over belongs to kill rules; elsewhere a condition has no window", what)
	case p != before && c.Patience > 0:
		r.onceAt(n, "%s: patience belongs to gates; nothing is waited for here", what)
	default:
		return c, r.bound(n, c, u, what)
	}
	return c, false
}

// bound checks that the bound of c can stand against a measure in unit u.
func (r *reader) bound(n *yaml.Node, c assay.Condition, u assay.Unit, what string) bool {
	_, builtin := assay.BuiltinMeasure(c.Measure.Name)
	_, declared := r.measures[c.Measure.Name]
	q := c.Bound.Quantity
	switch {
	case c.Bound.IsText && builtin && !declared:
		r.onceAt(n, "%s: %s is a number and cannot be compared with a text", what, c.Measure)
		return false
	case c.Bound.IsText:
		return true
	case c.Bound.Times.Name != "":
		_, v, ok := r.resolve(n, c.Bound.Times, what, judged)
		if ok && !u.Compatible(v) {
			r.onceAt(n, "%s: %s is in %s and %s in %s; they do not compare", what, c.Measure, unitName(u), c.Bound.Times, unitName(v))
			return false
		}
		return ok
	}
	return r.comparable(n, c.Measure.String(), u, q, what)
}

// comparable checks that a quantity can stand against a measure in unit u.
func (r *reader) comparable(n *yaml.Node, measure string, u assay.Unit, q assay.Quantity, what string) bool {
	if q.Bare || u.Compatible(q.Unit) {
		return true
	}
	advice := ""
	if m, ok := r.measures[measure]; ok && m.Unit.Name == "" {
		advice = "; declare its unit under measures"
	}
	r.onceAt(n, "%s: %s is in %s, and %s does not compare with it%s", what, measure, unitName(u), q.Text, advice)
	return false
}

func unitName(u assay.Unit) string {
	if u.Name == "" {
		return "plain numbers"
	}
	return u.Name
}

// A written condition is a condition with the cells in which it is asked for.
type written struct {
	node      *yaml.Node
	name      string
	condition assay.Condition
	at        []assay.Cell // empty pattern: everywhere
}

// conditions reads a list of gates or guards: texts, or mappings with require, at and name.
func (r *reader) conditions(n *yaml.Node, kind string, p place) []written {
	var list []written
	for _, c := range r.items(n, kind+"s", true) {
		w := written{node: c, at: []assay.Cell{{}}}
		text := c
		if c.Kind == yaml.MappingNode && !isBareName(c) {
			o, _ := r.object(c, kind, kind)
			text = o.need("require", ": the condition")
			if at := o.get("at"); at != nil {
				w.at, _ = r.patterns(at, kind+": at")
				r.checkAt(at, w.at, kind)
			}
			if name := o.get("name"); name != nil {
				w.name = r.word1(name, kind+": name")
			}
			o.close()
		}
		s, ok := r.text(text, kind)
		if !ok {
			continue
		}
		if w.condition, ok = r.condition(text, s, kind, p); ok {
			list = append(list, w)
		}
	}
	return list
}

func isBareName(n *yaml.Node) bool {
	return len(n.Content) == 2 && isEmpty(n.Content[1]) && assay.IsIdent(n.Content[0].Value)
}

// word1 is a name of letters, digits, _, - and dots.
func (r *reader) word1(n *yaml.Node, what string) string {
	s, ok := r.text(n, what)
	if ok && !isName(s) {
		r.mistake(n, "%s: want letters, digits, _, - and dots, got %q", what, shorten(s))
	}
	return s
}

func isName(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("_-.", c)) {
			return false
		}
	}
	return s != "" && len(s) <= 100
}

// checkAt refuses a pattern that no cell matches: it would never be asked.
func (r *reader) checkAt(n *yaml.Node, patterns []assay.Cell, what string) {
	cells := r.cells()
	for _, p := range patterns {
		if !r.unsure && !slices.ContainsFunc(cells, func(c assay.Cell) bool { return c.Matches(p) }) {
			r.onceAt(n, "%s: at: no cell of the design has %s", what, p)
		}
	}
}

func (r *reader) readGates(n *yaml.Node) {
	for _, w := range r.conditions(n, "gate", before) {
		g := assay.Gate{Condition: w.condition}
		if object := w.condition.Measure.Object; object != "" {
			t := assay.ParseTemplate(object)
			r.checkNames(w.node, t, "gate")
			switch w.condition.Measure.Name {
			case "resident", "disk_free":
				g.Object = r.within(t)
			default:
				g.Object = t
			}
		}
		for _, at := range w.at {
			g.At = at
			r.e.Gates = append(r.e.Gates, g)
		}
	}
}

func (r *reader) readGuards(n *yaml.Node) {
	taken := map[string]int{}
	for _, w := range r.conditions(n, "guard", judged) {
		if names := assay.ParseTemplate(w.condition.Measure.Object).Names(); len(names) > 0 {
			r.onceAt(w.node, "guard: {%s} cannot stand here; name the cells under at", names[0])
		}
		name := w.name
		if name == "" {
			name = w.condition.Measure.Name
		}
		if taken[name]++; taken[name] > 1 {
			if w.name != "" {
				r.mistake(w.node, "guard: the name %s stands twice", name)
			}
			name += "-" + strconv.Itoa(taken[name])
		}
		for _, at := range w.at {
			r.e.Guards = append(r.e.Guards, assay.Guard{Name: name, Condition: w.condition, At: at})
		}
	}
}
