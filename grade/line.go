package grade

import (
	"fmt"
	"math"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// bendTolerance is the largest departure from a straight line, as a share of the figure, that does
// not contradict a claim of linearity, where the claim states no margin.
const bendTolerance = 0.05

// line judges a + b x along an axis of quantities, in every session by itself: slope, intercept, and
// that there is no bend.
func (j *judge) line(h *assay.Hypothesis, f *field) []Finding {
	var findings []Finding
	for _, c := range j.curves(h, f, func(b *block) string { return b.session }) {
		if c.pool != "" {
			c.pool = "session " + c.pool
		}
		findings = append(findings, j.lineOf(&c))
	}
	return findings
}

func (j *judge) lineOf(c *curve) Finding {
	out := c.finding(j.confidence())
	unit := named(c.h.Slope, c.f.Unit)
	out.Unit = unit.Name
	if j.spoiltCurve(c, &out) {
		return out
	}
	c.noteMedians(&out)
	if !c.axis.scaled || len(c.axis.levels) < 3 {
		out.say(assay.Untested, assay.Vacuous, "a line takes three levels that are quantities: two points always lie on one")
		return out
	}
	xs := make([]float64, len(c.axis.values))
	for l, x := range c.axis.values {
		xs[l] = x / c.axis.unit.Scale
	}
	falling, rising := c.tilted()
	fit, ok := stat.FitLines(xs, falling, out.Confidence)
	other, _ := stat.FitLines(xs, rising, out.Confidence)
	slope, intercept := lineSpan(fit, other, ok, false), lineSpan(fit, other, ok, true)
	out.Blocks, out.Estimate = fit.Blocks, slope.estimate/unit.Scale
	if ok {
		out.Low, out.High = slope.printLow/unit.Scale, slope.printHigh/unit.Scale
		iu := named(c.h.Intercept, c.f.Unit)
		out.note("intercept %s, %s to %s", figure(intercept.estimate/iu.Scale, iu.Name), figure(intercept.printLow/iu.Scale, ""), figure(intercept.printHigh/iu.Scale, iu.Name))
	}
	out.note("the figure is the slope: %s for each %s of %s", unit.Name, figure(1, c.axis.unit.Name), c.axis.factor)
	if bend := c.bend(xs, &out); bend != "" {
		out.say(assay.Fail, assay.Contradicted, bend)
		return out
	}
	status, reason := assay.Status(""), assay.Reason("")
	for _, part := range []struct {
		s span
		e assay.Expectation
	}{{slope, c.h.Slope}, {intercept, c.h.Intercept}} {
		if part.e.IsZero() {
			continue
		}
		if s, r := part.s.judge(part.e, c.f.Unit); status == "" || worse(s, status) {
			status, reason = s, r
		}
	}
	if status == "" {
		status, reason = assay.Untested, assay.Vacuous
	}
	out.say(status, reason)
	return out
}

// lineSpan is the interval of the slope, or of the intercept, at both extremes.
func lineSpan(a, b stat.LineInterval, ok, intercept bool) span {
	x, y := [3]float64{a.Slope, a.SlopeLow, a.SlopeHigh}, [3]float64{b.Slope, b.SlopeLow, b.SlopeHigh}
	if intercept {
		x, y = [3]float64{a.Intercept, a.InterceptLow, a.InterceptHigh}, [3]float64{b.Intercept, b.InterceptLow, b.InterceptHigh}
	}
	if x[0] > y[0] {
		x, y = y, x // the steeper line has the lower intercept
	}
	s := span{ok: ok, n: a.Blocks, apart: x != y, estimate: math.NaN(), low: [2]float64{x[1], y[1]}, high: [2]float64{x[2], y[2]}}
	if x[0] == y[0] {
		s.estimate = x[0]
	}
	s.printLow, s.printHigh = math.Min(x[1], y[1]), math.Max(x[2], y[2])
	return s
}

// bend says at which levels the line does not hold; empty for none. It is a check of its own, at 95%.
func (c *curve) bend(xs []float64, out *Finding) string {
	share := c.h.Margin
	if share == 0 {
		share = bendTolerance
	}
	largest := 0.0
	for _, m := range c.medians() {
		if !math.IsNaN(m) && !math.IsInf(m, 0) {
			largest = math.Max(largest, math.Abs(m)*c.f.Unit.Scale)
		}
	}
	misfits, ok := stat.LackOfFit(xs, c.matrix(false), 1-alpha, share*largest)
	if !ok {
		out.note("%d blocks are too few to see a bend at %d levels", c.blocks, len(xs))
		return ""
	}
	for _, m := range misfits {
		return fmt.Sprintf("no straight line: at %s=%s the figure lies %s to %s off it", c.axis.factor, c.axis.levels[m.Level],
			figure(m.Low/c.f.Unit.Scale, ""), figure(m.High/c.f.Unit.Scale, c.f.Unit.Name))
	}
	return ""
}

// worse reports whether a stands before b in the order of statuses.
func worse(a, b assay.Status) bool {
	for _, s := range severity {
		if s == a || s == b {
			return s == a && a != b
		}
	}
	return false
}
