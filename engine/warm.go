package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/telemetry"
)

// cold are the conditions by which the file declares files cold: gates on resident(FILES). They
// are asked last before the trial begins, when hooks have evicted and digests have been read.
func (t *trial) cold() []assay.Gate {
	var list []assay.Gate
	for _, g := range t.run.Experiment.Gates {
		if g.Condition.Measure.Name == residentMeasure && t.record.Cell.Matches(g.At) {
			list = append(list, g)
		}
	}
	return list
}

const residentMeasure = "resident"

// warm records how much of the files that are declared cold is in the page cache at the moment the
// trial begins, and voids it where that is more than was declared: a gate that held before the
// targets stood says nothing of what they have read since.
func (t *trial) warm(ctx context.Context) error {
	gauge := &telemetry.Gauge{Dir: t.dir}
	unit, _ := assay.BuiltinMeasure(residentMeasure)
	for _, g := range t.cold() {
		c, err := t.filled(g)
		if err != nil {
			return err
		}
		v, err := gauge.Read(ctx, c.Measure)
		switch {
		case errors.Is(err, telemetry.ErrAbsent):
			t.note(fmt.Sprintf("warm: %v", err))
		case err != nil:
			return err
		case !c.HoldsFor(v, unit.Unit, 0):
			t.void("warm", fmt.Sprintf("mincore shows %.1f%% of %s in the page cache when the trial began, declared is %s: evict it (prepare: evict), or read files that nobody has read",
				100*v.Number, c.Measure.Object, c))
		}
		if err == nil {
			t.measure(assay.MeasureRef{Name: residentMeasure, Object: c.Measure.Object}, v.Number)
		}
	}
	return t.inputsResident()
}

// inputsResident notes how much of the declared inputs is in the page cache at the start, where a
// declared ceiling may ask for it.
func (t *trial) inputsResident() error {
	t.resident = 0
	if len(t.run.Experiment.Ceilings) == 0 {
		return nil
	}
	for _, path := range t.run.Experiment.Inputs {
		share, err := telemetry.Resident(path)
		if errors.Is(err, telemetry.ErrAbsent) {
			continue
		}
		if err != nil {
			return err
		}
		t.measure(assay.MeasureRef{Name: residentMeasure, Object: path}, share)
		t.resident = max(t.resident, share)
	}
	return nil
}

// beyond is by how much a figure must exceed a limit to void its trial: noise about a limit must not
// choose which trials count. A median above it is for grading to find.
const beyond = 1.05

// ceilings voids a trial whose figure is above what is declared to be possible, and says so where its
// inputs came from the page cache and not from what was to be measured.
func (t *trial) ceilings() {
	for _, c := range t.run.Experiment.Ceilings {
		limit, ok := c.Limit[t.record.Cell.Key()]
		if !ok || !t.record.Cell.Matches(c.At) || limit <= 0 || c.Measure.Name == "" {
			continue
		}
		v, unit, err := t.value(c.Measure)
		if err != nil || v.IsText || t.lower(c.Measure) || v.Number*unit.Scale <= beyond*limit {
			continue
		}
		times := v.Number * unit.Scale / limit
		t.void("ceiling", fmt.Sprintf("%s was %s, %.3g times the declared limit %s: a cache, work that was left out, or a clock that did not see it all; lever: what the figure leaves out",
			c.Measure, shown(v, unit), times, c.Expr))
		if t.resident > residentBound {
			t.void("warm", fmt.Sprintf("mincore showed %.1f%% of an input in the page cache when the trial began: the figure is of memory; evict it (prepare: evict)", 100*t.resident))
		}
	}
}

// residentBound is how much of an input may be in the page cache where a figure exceeds its limit.
const residentBound = 0.05

// lower reports whether less of a measure is better: its limit is then a floor, which grading knows.
func (t *trial) lower(ref assay.MeasureRef) bool {
	for _, m := range t.run.Experiment.Measures {
		if m.Name == ref.Name {
			return m.Better == assay.Lower
		}
	}
	b, _ := assay.BuiltinMeasure(ref.Name)
	return b.Better == assay.Lower
}
