package engine

import (
	"fmt"
	"math"

	"github.com/assaybench/assay"
)

// fewSteps is how many steps of its clock a time must span to be a figure: with fewer, one step is
// more than 5% of it.
const fewSteps = 20

// coarse voids a trial that was timed by a clock too coarse for it. A declared measure that is a whole
// number of its unit, and within one of what the trial took by Assay's clock, was read off a clock that
// steps by that unit: of 9 s by a clock of whole seconds nobody knows whether they were 8.1 or 9.9.
func (t *trial) coarse() {
	wall := t.record.Measures[assay.MeasureKey(assay.MeasureRef{Name: "wall"})].Number
	for _, m := range t.run.Experiment.Measures {
		v, step := t.record.Measures[m.Name], m.Unit.Scale
		if m.Unit.Dim != (assay.Dimension{Base: "ns"}) || v.IsText || v.Number <= 0 || v.Number >= fewSteps || v.Number != math.Trunc(v.Number) {
			continue
		}
		if took := wall / step; math.Abs(took-v.Number) < 1 {
			t.void("clock", fmt.Sprintf("%s was %g %s, a whole number, of a trial of %.3g %s: its clock steps by 1 %s, which is %.0f%% of the figure; let a trial take %d %s or more, or time it by a finer clock",
				m.Name, v.Number, m.Unit.Name, took, m.Unit.Name, m.Unit.Name, 100/v.Number, fewSteps, m.Unit.Name))
		}
	}
}
