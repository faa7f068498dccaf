package grade

import (
	"math"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// trendTolerance is the change over the whole axis within which a claim of no trend holds, where the
// claim states no margin.
const trendTolerance = 0.05

// trend judges the direction of a curve by the slope of each block: a robust line through the
// logarithms of its levels, whose factor from the first to the last level is the block's number.
func (j *judge) trend(h *assay.Hypothesis, f *field) []Finding {
	var findings []Finding
	for _, c := range j.curves(h, f, func(b *block) string { return j.pool(b.session) }) {
		findings = append(findings, j.trendOf(&c))
	}
	return findings
}

func (j *judge) trendOf(c *curve) Finding {
	confidence := j.confidence()
	if c.h.Direction == "none" { // equivalence: two one-sided tests
		confidence = math.Max(0, 1-2*(1-confidence))
	}
	out := c.finding(confidence)
	if j.spoiltCurve(c, &out) {
		return out
	}
	c.noteMedians(&out)
	d := c.changes()
	s := d.span(confidence)
	out.Blocks = s.n
	shown := s.over(math.Exp)
	out.Estimate = shown.estimate
	if s.ok {
		out.Low, out.High = shown.printLow, shown.printHigh
	}
	out.note("the figure is the factor from %s=%s to %s=%s", c.axis.factor, c.axis.levels[0], c.axis.factor, c.axis.levels[len(c.axis.levels)-1])
	zero := assay.Quantity{Bare: true}
	plain := assay.Unit{Scale: 1}
	switch c.h.Direction {
	case "up":
		out.say(s.judge(assay.Expectation{Op: assay.Greater, Bound: zero}, plain))
	case "down":
		out.say(s.judge(assay.Expectation{Op: assay.Less, Bound: zero}, plain))
	default:
		margin := c.h.Margin
		if margin == 0 {
			margin = trendTolerance
		}
		out.note("no trend: a change of less than %s%% over the axis", figure(100*margin, ""))
		out.say(s.judge(assay.Expectation{IsRange: true, Bound: assay.Quantity{Number: math.Log1p(-margin), Bare: true},
			High: assay.Quantity{Number: math.Log1p(margin), Bare: true}}, plain))
	}
	return out
}

// changes is, for each row, the fitted change of the logarithm over the whole axis, at both extremes.
func (c *curve) changes() draws {
	falling, rising := c.tilted()
	positions := make([]float64, len(c.axis.levels))
	for l := range positions {
		positions[l] = float64(l)
	}
	var d draws
	for i := range falling {
		for _, row := range [][]float64{falling[i], rising[i]} {
			for l, x := range row {
				row[l] = logRatio(x, 1)
			}
		}
		down, ok := stat.FitLine(positions, falling[i])
		up, other := stat.FitLine(positions, rising[i])
		if ok && other {
			n := float64(len(positions) - 1)
			d.add(down.Slope*n, up.Slope*n)
		}
	}
	return d
}

// tilted is the rows' numbers at both extremes of a slope, which are not those of the entries: unknown
// numbers are then high on one half of the axis and low on the other.
func (c *curve) tilted() (falling, rising [][]float64) {
	falling, rising = c.matrix(false), c.matrix(true)
	for i := range falling {
		for l := range (len(falling[i]) + 1) / 2 {
			falling[i][l], rising[i][l] = rising[i][l], falling[i][l]
		}
	}
	return falling, rising
}
