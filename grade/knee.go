package grade

import (
	"fmt"
	"math"
	"strings"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// edgeNote opens every note on a bracket that ends at the edge of its axis.
const edgeNote = "axis-edge"

// knee judges where a curve stops rising: see stat.KneeBracket.
func (j *judge) knee(h *assay.Hypothesis, f *field) []Finding {
	var findings []Finding
	for _, c := range j.curves(h, f, func(b *block) string { return j.pool(b.session) }) {
		out := j.kneeOf(&c)
		if refined, ok := j.refinedKnee(h, &c); ok {
			out = refined
		}
		findings = append(findings, out)
	}
	return findings
}

// a bracket is the half-open interval of levels (low, high], by index; -1 for an open low end and
// len for an open high one.
type bracket struct{ low, high int }

func (j *judge) kneeOf(c *curve) Finding {
	out := c.finding(j.confidence())
	out.Unit = c.axis.unit.Name
	if c.f.Better == "" {
		out.note("%s says neither better: more nor less; more was taken", c.f.Ref)
	}
	if j.spoiltCurve(c, &out) {
		return out
	}
	c.noteMedians(&out)
	margin := -math.Log1p(-math.Min(c.h.Margin, 1))
	levels := len(c.axis.levels)
	if c.blocks < stat.MinBlocks(out.Confidence) {
		b := medianBracket(c.medians(), c.h.Margin, c.f.Better)
		c.state(&out, b)
		out.say(assay.Undecided, assay.Underpowered, fmt.Sprintf("the bracket is of medians over %d blocks; a verdict takes %d", c.blocks, stat.KneeMinBlocks(levels, out.Confidence)))
		return out
	}
	low := stat.KneeBracket(c.gains(false), margin, out.Confidence)
	high := low
	if c.apart() {
		high = stat.KneeBracket(c.gains(true), margin, out.Confidence)
	}
	a, b := found(low, levels), found(high, levels)
	c.state(&out, bracket{min(a.low, b.low), max(a.high, b.high)})
	if low.Declines() {
		out.note("the curve declines later: a level above the knee is beaten by more than the margin")
	}
	status, reason := c.claimed(a)
	if other, why := c.claimed(b); other != status {
		status, reason = assay.Untested, assay.Censored
	} else if why != reason {
		reason = why
	}
	if need := stat.KneeMinBlocks(levels, out.Confidence); c.blocks < need && status != assay.Pass && status != assay.Fail && status != assay.Untested {
		reason = assay.Underpowered
		out.note("%d blocks cannot show a level beaten; with %d levels that takes %d", c.blocks, levels, need)
	}
	out.say(status, reason)
	return out
}

func found(k stat.Knee, levels int) bracket {
	if k.High < 0 {
		return bracket{k.Low, levels}
	}
	return bracket{k.Low, k.High}
}

// state fills in the bracket's ends as the figures of the finding.
func (c *curve) state(out *Finding, b bracket) {
	value := func(i int) float64 { return c.axis.values[i] / c.axis.unit.Scale }
	if b.low >= 0 {
		out.Low = value(b.low)
	}
	if b.high < len(c.axis.values) {
		out.High, out.Estimate = value(b.high), value(b.high)
	}
	switch {
	case c.inner:
	case b.high == 0:
		out.note("%s: the first level, %s=%s, is already within the margin of every other; extend the axis downwards", edgeNote, c.axis.factor, c.axis.levels[0])
	case b.high == len(c.axis.values)-1:
		out.note("%s: only the last level, %s=%s, is within the margin of every other; extend the axis upwards", edgeNote, c.axis.factor, c.axis.levels[b.high])
	}
	if b.high < len(c.axis.levels) && b.low >= 0 && b.low == b.high-1 {
		out.note("the knee lies in (%s, %s]; no level between them was measured", c.axis.levels[b.low], c.axis.levels[b.high])
	}
}

// claimed holds a bracket against the claim. What lies beyond the last level is not known, and
// neither is what lies below the first.
func (c *curve) claimed(b bracket) (assay.Status, assay.Reason) {
	low, high := math.Inf(-1), math.Inf(1)
	if b.low >= 0 {
		low = math.Nextafter(c.axis.values[b.low], math.Inf(1))
	}
	last := len(c.axis.values) - 1
	if b.high < last || b.high == last && c.inner {
		high = c.axis.values[b.high]
	}
	return c.within(low, high, b)
}

// within holds the closed interval of axis values against the claim; b says where it was found.
func (c *curve) within(low, high float64, b bracket) (assay.Status, assay.Reason) {
	e := c.axis.bound(c.h.Expect)
	last := len(c.axis.values) - 1
	switch {
	case e.Inside(low, high, c.axis.unit):
		return assay.Pass, assay.Holds
	case e.Outside(low, high, c.axis.unit):
		return assay.Fail, assay.Contradicted
	case b.high > last || b.high-b.low > 1:
		return assay.Undecided, assay.Straddles
	case b.low < 0 || b.high == last && !c.inner:
		return assay.Untested, assay.AxisEdge
	}
	return assay.Untested, assay.AxisGap
}

// medianBracket is the bracket that medians show: the first level within the margin of the best, and
// the last one below it that is not.
func medianBracket(medians []float64, margin float64, better assay.Better) bracket {
	best := math.NaN()
	for _, m := range medians {
		if math.IsNaN(best) || better == assay.Lower && m < best || better != assay.Lower && m > best {
			best = m
		}
	}
	for l, m := range medians {
		if better == assay.Lower && m*(1-margin) <= best || better != assay.Lower && m >= best*(1-margin) {
			return bracket{l - 1, l}
		}
	}
	return bracket{-1, len(medians)}
}

// noteMedians says the curve in one note.
func (c *curve) noteMedians(out *Finding) {
	var b strings.Builder
	for l, m := range c.medians() {
		if l > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s", c.axis.levels[l], figure(m, ""))
	}
	out.note("medians by %s: %s%s", c.axis.factor, b.String(), strings.TrimRight(" "+c.f.Unit.Name, " "))
}

// shown is the bracket that the curve's blocks show, whatever is claimed.
func (c *curve) shown(confidence float64) (b bracket, ok bool) {
	if c.blocks < stat.MinBlocks(confidence) {
		return bracket{}, false
	}
	k := stat.KneeBracket(c.gains(false), -math.Log1p(-math.Min(c.h.Margin, 1)), confidence)
	b = found(k, len(c.axis.levels))
	return b, k.High >= 0
}
