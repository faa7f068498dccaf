package grade

import (
	"fmt"
	"math"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// twinConfidence is that of the check that a cell and its twin do not differ. It is high, since it is
// made on every judging and voids all claims about the measure.
const twinConfidence = 0.999

// An instrument is what the experiment's own checks of its instrument came to.
type instrument struct {
	resolution map[string]twinGap   // by measure
	dead       map[string]deadLevel // by the level of inject's each; "" without each
	unshown    string               // why the injected delay could not be checked at all
}

// A twinGap is by how much a cell and its twin differ.
type twinGap struct {
	gap   float64 // largest log ratio that the interval of the A/A comparison allows
	apart bool    // the two differ beyond chance
	note  string
}

// A deadLevel is a delay that did not move the figure by about itself.
type deadLevel struct{ note string }

// examine checks the instrument; nil for an experiment without one.
func (j *judge) examine() *instrument {
	in := &j.Experiment.Instrument
	if in.Twin == nil && in.Inject == nil {
		return nil
	}
	j.last = j.plan.Blocks
	b := &instrument{resolution: map[string]twinGap{}, dead: map[string]deadLevel{}}
	if in.Inject != nil {
		j.checkInjection(b, in.Inject)
	}
	return b
}

// twin is the A/A comparison of a measure; ok is false where there is none.
func (j *judge) twin(f *field) (twinGap, bool) {
	if j.bench == nil || j.Experiment.Instrument.Twin == nil || f.MaxOf.Name != "" {
		return twinGap{}, false
	}
	if g, ok := j.bench.resolution[f.Ref.String()]; ok {
		return g, true
	}
	first := j.schedule.cells.find(j.Experiment.Instrument.Twin)
	second, ok := j.schedule.twins[first]
	if !ok {
		return twinGap{}, false
	}
	var d draws
	for i := range j.schedule.blocks {
		b := &j.schedule.blocks[i]
		x, y := j.member(f, b, first), j.member(f, b, second)
		if !b.torn && x.exact() && y.exact() && !x.unlike && !y.unlike {
			d.add(logRatio(x.low, y.low), logRatio(x.low, y.low))
		}
	}
	s := d.span(1 - alpha)
	if !s.ok {
		return twinGap{}, false
	}
	wide := d.span(twinConfidence)
	g := twinGap{gap: math.Max(math.Abs(s.printLow), math.Abs(s.printHigh)), apart: wide.ok && (wide.printLow > 0 || wide.printHigh < 0)}
	g.note = fmt.Sprintf("A/A: %s against itself is %s (%s to %s) over %d blocks, so that the resolution of %s is %.2g%%", j.Experiment.Instrument.Twin,
		figure(math.Exp(s.estimate), ""), figure(math.Exp(s.printLow), ""), figure(math.Exp(s.printHigh), ""), s.n, f.Ref, 100*math.Expm1(g.gap))
	j.bench.resolution[f.Ref.String()] = g
	return g, true
}

// checkInjection holds, for every level of each, the move of the figure against the delay injected.
func (j *judge) checkInjection(b *instrument, in *assay.Inject) {
	f, err := j.field(in.Moves)
	if err != nil {
		b.unshown = err.Error()
		return
	}
	levels := []string{""}
	if in.Each != "" {
		levels = j.factor(in.Each).Order()
	}
	for _, level := range levels {
		pattern := assay.Cell{}
		if in.Each != "" {
			pattern[in.Each] = level
		}
		if note := j.injectionAt(f, in, pattern); note != "" {
			b.dead[level] = deadLevel{note}
		}
	}
}

// injectionAt says how the delay failed to move the figure; empty if it moved it, or if there is no
// such level here.
func (j *judge) injectionAt(f *field, in *assay.Inject, pattern assay.Cell) string {
	for of, cell := range f.cells {
		if !cell.Matches(pattern.With(in.Of)) {
			continue
		}
		to := f.find(cell.With(in.To))
		if to < 0 {
			continue
		}
		var moved, injected []float64
		for _, p := range j.collect(f, of, to).pairs {
			if p.of.exact() && p.to.exact() {
				moved = append(moved, p.of.low-p.to.low)
			}
			if p.of.trial > 0 {
				if v, ok := j.Trials[p.of.trial-1].Measures[assay.InjectedKey]; ok && !v.IsText {
					injected = append(injected, v.Number)
				}
			}
		}
		unit := f.Unit.Name
		delta, by := stat.Median(moved), stat.Median(injected)
		switch {
		case len(injected) == 0 || len(moved) == 0:
			return fmt.Sprintf("the delay at %s was never recorded", cell)
		case !(math.Abs(delta-by) <= in.Tolerance*math.Abs(by)):
			return fmt.Sprintf("at %s a delay of %s moved %s by %s; %.0f%% either way was allowed", cell, figure(by, unit), f.Ref, figure(delta, unit), 100*in.Tolerance)
		}
	}
	return ""
}

// deadInstrument says why the instrument voids a finding about the field in these cells.
func (j *judge) deadInstrument(f *field, cells ...assay.Cell) string {
	in := j.Experiment.Instrument.Inject
	if j.bench == nil {
		return ""
	}
	if g, ok := j.twin(f); ok && g.apart {
		return "the A/A twins differ, though they are one cell: " + g.note
	}
	if in == nil || in.Moves != f.Ref {
		return ""
	}
	if j.bench.unshown != "" {
		return j.bench.unshown
	}
	for _, cell := range cells {
		level := ""
		if in.Each != "" {
			level = cell[in.Each]
		}
		if d, ok := j.bench.dead[level]; ok {
			return d.note
		}
	}
	return ""
}

// belowResolution reports whether the claim hangs on less than what a cell differs from itself by.
func (j *judge) belowResolution(c *comparison, out *Finding) bool {
	g, ok := j.twin(c.f)
	if !ok || c.to < 0 {
		return false
	}
	out.note("%s", g.note)
	if out.Status != assay.Pass && out.Status != assay.Fail {
		return false
	}
	distance := math.Inf(1)
	switch c.h.Kind {
	case assay.Ratio:
		distance = math.Abs(math.Log(out.Estimate / c.h.Expect.Bound.Base()))
		if c.h.Expect.IsRange {
			distance = math.Min(distance, math.Abs(math.Log(out.Estimate/c.h.Expect.High.Base())))
		}
	case assay.Same:
		distance = math.Abs(math.Log1p(c.h.Margin) - math.Abs(math.Log(out.Estimate)))
	case assay.Difference:
		bound := c.h.Expect.Bound.In(c.f.Unit) / c.f.Unit.Scale
		distance = math.Abs((out.OfMedian - out.ToMedian - bound) / out.ToMedian)
	}
	if distance >= g.gap {
		return false
	}
	out.say(assay.Undecided, assay.Underpowered, "the estimate and the bound lie nearer to each other than the A/A twins")
	return true
}
