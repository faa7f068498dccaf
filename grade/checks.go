package grade

import (
	"fmt"
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// spoiltClaim looks for what makes the comparison no comparison: sides in different sessions, levels
// that did not take effect, voids that left too little, times without a steady state, figures above their ceiling.
func (j *judge) spoiltClaim(c *comparison, out *Finding) bool {
	if len(c.pairs) == 0 && c.to >= 0 && (c.crossed > 0 || j.apart(c)) {
		out.say(assay.Void, assay.CrossSession, "the two sides were never executed in one session; interleave them in one run")
		return true
	}
	cells := []int{c.of}
	if c.to >= 0 {
		cells = append(cells, c.to)
	}
	for _, cell := range cells {
		if why := j.deadInstrument(c.f, c.f.cells[cell]); why != "" {
			out.say(assay.Void, assay.BadInstrument, why)
			return true
		}
	}
	for _, cell := range cells {
		if why := j.noEffect(c.f, cell); why != "" {
			out.say(assay.Void, assay.NoEffect, why)
			return true
		}
	}
	if c.to >= 0 {
		if why := j.unmoved(c.f, c.of, c.to); why != "" {
			out.say(assay.Void, assay.NoEffect, why)
			return true
		}
	}
	if n, need := len(c.pairs), stat.MinBlocks(out.Confidence); n < need && c.lost > 0 && (n == 0 || n+c.lost >= need) {
		out.say(assay.Void, chief(c.pairing.of, c.pairing.to), fmt.Sprintf("voids left %d blocks of %d; an interval takes %d", n, n+c.lost, need))
		return true
	}
	for _, cell := range cells {
		if why := j.unsteady(c.f, cell, out); why != "" {
			out.say(assay.Void, assay.GuardReason("steady"), why)
			return true
		}
	}
	for _, cell := range cells {
		if why := j.aboveCeiling(c.f, cell, out); why != "" {
			out.say(assay.Void, assay.AboveCeiling, why)
			return true
		}
	}
	return false
}

// apart reports whether both sides have several trials that count, and no session has both.
func (j *judge) apart(c *comparison) bool {
	of, n := j.sessions(c.f, c.of)
	to, m := j.sessions(c.f, c.to)
	return n > 1 && m > 1 && !slices.ContainsFunc(of, func(s string) bool { return slices.Contains(to, s) })
}

// sessions are those in which the cell was executed, torn blocks included, and in how many trials.
func (j *judge) sessions(f *field, cell int) (names []string, trials int) {
	for i := range j.Trials {
		if c := int(j.schedule.cell[i]); !slices.Contains(f.members[cell], c) || !j.counts(i) {
			continue
		}
		trials++
		if s := j.Trials[i].Session; !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	return names, trials
}

// trialsOf are the trials of a cell that take part in statistics, in the judging blocks.
func (j *judge) trialsOf(f *field, cell int) []int {
	var list []int
	for s := range j.judging() {
		for _, i := range s.blocks {
			b := &j.schedule.blocks[i]
			if b.torn {
				continue
			}
			for _, member := range f.members[cell] {
				if n := b.trials[member]; n != 0 && j.counts(int(n-1)) {
					list = append(list, int(n-1))
				}
			}
		}
	}
	return list
}

// noEffect says which level of the cell did not take effect; empty for none.
func (j *judge) noEffect(f *field, cell int) string {
	for i := range j.Experiment.Factors {
		factor := &j.Experiment.Factors[i]
		level, ok := f.cells[cell][factor.Name]
		if factor.Achieved == nil || !ok {
			continue
		}
		share, ok := j.achieved(f, cell, factor.Name, level)
		if ok && share < factor.Achieved.AtLeast {
			return fmt.Sprintf("%s=%s did not take effect: achieved was %s%% of nominal, at least %s%% was asked; lever: what bounds %s",
				factor.Name, level, figure(100*share, ""), figure(100*factor.Achieved.AtLeast, ""), factor.Name)
		}
	}
	return ""
}

// unmoved says which factor is nominally moved between two cells, while what was achieved stayed.
func (j *judge) unmoved(f *field, of, to int) string {
	for i := range j.Experiment.Factors {
		factor := &j.Experiment.Factors[i]
		a, b := f.cells[of][factor.Name], f.cells[to][factor.Name]
		x, errX := assay.ParseQuantity(a)
		y, errY := assay.ParseQuantity(b)
		if factor.Achieved == nil || a == b || errX != nil || errY != nil {
			continue
		}
		shareX, okX := j.achieved(f, of, factor.Name, a)
		shareY, okY := j.achieved(f, to, factor.Name, b)
		gotX, gotY := shareX*x.Number, shareY*y.Number
		const still = 0.05
		if okX && okY && math.Abs(gotX-gotY) <= still*math.Abs(gotX) && math.Abs(x.Number-y.Number) > still*math.Abs(x.Number) {
			return fmt.Sprintf("%s was moved from %s to %s, and what was achieved stayed at %s", factor.Name, b, a, figure(gotX, ""))
		}
	}
	return ""
}

// achieved is the median of what was achieved as a share of the nominal level; ok is false where no
// trial could have recorded it.
func (j *judge) achieved(f *field, cell int, factor, level string) (share float64, ok bool) {
	var shares []float64
	for _, n := range j.trialsOf(f, cell) {
		if t := &j.Trials[n]; t.Outcome == assay.OK {
			shares = append(shares, achievedShare(level, t.Achieved[factor], t.Achieved))
		}
	}
	return stat.Median(shares), len(shares) > 0
}

// achievedShare is what was achieved as a share of the nominal level; 0 where it was not recorded.
func achievedShare(level string, got assay.Value, all map[string]assay.Value) float64 {
	nominal, err := assay.ParseQuantity(level)
	switch {
	case got.IsText && got.Text == level:
		return 1
	case got.IsText || err != nil || nominal.Number == 0 || len(all) == 0:
		return 0
	}
	return got.Number / nominal.Number
}

// aboveCeiling notes how near the cell's figure comes to its ceiling, and says so if it is beyond.
func (j *judge) aboveCeiling(f *field, cell int, out *Finding) string {
	for i := range j.Experiment.Ceilings {
		limit := &j.Experiment.Ceilings[i]
		bound, ok := limit.Limit[f.cells[cell].Key()]
		if limit.Measure != f.Ref || !ok || !f.cells[cell].Matches(limit.At) || bound == 0 {
			continue
		}
		var xs []float64
		for _, n := range j.trialsOf(f, cell) {
			if e := f.entries[n]; e.exact() {
				xs = append(xs, e.low)
			}
		}
		median := stat.Median(xs)
		if len(xs) == 0 {
			continue
		}
		bound /= f.Unit.Scale
		beyond := median > bound
		if f.hasFloor() {
			beyond = median < bound
		}
		text := fmt.Sprintf("%s: %s is %.1f%% of the ceiling %s (%s)", f.cells[cell], figure(median, f.Unit.Name),
			100*median/bound, figure(bound, f.Unit.Name), limit.Expr)
		if beyond {
			return text
		}
		out.note("%s", text)
	}
	return ""
}

// nothing finds that there is nothing to judge: no pair, a side without a number, or nothing that
// could have differed.
func (j *judge) nothing(c *comparison, out *Finding, of, to []entry) bool {
	either := func(is func(entry) bool) bool { return anyEntry(of, is) || anyEntry(to, is) }
	switch {
	case len(c.pairs) == 0:
		out.say(assay.Untested, assay.Vacuous, "no block holds a number for "+out.name()+c.refusals())
	case either(func(e entry) bool { return e.state == text }):
		out.say(assay.Untested, assay.Vacuous, fmt.Sprintf("%s is a text; texts compare by identical", c.f.Ref))
	case !anyEntry(of, entry.exact) || !anyEntry(to, entry.exact):
		if either(func(e entry) bool { return e.tooFew }) {
			out.say(assay.Undecided, assay.Underpowered)
			break
		}
		// What the two extremes of missing numbers span is no interval.
		out.Estimate, out.Low, out.High = math.NaN(), math.NaN(), math.NaN()
		out.say(assay.Untested, assay.Vacuous, "a side has not one ok trial with a number")
	case c.to >= 0 && constant(of) && constant(to) && of[0].low == to[0].low:
		out.say(assay.Untested, assay.Vacuous, fmt.Sprintf("every trial of both sides gave %s: nothing that could have differed", figure(of[0].low, c.f.Unit.Name)))
	case c.to < 0 && j.neverAnother(c, of):
		out.say(assay.Untested, assay.Vacuous, fmt.Sprintf("%s was 0 in every trial of the experiment; a zero counts once it was seen to be able to be another", c.f.Ref))
	default:
		return false
	}
	return true
}

// RefusedByGates stands in the notes of a verdict on cells that gates kept from being executed.
const RefusedByGates = "were refused by their gates"

func (c *comparison) refusals() string {
	if n := c.pairing.of.refused + c.pairing.to.refused; n > 0 {
		return fmt.Sprintf("; %d trials %s", n, RefusedByGates)
	}
	return ""
}

// neverAnother reports whether a declared measure is 0 in the claim's trials and in every other of
// the experiment. Built-in measures are Assay's own instruments, tested to move.
func (j *judge) neverAnother(c *comparison, of []entry) bool {
	declared := slices.ContainsFunc(j.Experiment.Measures, func(m assay.Measure) bool { return m.Name == c.f.Ref.Name })
	if !declared || !constant(of) || of[0].low != 0 {
		return false
	}
	return !anyEntry(c.f.entries, func(e entry) bool { return e.exact() && e.low != 0 })
}

// unequal finds that one side lost more of its trials than the other, beyond chance: what voids
// trials then had to do with the side, and what is left is a choice.
func (j *judge) unequal(c *comparison, out *Finding) bool {
	if c.to < 0 {
		return false
	}
	a, b := c.pairing.of, c.pairing.to
	lostA, lostB := a.void+a.refused, b.void+b.refused
	if p := stat.FisherExact(lostA, a.trials-lostA, lostB, b.trials-lostB); !(p < alpha) {
		return false
	}
	out.say(assay.Undecided, assay.UnequalVoids,
		fmt.Sprintf("void or refused: %d of %d trials on the first side, %d of %d on the second", lostA, a.trials, lostB, b.trials))
	return true
}
