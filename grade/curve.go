package grade

import (
	"maps"
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// A curve is one row of cells along an axis, with what the judging blocks give for each level.
type curve struct {
	h      *assay.Hypothesis
	f      *field
	rest   assay.Cell // what the cells share
	axis   axis
	cells  []int // by level: the field's cell
	pool   string
	rows   []row
	lost   int  // planned blocks in which voids left a level without a number
	blocks int  // rows that have every level
	inner  bool // of a stage: its first and last level are not the axis's
}

// A row is what one planned block gives, by level.
type row struct {
	block   *block
	entries []entry
}

// An axis is the levels of a factor in order, as numbers.
type axis struct {
	factor string
	levels []string
	values []float64 // in base units; positions counted from 0 where the levels are no quantities
	unit   assay.Unit
	scaled bool // values are quantities
}

// axisOf is the axis of the levels that occur, in the factor's order.
func axisOf(f assay.Factor, occur map[string]int) axis {
	a := axis{factor: f.Name, scaled: true, unit: assay.Unit{Scale: 1}}
	f.Levels = slices.Clone(f.Levels)
	for _, text := range slices.Sorted(maps.Keys(occur)) { // levels that a stage added
		if _, ok := f.Level(text); !ok {
			f.Levels = append(f.Levels, assay.Level{Text: text})
		}
	}
	for _, text := range f.Order() {
		if _, ok := occur[text]; ok {
			a.levels = append(a.levels, text)
		}
	}
	var written assay.Dimension // of the levels' own text: a factor's unit stands for all bare ones
	for i, text := range a.levels {
		q, err := assay.ParseQuantity(text)
		if err != nil || i > 0 && q.Unit.Dim != written {
			a.scaled = false
			break
		}
		if i == 0 {
			a.unit, written = q.Unit, q.Unit.Dim
			if u, err := assay.ParseUnit(f.Unit); q.Bare && f.Unit != "" && err == nil {
				a.unit = u
			}
		}
		a.values = append(a.values, q.In(a.unit))
	}
	if !a.scaled {
		a.values, a.unit = nil, assay.Unit{Scale: 1}
		for i := range a.levels {
			a.values = append(a.values, float64(i))
		}
	}
	return a
}

// bound is a level named by an expectation, as a value of the axis: its number, or its place.
func (a axis) bound(e assay.Expectation) assay.Expectation {
	if a.scaled {
		return e
	}
	place := func(q assay.Quantity) assay.Quantity {
		return assay.Quantity{Number: float64(slices.Index(a.levels, q.Text)), Bare: true}
	}
	e.Bound = place(e.Bound)
	if e.IsRange {
		e.High = place(e.High)
	}
	return e
}

// curves are the rows of cells along the hypothesis's axis, one for each combination of the other
// factors that occurs at two levels or more, split by the session or the fingerprint.
func (j *judge) curves(h *assay.Hypothesis, f *field, name func(*block) string) []curve {
	var order []string
	groups := map[string]map[string]int{}
	rests := map[string]assay.Cell{}
	for i, c := range f.cells {
		level, ok := c[h.Along]
		if !ok || !c.Matches(h.At) {
			continue
		}
		rest := c.Without(h.Along)
		key := rest.Key()
		if groups[key] == nil {
			order = append(order, key)
			groups[key], rests[key] = map[string]int{}, rest
		}
		groups[key][level] = i
	}
	var all []curve
	for _, key := range order {
		if len(groups[key]) < 2 {
			continue
		}
		c := curve{h: h, f: f, rest: rests[key], axis: axisOf(j.factor(h.Along), groups[key])}
		for _, level := range c.axis.levels {
			c.cells = append(c.cells, groups[key][level])
		}
		all = append(all, j.split(c, name)...)
	}
	return all
}

func (j *judge) factor(name string) assay.Factor {
	for _, f := range j.Experiment.Factors {
		if f.Name == name {
			return f
		}
	}
	return assay.Factor{Name: name}
}

// split collects the curve's rows and parts them by name.
func (j *judge) split(c curve, name func(*block) string) []curve {
	j.gather(&c)
	names := []string{}
	for _, r := range c.rows {
		if n := name(r.block); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) < 2 {
		return []curve{c}
	}
	var parts []curve
	for _, n := range names {
		part := c
		part.pool, part.rows, part.blocks = n, nil, 0
		for _, r := range c.rows {
			if name(r.block) == n {
				part.rows = append(part.rows, r)
				part.blocks += whole(r)
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// gather takes from each planned block the executed block with the most levels, the first of equals.
func (j *judge) gather(c *curve) {
	for s := range j.judging() {
		var best row
		most, void := 0, false
		for _, i := range s.blocks {
			b := &j.schedule.blocks[i]
			if b.torn {
				continue
			}
			r, n := j.rowOf(c, b)
			for _, cell := range c.cells {
				void = void || j.voided(b, c.f, cell)
			}
			if n > most {
				best, most = r, n
			}
		}
		if most > 0 {
			c.rows = append(c.rows, best)
			c.blocks += whole(best)
		}
		if most < len(c.cells) && void {
			c.lost++
		}
	}
}

func (j *judge) rowOf(c *curve, b *block) (r row, n int) {
	r = row{block: b, entries: make([]entry, len(c.cells))}
	for l, cell := range c.cells {
		e := j.at(c.f, b, cell)
		if e.unlike {
			e = entry{}
		}
		r.entries[l] = e
		if e.there() {
			n++
		}
	}
	return r, n
}

func whole(r row) int {
	for _, e := range r.entries {
		if !e.there() {
			return 0
		}
	}
	return 1
}

// matrix is the rows' numbers in base units, NaN for none, at one extreme of what is unknown.
func (c *curve) matrix(high bool) [][]float64 {
	m := make([][]float64, len(c.rows))
	for i, r := range c.rows {
		m[i] = make([]float64, len(r.entries))
		for l, e := range r.entries {
			switch {
			case !e.there():
				m[i][l] = math.NaN()
			case high:
				m[i][l] = e.high * c.f.Unit.Scale
			default:
				m[i][l] = e.low * c.f.Unit.Scale
			}
		}
	}
	return m
}

// gains is the matrix as logarithms, turned so that more is better.
func (c *curve) gains(high bool) [][]float64 {
	sign := 1.0
	if c.f.Better == assay.Lower {
		sign = -1
	}
	m := c.matrix(high)
	for _, row := range m {
		for l, x := range row {
			row[l] = sign * logRatio(x, 1)
		}
	}
	return m
}

// medians are the levels' medians in the measure's unit, NaN for a level without a number.
func (c *curve) medians() []float64 {
	out := make([]float64, len(c.cells))
	for l := range out {
		var xs []float64
		for _, r := range c.rows {
			if e := r.entries[l]; e.state == number || e.bound {
				xs = append(xs, e.low)
			}
		}
		out[l] = stat.Median(xs)
	}
	return out
}

// entries are all of the curve's, for counting.
func (c *curve) entries() []entry {
	var all []entry
	for _, r := range c.rows {
		for _, e := range r.entries {
			if e.state != absent {
				all = append(all, e)
			}
		}
	}
	return all
}

func (c *curve) apart() bool {
	return anyEntry(c.entries(), func(e entry) bool { return e.state == censored })
}

// finding begins a finding of the curve.
func (c *curve) finding(confidence float64) Finding {
	out := newFinding(c.rest, nil)
	out.Pool, out.Confidence, out.Blocks = c.pool, confidence, c.blocks
	noteOutcomes(&out, c.entries())
	return out
}

// spoiltCurve finds what forbids a verdict on the curve, in the order of the checks.
func (j *judge) spoiltCurve(c *curve, out *Finding) bool {
	for _, cell := range c.cells {
		if why := j.deadInstrument(c.f, c.f.cells[cell]); why != "" {
			out.say(assay.Void, assay.BadInstrument, why)
			return true
		}
	}
	for _, cell := range c.cells {
		if why := j.noEffect(c.f, cell); why != "" {
			out.say(assay.Void, assay.NoEffect, why)
			return true
		}
	}
	if need := stat.MinBlocks(out.Confidence); c.blocks < need && c.lost > 0 && (c.blocks == 0 || c.blocks+c.lost >= need) {
		var tallies []tally
		for _, cell := range c.cells {
			tallies = append(tallies, j.tally(c.f, cell))
		}
		out.say(assay.Void, chief(tallies...), "voids left too few whole blocks")
		return true
	}
	for _, cell := range c.cells {
		if why := j.unsteady(c.f, cell, out); why != "" {
			out.say(assay.Void, assay.GuardReason("steady"), why)
			return true
		}
	}
	for _, cell := range c.cells {
		if why := j.aboveCeiling(c.f, cell, out); why != "" {
			out.say(assay.Void, assay.AboveCeiling, why)
			return true
		}
	}
	all := c.entries()
	switch {
	case !anyEntry(all, entry.exact):
		out.say(assay.Untested, assay.Vacuous, "no ok trial has a number")
	case constant(all):
		out.say(assay.Untested, assay.Vacuous, "every trial at every level gave "+figure(all[0].low, c.f.Unit.Name)+": nothing that could have differed")
	default:
		return j.unequalLevels(c, out)
	}
	return true
}

// unequalLevels finds the level that lost more trials than the others together, beyond chance.
func (j *judge) unequalLevels(c *curve, out *Finding) bool {
	tallies := make([]tally, len(c.cells))
	lost, trials := 0, 0
	for l, cell := range c.cells {
		tallies[l] = j.tally(c.f, cell)
		lost, trials = lost+tallies[l].void+tallies[l].refused, trials+tallies[l].trials
	}
	for l, t := range tallies {
		own := t.void + t.refused
		if p := stat.FisherExact(own, t.trials-own, lost-own, trials-t.trials-(lost-own)); p < alpha/float64(len(tallies)) {
			out.say(assay.Undecided, assay.UnequalVoids)
			out.note("void or refused at %s=%s: %d of %d trials; elsewhere %d of %d", c.axis.factor, c.axis.levels[l], own, t.trials, lost-own, trials-t.trials)
			return true
		}
	}
	return false
}
