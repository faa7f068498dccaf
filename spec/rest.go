package spec

import (
	"strconv"
	"strings"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

func (r *reader) seed(n *yaml.Node) {
	s, ok := r.text(n, "seed")
	v, err := strconv.ParseUint(s, 10, 53)
	if ok && err != nil {
		r.mistake(n, "seed: want a whole number from 0 to 2^53 - 1, got %q", shorten(s))
	}
	r.e.Seed = v
}

// readCited reads figures from elsewhere: {cell, MEASURE: value, source}. Their levels need not be
// levels of the experiment, since nothing is executed for them.
func (r *reader) readCited(n *yaml.Node) {
	for _, c := range r.items(n, "cited", true) {
		o, ok := r.object(c, "cited", "cited")
		if !ok {
			continue
		}
		var cited assay.Cited
		cited.Cell = assay.Cell{}
		for _, e := range r.entries(o.need("cell", ": the levels it was measured at"), "cited: cell", assay.IsIdent) {
			if _, ok := r.factor(e.name); !ok {
				r.mistake(e.key, "cited: cell: no factor is named %q%s", e.name, suggest(e.name, r.factorNames()))
			}
			cited.Cell[e.name], _ = r.text(e.value, "cited: cell")
		}
		cited.Source, _ = r.text(o.need("source", ": where the figure is from"), "cited: source")
		for name, value := range o.values {
			if _, declared := r.measures[name]; declared {
				o.asked = append(o.asked, name)
				r.citedValue(&cited, name, value)
			}
		}
		if cited.Measure == "" {
			r.mistake(c, "cited: want the value of a declared measure, such as ns: 135us%s", suggest("", r.declared))
		}
		o.close()
		r.e.Cited = append(r.e.Cited, cited)
	}
}

func (r *reader) citedValue(cited *assay.Cited, name string, n *yaml.Node) {
	if cited.Measure != "" {
		r.mistake(n, "cited: one measure a row; this row has %s and %s", cited.Measure, name)
		return
	}
	cited.Measure = name
	s, ok := r.text(n, "cited: "+name)
	if !ok {
		return
	}
	q, err := assay.ParseQuantity(s)
	if err != nil {
		r.mistake(n, "cited: %s: %v", name, err)
		return
	}
	r.comparable(n, name, r.measures[name].Unit, q, "cited")
	cited.Value = q
}

// readCeilings reads declared limits: {measure, limit, at}, the limit being a quantity or an
// expression over levels, derived names and numbers in the measure's unit.
func (r *reader) readCeilings(n *yaml.Node) {
	for _, c := range r.items(n, "ceilings", true) {
		o, ok := r.object(c, "ceiling", "ceilings")
		if !ok {
			continue
		}
		var ceiling assay.Ceiling
		var unit assay.Unit
		m := o.need("measure", "")
		if s, ok := r.text(m, "ceilings: measure"); ok {
			ceiling.Measure, unit, _ = r.reference(m, s, "ceilings: measure", judged)
		}
		if at := o.get("at"); at != nil {
			if ceiling.At, ok = r.cell(at, "ceilings: at"); ok {
				r.checkAt(at, []assay.Cell{ceiling.At}, "ceilings")
			}
		}
		if l := o.need("limit", ": a quantity, or an expression over levels and derived names"); l != nil {
			r.limit(&ceiling, l, unit)
		}
		o.close()
		r.e.Ceilings = append(r.e.Ceilings, ceiling)
	}
}

// limit evaluates a ceiling for each of its cells, in base units.
func (r *reader) limit(c *assay.Ceiling, n *yaml.Node, unit assay.Unit) {
	text, ok := r.text(n, "ceilings: limit")
	if !ok {
		return
	}
	c.Expr, c.Limit = text, map[string]float64{}
	q, err := assay.ParseQuantity(text)
	// "117 / 4.2" reads as 117 of a unit named "/ 4.2", and is a division.
	if err == nil && !strings.HasPrefix(q.Unit.Dim.Base, "/") {
		r.comparable(n, c.Measure.String(), unit, q, "ceilings: limit")
		for _, s := range r.e.Settings {
			if s.Cell.Matches(c.At) {
				c.Limit[s.Cell.Key()] = q.In(unit)
			}
		}
		return
	}
	var derived []string
	for _, d := range r.derived {
		derived = append(derived, d.name)
	}
	d, ok := r.expression(n, text, "ceilings: limit", derived)
	if !ok {
		return
	}
	for _, s := range r.e.Settings {
		if !s.Cell.Matches(c.At) {
			continue
		}
		v, err := r.evaluate(d, s.Values)
		x, numErr := strconv.ParseFloat(v, 64)
		if err != nil || numErr != nil {
			r.onceAt(n, "ceilings: limit: no number in the cell %s", s.Cell)
			return
		}
		c.Limit[s.Cell.Key()] = x * unit.Scale
	}
}

func (r *reader) readInstrument(n *yaml.Node) {
	if n == nil {
		return
	}
	o, ok := r.object(n, "instrument", "instrument")
	if !ok {
		return
	}
	if t := o.get("twin"); t != nil {
		if cell, ok := r.cell(t, "twin"); ok {
			r.e.Instrument.Twin = r.onlyCell(t, cell)
		}
	}
	if i := o.get("inject"); i != nil {
		r.e.Instrument.Inject = r.inject(i)
	}
	o.close()
}

// onlyCell is the one cell of the design that has the levels of pattern, completed by base.
func (r *reader) onlyCell(n *yaml.Node, pattern assay.Cell) assay.Cell {
	var found []assay.Cell
	for _, c := range r.cells() {
		if c.Matches(pattern) {
			found = append(found, c)
		}
	}
	if len(found) > 1 {
		for _, c := range found {
			if c.Matches(r.e.Base.With(pattern)) && len(r.e.Base) > 0 {
				return c
			}
		}
		r.mistake(n, "twin: %d cells have %s; name one level of every factor", len(found), pattern)
		return nil
	}
	if len(found) == 0 && r.unsure {
		return nil
	}
	if len(found) == 0 {
		r.mistake(n, "twin: no cell of the design has %s", pattern)
		return nil
	}
	return found[0]
}

func (r *reader) inject(n *yaml.Node) *assay.Inject {
	o, ok := r.object(n, "inject", "inject")
	if !ok {
		return nil
	}
	in := &assay.Inject{}
	if e := o.get("each"); e != nil {
		f, _ := r.factorName(e, "inject: each")
		in.Each = f.Name
	}
	in.Of, _ = r.cell(o.need("of", ": the level with the delay"), "inject: of")
	in.To, _ = r.cell(o.need("to", ": the level without it"), "inject: to")
	if in.Of != nil && in.To != nil && (in.Of.Key() == in.To.Key() || strings.Join(keys(in.Of), " ") != strings.Join(keys(in.To), " ")) {
		r.mistake(o.keys["to"], "inject: of and to must name the same factor at two levels")
	}
	if m := o.need("moves", ": the measure that must move"); m != nil {
		if s, ok := r.text(m, "inject: moves"); ok {
			in.Moves, _, _ = r.reference(m, s, "inject: moves", judged)
		}
	}
	if b := o.need("by", ": where the trial says how long the delay was, such as {json: spin_ns}"); b != nil {
		if source, ok := r.object(b, "source", "inject: by"); ok {
			in.By, _ = r.source(source, "inject: by")
			source.close()
		}
	}
	in.Tolerance = 0.25
	if t := o.get("tolerance"); t != nil {
		in.Tolerance, _ = r.share(t, "inject: tolerance", true)
	}
	o.close()
	return in
}

func (r *reader) readRefine(n *yaml.Node) {
	if n == nil {
		return
	}
	o, ok := r.object(n, "refine", "refine")
	if !ok {
		return
	}
	f := &assay.Refine{Blocks: r.e.Blocks, Budget: 4}
	if a := o.need("along", ": the factor to which levels are added"); a != nil {
		factor, ok := r.factorName(a, "refine: along")
		f.Along = factor.Name
		if ok && !r.unsure && longestAxis(r.cells(), nil, factor.Name) < 2 {
			r.mistake(a, "refine: along %s the design has less than 2 levels with all else the same", factor.Name)
		}
	}
	if k := o.need("knee", ": the measure whose knee is looked for"); k != nil {
		if s, ok := r.text(k, "refine: knee"); ok {
			f.Knee, _, _ = r.reference(k, s, "refine: knee", judged)
		}
	}
	if b := o.get("blocks"); b != nil {
		f.Blocks, _ = r.integer(b, "refine: blocks", 1)
	}
	if b := o.get("budget"); b != nil {
		f.Budget, _ = r.integer(b, "refine: budget", 1)
	}
	if w := o.get("width"); w != nil {
		s, ok := r.text(w, "refine: width")
		v, err := strconv.ParseFloat(s, 64)
		if ok && (err != nil || !(v > 1)) {
			r.mistake(w, "refine: width: want a ratio above 1, such as 1.1, got %q", shorten(s))
		}
		f.Width = v
	}
	o.close()
	r.e.Refine = f
}
