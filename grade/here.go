package grade

import (
	"fmt"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// notHere says which matching cell this machine cannot execute; empty for none. A claim must hold in
// every matching cell, so that one that cannot be executed leaves it untested.
func (j *judge) notHere(h *assay.Hypothesis) string {
	for _, absent := range j.plan.Absent {
		if j.concerns(h, absent.Cell) {
			return fmt.Sprintf("%s cannot be executed on this machine: %s", absent.Cell, absent.Why)
		}
	}
	return ""
}

// concerns reports whether the hypothesis takes the cell in, on either side. A pair counts only if
// both of its cells are in the design.
func (j *judge) concerns(h *assay.Hypothesis, cell assay.Cell) bool {
	if h.Of == nil && h.To == nil {
		return cell.Matches(h.At)
	}
	return cell.Matches(h.At.With(h.Of)) && j.designed(cell.With(h.To)) ||
		cell.Matches(h.At.With(h.To)) && j.designed(cell.With(h.Of))
}

func (j *judge) designed(cell assay.Cell) bool {
	for _, list := range [][]assay.PlannedCell{j.plan.Cells, j.plan.Absent} {
		for _, c := range list {
			if c.Cell.Matches(cell) {
				return true
			}
		}
	}
	return false
}

// needsNot says that the regime in which the claim can be tested is not given here, and what would
// have to change; empty if it is given or none is stated.
func (j *judge) needsNot(h *assay.Hypothesis) string {
	if h.Needs == nil {
		return ""
	}
	v, unit, ok := j.observed(h)
	switch {
	case !ok:
		return fmt.Sprintf("needs %s, and %s was not measured here", h.Needs, h.Needs.Measure)
	case h.Needs.HoldsFor(v, unit, j.times(h.Needs)):
		return ""
	}
	return fmt.Sprintf("testable where %s; here %s was %s", h.Needs, h.Needs.Measure, shownValue(v, unit))
}

func shownValue(v assay.Value, unit assay.Unit) string {
	if v.IsText {
		return "'" + v.Text + "'"
	}
	return figure(v.Number, unit.Name)
}

// observed is what the condition's measure was: a ceiling measured on this host, else the median over
// the trials of the hypothesis's cells.
func (j *judge) observed(h *assay.Hypothesis) (assay.Value, assay.Unit, bool) {
	ref := h.Needs.Measure
	for _, c := range j.Host.Ceilings {
		if unit, err := assay.ParseUnit(c.Unit); err == nil && (c.Name == ref.String() || c.Name == ref.Name && ref.Object == "") {
			return assay.Num(c.Value), unit, true
		}
	}
	f, err := j.field(ref)
	if err != nil {
		return assay.Value{}, assay.Unit{}, false
	}
	var xs []float64
	for i, e := range f.entries {
		if !j.concerns(h, j.Trials[i].Cell) {
			continue
		}
		if e.state == text {
			return assay.Txt(e.text), f.Unit, true
		}
		if e.exact() {
			xs = append(xs, e.low)
		}
	}
	return assay.Num(stat.Median(xs)), f.Unit, len(xs) > 0
}

// times is the median of the measure that the condition's bound is a multiple of, in base units.
func (j *judge) times(c *assay.Condition) float64 {
	if c.Bound.Times.Name == "" {
		return 0
	}
	f, err := j.field(c.Bound.Times)
	if err != nil {
		return 0
	}
	var xs []float64
	for _, e := range f.entries {
		if e.exact() {
			xs = append(xs, e.low)
		}
	}
	return stat.Median(xs) * f.Unit.Scale
}
