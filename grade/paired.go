package grade

import (
	"fmt"
	"math"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// comparison is one pair of cells under judgement, with what is needed to judge it.
type comparison struct {
	h      *assay.Hypothesis
	f      *field
	of, to int // cells of the field; to is -1 in a claim about one cell
	pool   string
	pairing
}

// sides are all entries of both sides.
func (c *comparison) sides() (of, to []entry) {
	both := make([]entry, 2*len(c.pairs))
	of, to = both[:len(c.pairs):len(c.pairs)], both[len(c.pairs):]
	for i, p := range c.pairs {
		of[i], to[i] = p.of, p.to
	}
	return of, to
}

// paired judges a hypothesis that compares two cells in every pair of cells that matches.
func (j *judge) paired(h *assay.Hypothesis, f *field) []Finding {
	var findings []Finding
	for of, cell := range f.cells {
		if !cell.Matches(h.At.With(h.Of)) {
			continue
		}
		to := f.find(cell.With(h.To))
		if to < 0 || to == of {
			continue
		}
		all := j.collect(f, of, to)
		for _, pool := range j.poolsOf(all.pairs) {
			c := comparison{h: h, f: f, of: of, to: to, pool: pool, pairing: all}
			if pool != "" {
				c.pairs = inPool(all.pairs, func(b *block) bool { return j.pool(b.session) == pool })
			}
			findings = append(findings, j.compare(&c))
		}
	}
	return findings
}

// poolsOf are the fingerprints under which the pairs stand, or one empty name if there is but one.
func (j *judge) poolsOf(pairs []paired) []string {
	return distinct(pairs, func(b *block) string { return j.pool(b.session) })
}

func distinct(pairs []paired, name func(*block) string) []string {
	var names []string
	seen := map[string]bool{}
	for _, p := range pairs {
		if n := name(p.block); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	if len(names) < 2 {
		return []string{""}
	}
	return names
}

func inPool(pairs []paired, in func(*block) bool) []paired {
	var out []paired
	for _, p := range pairs {
		if in(p.block) {
			out = append(out, p)
		}
	}
	return out
}

// compare judges one pair of cells.
func (j *judge) compare(c *comparison) Finding {
	out := newFinding(c.f.cells[c.of], c.f.cells[c.to])
	out.Pool, out.Blocks = c.pool, len(c.pairs)
	var d draws
	for _, p := range c.pairs {
		out.Pairs = append(out.Pairs, Pair{p.block.number, p.block.session, p.of.shown(), p.to.shown()})
		if c.h.Kind == assay.Difference {
			d.add(p.of.low-p.to.high, p.of.high-p.to.low)
		} else {
			d.add(logRatio(p.of.low, p.to.high), logRatio(p.of.high, p.to.low))
		}
	}
	of, to := c.sides()
	out.OfMedian, out.ToMedian = medianOf(of), medianOf(to)
	j.measured(c, &out, &d, of, to)
	j.noteFloor(c, &out)
	if j.spoiltClaim(c, &out) || j.nothing(c, &out, of, to) || j.unequal(c, &out) {
		return out
	}
	j.decide(c, &out, &d)
	j.belowResolution(c, &out)
	return out
}

// measured fills in estimate and interval, whatever the verdict will be.
func (j *judge) measured(c *comparison, out *Finding, d *draws, of, to []entry) {
	confidence := j.confidence()
	if c.h.Kind == assay.Same { // two one-sided tests: the interval of twice the alpha decides
		confidence = math.Max(0, 1-2*(1-confidence))
	}
	out.Confidence = confidence
	s, unit := c.scaled(d, confidence)
	out.Unit = unit.Name
	out.Estimate = s.estimate / unit.Scale
	if s.ok {
		out.Low, out.High = s.printLow/unit.Scale, s.printHigh/unit.Scale
	}
	c.notes(out, of, to)
}

// scaled is the comparison's span in base units, and the unit to print it in.
func (c *comparison) scaled(d *draws, confidence float64) (span, assay.Unit) {
	s := d.span(confidence)
	if c.h.Kind != assay.Difference {
		return s.over(math.Exp), assay.Unit{Scale: 1}
	}
	return s.over(func(x float64) float64 { return x * c.f.Unit.Scale }), named(c.h.Expect, c.f.Unit)
}

// decide holds the interval against the claim.
func (j *judge) decide(c *comparison, out *Finding, d *draws) {
	if c.h.Kind == assay.Same {
		out.say(j.same(c, d))
		return
	}
	s, _ := c.scaled(d, out.Confidence)
	unit := assay.Unit{Scale: 1}
	if c.h.Kind == assay.Difference {
		unit = c.f.Unit
	}
	out.say(s.judge(c.h.Expect, unit))
}

// same decides equivalence within the margin, at both extremes of what is unknown.
func (j *judge) same(c *comparison, d *draws) (assay.Status, assay.Reason) {
	low, high := math.Log1p(-math.Min(c.h.Margin, 1)), math.Log1p(c.h.Margin)
	confidence := j.confidence()
	a := stat.EquivalenceTest(d.low, low, high, confidence)
	b := stat.EquivalenceTest(d.high, low, high, confidence)
	switch {
	case !a.OK || !b.OK:
		return assay.Undecided, assay.Underpowered
	case a.Decision != b.Decision || d.apart && a.Decision == stat.Refuted && (a.High < low) != (b.High < low):
		return assay.Untested, assay.Censored
	case a.Decision == stat.Confirmed:
		return assay.Pass, assay.Holds
	case a.Decision == stat.Refuted:
		return assay.Fail, assay.Contradicted
	}
	return assay.Undecided, assay.Straddles
}

// noteFloor says what either side's own trials differ by: a smaller difference is not a finding.
func (j *judge) noteFloor(c *comparison, out *Finding) {
	a, b := j.figuresAt(c.f, c.of).Floor, j.figuresAt(c.f, c.to).Floor
	if !math.IsNaN(a) && !math.IsNaN(b) {
		out.note("noise floors: %.1f%% and %.1f%%", 100*a, 100*b)
	}
}

// notes say both cells with their medians, so that every per cent has its denominator.
func (c *comparison) notes(out *Finding, of, to []entry) {
	unit := c.f.Unit.Name
	if len(c.pairs) > 0 {
		out.note("medians over %d blocks: %s and %s%s", len(c.pairs), figure(out.OfMedian, unit), figure(out.ToMedian, unit), percents(out))
	}
	marked := 0
	for _, p := range c.pairs {
		if p.marked {
			marked++
		}
	}
	if marked > 0 {
		out.note("%d pairs stand under the same machine guards on both sides and were kept", marked)
	}
	if c.h.Unattributed {
		out.note("unattributed: the compared levels move several terms at once, so that the ratio belongs to no one of them")
	}
	noteOutcomes(out, of, to)
	negative := func(e entry) bool { return e.there() && e.low < 0 && !math.IsInf(e.low, -1) }
	if c.h.Kind != assay.Difference && (anyEntry(of, negative) || anyEntry(to, negative)) {
		out.note("a ratio of negative numbers means nothing; use difference")
	}
}

// percents says the change in per cent of each side, since the two are never the same.
func percents(f *Finding) string {
	of, to := f.OfMedian, f.ToMedian
	if !(of > 0) || !(to > 0) || math.IsInf(of, 0) || math.IsInf(to, 0) || of == to {
		return ""
	}
	return fmt.Sprintf(" (%+.1f%% of the second, %+.1f%% of the first)", 100*(of/to-1), 100*(to/of-1))
}

func noteOutcomes(out *Finding, sides ...[]entry) {
	for _, k := range []struct {
		what string
		is   func(entry) bool
	}{
		{"failed and counted as worse than any number", func(e entry) bool { return e.failed }},
		{"killed: their numbers are unknown, and both extremes were judged", func(e entry) bool { return e.killed }},
		{"with too few operations for this quantile", func(e entry) bool { return e.tooFew }},
		{"ok, but without this measure: both extremes were judged", func(e entry) bool { return e.missing && !e.tooFew }},
		{"within 3% of what was offered: the figure is at least that, and how much more was not measured; execute them unpaced", func(e entry) bool { return e.bound }},
	} {
		n := 0
		for _, entries := range sides {
			n += countEntries(entries, k.is)
		}
		if n > 0 {
			out.note("%d trials %s", n, k.what)
		}
	}
}

func medianOf(entries []entry) float64 {
	var xs []float64
	for _, e := range entries {
		if e.state == number || e.bound {
			xs = append(xs, e.low)
		}
	}
	return stat.Median(xs)
}

// named is the unit that a claim names, or the measure's own where its bound is bare or lacks the noun.
func named(e assay.Expectation, u assay.Unit) assay.Unit {
	if e.IsZero() || e.Bound.Bare || e.Bound.Unit.Dim != u.Dim {
		return u
	}
	return e.Bound.Unit
}

func (f *field) find(c assay.Cell) int {
	for i, other := range f.cells {
		if len(other) == len(c) && other.Matches(c) {
			return i
		}
	}
	return -1
}
