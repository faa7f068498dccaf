package grade

import (
	"fmt"
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// highest judges the highest level of an axis that meets conditions. Each level is decided three ways
// over its blocks: it meets if the interval of every condition's measure lies wholly inside the
// condition, it misses if one lies wholly outside. The answer is bracketed by fixed sequences, which
// need no division of alpha (Maurer, Hothorn and Lehmacher 1995): low is the last level, from the
// bottom up, before the first that is not shown to meet; high the last, from the top down, before the
// first that is not shown to miss.
func (j *judge) highest(h *assay.Hypothesis) []Finding {
	var fields []*field
	for _, c := range h.Meets {
		f, err := j.field(c.Measure)
		if err != nil {
			out := newFinding(h.At, nil)
			out.say(assay.Untested, assay.Vacuous, err.Error())
			return []Finding{out}
		}
		fields = append(fields, f)
	}
	if len(fields) == 0 {
		return nil
	}
	perCondition := make([][]curve, len(fields))
	for i, f := range fields {
		perCondition[i] = j.curves(h, f, func(b *block) string { return b.session })
	}
	var findings []Finding
	for n := range perCondition[0] {
		var row []curve
		for i := range perCondition {
			if n < len(perCondition[i]) {
				row = append(row, perCondition[i][n])
			}
		}
		if len(row) == len(fields) {
			findings = append(findings, j.highestOf(h, row))
		}
	}
	return findings
}

// highestOf judges one row of cells; curves holds it once for each condition.
func (j *judge) highestOf(h *assay.Hypothesis, curves []curve) Finding {
	c := &curves[0]
	if c.pool != "" {
		c.pool = "session " + c.pool
	}
	out := c.finding(j.confidence())
	out.Unit = c.axis.unit.Name
	for i := range curves {
		if j.spoiltLevels(&curves[i], &out) {
			return out
		}
	}
	levels := len(c.axis.levels)
	says := make([]stat.Decision, levels)
	for l := range levels {
		says[l] = stat.Confirmed
		for i := range curves {
			switch j.meets(h, &curves[i], &h.Meets[i], l, out.Confidence) {
			case stat.Refuted:
				says[l] = stat.Refuted
			case stat.Undecided:
				if says[l] == stat.Confirmed {
					says[l] = stat.Undecided
				}
			}
		}
	}
	restless := j.restless(curves, says, &out)
	low, high := sequences(says)
	c.stateHighest(&out, says, low, high)
	if status, _ := c.atMostAndLeast(low, high); restless && status != assay.Pass && status != assay.Fail {
		out.say(assay.Void, assay.GuardReason("steady"))
		return out
	}
	if c.blocks < stat.MinBlocks(out.Confidence) && low < 0 && high == levels {
		out.say(assay.Undecided, assay.Underpowered)
		return out
	}
	status, reason := c.atMostAndLeast(low, high)
	if status != assay.Pass && status != assay.Fail && unknownBetween(curves, low, high) {
		status, reason = assay.Untested, assay.Censored
	}
	if guard := j.voidLevel(c, low, high); guard != "" && status != assay.Pass && status != assay.Fail {
		out.say(assay.Void, guard, "voids left no trial at a level between")
		return out
	}
	out.say(status, reason)
	return out
}

// restless takes what they say from the levels whose times have no steady state, notes why, and reports
// whether there is one. The claim stands where the other levels decide it.
func (j *judge) restless(curves []curve, says []stat.Decision, out *Finding) (any bool) {
	for l := range says {
		for i := range curves {
			if why := j.unsteady(curves[i].f, curves[i].cells[l], out); why != "" {
				says[l], any = stat.Undecided, true
				if !slices.Contains(out.Notes, why) {
					out.note("%s", why)
				}
			}
		}
	}
	return any
}

// voidLevel is what voided every trial of a level between low and high, if there is such a level. A
// level that was never put to the target is no sign that the target missed there.
func (j *judge) voidLevel(c *curve, low, high int) assay.Reason {
	for level := low + 1; level < high; level++ {
		if slices.ContainsFunc(c.rows, func(r row) bool { return r.entries[level].state != absent }) {
			continue
		}
		if guard := chief(j.tally(c.f, c.cells[level])); guard != "" {
			return guard
		}
	}
	return ""
}

// unknownBetween reports whether an undecided level holds trials whose numbers nobody knows.
func unknownBetween(curves []curve, low, high int) bool {
	for i := range curves {
		for _, r := range curves[i].rows {
			for _, e := range r.entries[low+1 : high] {
				if e.state == censored && !e.bound {
					return true
				}
			}
		}
	}
	return false
}

// sequences are the last level shown to meet, from the bottom, and the last shown to miss, from the top.
func sequences(says []stat.Decision) (low, high int) {
	low, high = -1, len(says)
	for low+1 < len(says) && says[low+1] == stat.Confirmed {
		low++
	}
	for high > 0 && says[high-1] == stat.Refuted {
		high--
	}
	return low, high
}

// meets decides one condition at one level.
func (j *judge) meets(h *assay.Hypothesis, c *curve, cond *assay.Condition, level int, confidence float64) stat.Decision {
	miss := math.Inf(1)
	if cond.Op == assay.Greater || cond.Op == assay.GreaterEq {
		miss = math.Inf(-1)
	}
	harm := h.Censoring || j.harms(cond.Measure)
	var d draws
	for _, r := range c.rows {
		switch e := r.entries[level]; {
		case e.state == absent || e.state == text:
		case e.failed || e.killed && harm:
			d.add(miss, miss)
		default:
			d.add(e.low*c.f.Unit.Scale, e.high*c.f.Unit.Scale)
		}
	}
	s := d.span(confidence)
	e := assay.Expectation{Op: cond.Op, Bound: cond.Bound.Quantity}
	if cond.Bound.Times.Name != "" {
		e.Bound = assay.Quantity{Number: cond.Bound.Quantity.Number * j.times(cond) / c.f.Unit.Scale, Bare: true}
	}
	switch {
	case s.ok && e.Inside(s.printLow, s.printHigh, c.f.Unit):
		return stat.Confirmed
	case s.ok && e.Outside(s.printLow, s.printHigh, c.f.Unit):
		return stat.Refuted
	}
	return stat.Undecided
}

// harms reports whether a kill rule watches the measure: a killed trial then missed the condition.
func (j *judge) harms(ref assay.MeasureRef) bool {
	for i := range j.Experiment.Settings {
		for _, k := range j.Experiment.Settings[i].Workload.Kills {
			if k.When.Measure.Name == ref.Name && k.When.Measure.Object == ref.Object {
				return true
			}
		}
	}
	return false
}

// spoiltLevels finds what forbids a verdict on a row of levels; levels that differ in nothing are no
// reason, since they may all meet.
func (j *judge) spoiltLevels(c *curve, out *Finding) bool {
	for _, cell := range c.cells {
		if why := j.noEffect(c.f, cell); why != "" {
			out.say(assay.Void, assay.NoEffect, why)
			return true
		}
	}
	if !anyEntry(c.entries(), func(e entry) bool { return e.exact() || e.failed }) {
		var tallies []tally
		for _, cell := range c.cells {
			tallies = append(tallies, j.tally(c.f, cell))
		}
		if guard := chief(tallies...); guard != "" {
			out.say(assay.Void, guard, "voids left no trial")
			return true
		}
		out.say(assay.Untested, assay.Vacuous, fmt.Sprintf("no trial has %s", c.f.Ref))
		return true
	}
	return false
}

// stateHighest fills in the figures: low is the highest level shown to meet, high the lowest above it
// shown to miss.
func (c *curve) stateHighest(out *Finding, says []stat.Decision, low, high int) {
	value := func(i int) float64 { return c.axis.values[i] / c.axis.unit.Scale }
	words := map[stat.Decision]string{stat.Confirmed: "meets", stat.Refuted: "misses", stat.Undecided: "undecided"}
	for l, d := range says {
		out.note("%s=%s: %s", c.axis.factor, c.axis.levels[l], words[d])
	}
	if low >= 0 {
		out.Low, out.Estimate = value(low), value(low)
	}
	if high < len(says) {
		out.High = value(high)
	}
	switch {
	case high == 0:
		out.note("%s: the first level misses already; extend the axis downwards", edgeNote)
	case low == len(says)-1:
		out.note("%s: the last level still meets; extend the axis upwards", edgeNote)
	}
}

// atMostAndLeast holds the half-open [low, high) of levels against the claim.
func (c *curve) atMostAndLeast(low, high int) (assay.Status, assay.Reason) {
	from, to := math.Inf(-1), math.Inf(1)
	if low >= 0 {
		from = c.axis.values[low]
	}
	if high < len(c.axis.values) {
		to = math.Nextafter(c.axis.values[high], math.Inf(-1))
	}
	e := c.axis.bound(c.h.Expect)
	switch {
	case e.Inside(from, to, c.axis.unit):
		return assay.Pass, assay.Holds
	case e.Outside(from, to, c.axis.unit):
		return assay.Fail, assay.Contradicted
	case high-low > 1:
		return assay.Undecided, assay.Straddles
	case low < 0 || high == len(c.axis.values):
		return assay.Untested, assay.AxisEdge
	}
	return assay.Untested, assay.AxisGap
}
