package grade

import (
	"math"
	"slices"

	"github.com/assaybench/assay"
)

// nearlyAll is the share of what was offered, or of a ceiling, from which on a figure says what the
// pacer, the link or the roof gave, and not what the target could have done.
const nearlyAll = 0.97

// pinned is how near, as a share, a quantile of times comes to a time limit that cut it off.
const pinned = 0.005

// offeredBound reports whether the number of trial i is bounded by what surrounds the target: a rate by
// the rate offered or by a declared ceiling, a quantile of times by the timeout or the length of the
// load. The true figure is then at least that.
func (j *judge) offeredBound(f *field, i int, x float64) bool {
	cell := j.schedule.cell[i]
	load := j.loadOf(int(cell))
	switch {
	case f.Ref.Name == "rate" && load != nil && load.Clients == 0:
		offered := load.Rate
		for _, s := range load.Steps {
			offered = math.Max(offered, s.Rate)
		}
		return offered > 0 && x+j.underWay(i, load) >= nearlyAll*offered
	case f.Ref.Name == "response_time" && load != nil:
		return j.atTimeLimit(load, x)
	}
	return !f.hasFloor() && j.nearCeiling(f, int(cell), x)
}

// underWay is the rate that the operations still under way at the end of trial i's window would add:
// under a load that the target keeps up with they are no shortfall.
func (j *judge) underWay(i int, load *assay.Load) float64 {
	t := &j.Trials[i]
	flying, ok := t.Measures[assay.MeasureKey(assay.MeasureRef{Name: "in_flight"})]
	if !ok || load.For <= 0 || slices.Contains(t.Notes, "overload") {
		return 0
	}
	return flying.Number / load.For.Seconds()
}

// hasFloor reports whether a limit of the measure is one from below: a time can be no shorter. A
// limit of anything else, a rate or a size, is one from above.
func (f *field) hasFloor() bool {
	return f.Better == assay.Lower && f.Unit.Dim == assay.Dimension{Base: "ns"}
}

// loadOf is the load of a cell of the plan, nil for none.
func (j *judge) loadOf(cell int) *assay.Load {
	if j.loads == nil {
		by := map[string]*assay.Load{}
		for i := range j.Experiment.Settings {
			s := &j.Experiment.Settings[i]
			by[s.Cell.Key()] = s.Workload.Load
		}
		j.loads = make([]*assay.Load, len(j.plan.Cells))
		for i, c := range j.plan.Cells {
			j.loads[i] = by[c.Cell.Key()]
		}
	}
	return j.loads[cell]
}

// atTimeLimit reports whether a time in ns is that of the load's timeout, its length or a step's.
func (j *judge) atTimeLimit(load *assay.Load, ns float64) bool {
	limits := []float64{float64(load.Timeout), float64(load.For)}
	for _, s := range load.Steps {
		limits = append(limits, float64(s.For))
	}
	for _, limit := range limits {
		if limit > 0 && math.Abs(ns-limit) <= pinned*limit {
			return true
		}
	}
	return false
}

func (j *judge) nearCeiling(f *field, cell int, x float64) bool {
	for i := range j.Experiment.Ceilings {
		limit := &j.Experiment.Ceilings[i]
		if limit.Measure != f.Ref || !j.plan.Cells[cell].Cell.Matches(limit.At) {
			continue
		}
		bound := limit.Limit[j.plan.Cells[cell].Cell.Key()]
		if base := x * f.Unit.Scale; bound > 0 && base >= nearlyAll*bound && base <= bound {
			return true
		}
	}
	return false
}
