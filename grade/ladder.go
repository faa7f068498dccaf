package grade

import (
	"fmt"
	"math"

	"github.com/assaybench/assay"
)

// ladder judges which rung of a ladder is the largest: the factor of each rung is taken within
// blocks, turned so that a gain is above 1, and compared with that of every other rung. The product
// of the factors is that of the whole ladder in every single block.
func (j *judge) ladder(h *assay.Hypothesis, f *field) []Finding {
	var l *assay.Ladder
	for i := range j.Experiment.Ladders {
		if j.Experiment.Ladders[i].Name == h.Ladder {
			l = &j.Experiment.Ladders[i]
		}
	}
	out := newFinding(h.At, nil)
	if l == nil || len(l.Rungs) < 3 {
		out.say(assay.Untested, assay.Vacuous, fmt.Sprintf("ladder %s: the largest of fewer than two rungs says nothing", h.Ladder))
		return []Finding{out}
	}
	c := curve{h: h, f: f, rest: assay.Cell{}, axis: axis{factor: "ladder " + l.Name, unit: assay.Unit{Scale: 1}}}
	for i, rung := range l.Rungs {
		cell := f.find(rung)
		if cell < 0 {
			out.say(assay.Untested, assay.NotTestableHere, fmt.Sprintf("rung %s is not executed", rung))
			return []Finding{out}
		}
		name := "start"
		if i > 0 {
			name = l.Added[i-1].Key()
		}
		c.cells = append(c.cells, cell)
		c.axis.levels = append(c.axis.levels, name)
		c.axis.values = append(c.axis.values, float64(i))
	}
	var findings []Finding
	for _, part := range j.split(c, func(b *block) string { return j.pool(b.session) }) {
		findings = append(findings, j.rungs(&part, l))
	}
	return findings
}

func (j *judge) rungs(c *curve, l *assay.Ladder) Finding {
	out := c.finding(j.confidence())
	if j.spoiltCurve(c, &out) {
		return out
	}
	c.noteMedians(&out)
	claimed := -1
	for i, added := range l.Added {
		if added.Key() == c.h.Largest.Key() {
			claimed = i
		}
	}
	steps := c.steps()
	c.noteSteps(&out, steps)
	if claimed < 0 {
		out.say(assay.Untested, assay.Vacuous, fmt.Sprintf("no rung adds %s", c.h.Largest))
		return out
	}
	own := steps[claimed].span(out.Confidence).over(math.Exp)
	out.Estimate = own.estimate
	if own.ok {
		out.Low, out.High = own.printLow, own.printHigh
	}
	out.say(c.largest(steps, claimed, out.Confidence))
	return out
}

// steps are the logarithms of the rungs' gains, a whole row at a time; the last is the whole ladder.
func (c *curve) steps() []draws {
	low, high := c.gains(false), c.gains(true)
	last := len(c.cells) - 1
	steps := make([]draws, last+1)
	for i := range low {
		if whole(c.rows[i]) == 0 {
			continue
		}
		for s := range steps {
			from, to := s, s+1
			if s == last {
				from, to = 0, last
			}
			a, b := extremes(low[i][from], high[i][from])
			x, y := extremes(low[i][to], high[i][to])
			steps[s].add(x-b, y-a)
		}
	}
	return steps
}

func extremes(a, b float64) (low, high float64) { return math.Min(a, b), math.Max(a, b) }

func (c *curve) noteSteps(out *Finding, steps []draws) {
	for s := range steps {
		name := c.axis.levels[min(s+1, len(c.axis.levels)-1)]
		if s == len(steps)-1 {
			name = "the whole ladder"
		}
		p := steps[s].span(out.Confidence).over(math.Exp)
		out.note("%s: factor %s (%s to %s)", name, figure(p.estimate, ""), figure(p.printLow, ""), figure(p.printHigh, ""))
	}
}

// largest decides whether the claimed rung gains more than each other one. All comparisons must say
// so, which needs no correction; that one of them says the contrary may be chance once for each, so
// that for a contradiction alpha is divided.
func (c *curve) largest(steps []draws, claimed int, confidence float64) (assay.Status, assay.Reason) {
	others := len(steps) - 2
	enough, apart := true, false
	leads := [2]bool{true, true} // of every other rung, at both extremes
	for s := range steps[:len(steps)-1] {
		if s == claimed {
			continue
		}
		var lead draws
		for i := range steps[s].low {
			lead.add(steps[claimed].low[i]-steps[s].high[i], steps[claimed].high[i]-steps[s].low[i])
		}
		p := lead.span(confidence)
		enough, apart = enough && p.ok, apart || p.apart
		for i := range leads {
			leads[i] = leads[i] && p.low[i] > 0
		}
		if divided := lead.span(1 - (1-confidence)/float64(others)); divided.ok && divided.printHigh < 0 {
			return assay.Fail, assay.Contradicted
		}
	}
	switch {
	case !enough:
		return assay.Undecided, assay.Underpowered
	case leads[0]:
		return assay.Pass, assay.Holds
	case apart && leads[1]:
		return assay.Untested, assay.Censored
	}
	return assay.Undecided, assay.Straddles
}
