package report

import (
	"math"

	"github.com/assaybench/assay"
)

// allowed is the range of estimates that the claim allows, in the verdict's unit, with infinities
// for open ends. ok is false where the claim is not about a range.
func (c claim) allowed() (low, high float64, ok bool) {
	e := c.h.Expect
	switch c.h.Kind {
	case assay.Same:
		return 1 - c.h.Margin, 1 + c.h.Margin, true
	case assay.Trend:
		return c.allowedTrend()
	case assay.Line:
		e = c.h.Slope
	}
	if e.IsZero() {
		return 0, 0, false
	}
	u := c.unit()
	scale := u.Scale
	if scale == 0 {
		scale = 1
	}
	bound := e.Bound.In(u) / scale
	low, high = math.Inf(-1), math.Inf(1)
	switch {
	case e.IsRange:
		return bound, e.High.In(u) / scale, true
	case e.Op == assay.Less, e.Op == assay.LessEq:
		high = bound
	case e.Op == assay.Greater, e.Op == assay.GreaterEq:
		low = bound
	case e.Op == assay.Equal:
		low, high = bound, bound
	default:
		return 0, 0, false
	}
	return low, high, true
}

// noTrend is the change over an axis within which nothing goes up or down, where the claim states no
// margin: the same as in grading.
const noTrend = 0.05

func (c claim) allowedTrend() (low, high float64, ok bool) {
	switch c.h.Direction {
	case "up":
		return 1, math.Inf(1), true
	case "down":
		return math.Inf(-1), 1, true
	}
	margin := c.h.Margin
	if margin == 0 {
		margin = noTrend
	}
	return 1 - margin, 1 + margin, true
}

// bounds are the finite ends of what the claim allows, in the scale.
func (c claim) bounds(s Scale) []float64 {
	low, high, ok := c.allowed()
	if !ok {
		return nil
	}
	var bounds []float64
	for _, b := range []float64{low, high} {
		if finite(b) {
			bounds = append(bounds, b*s.Factor)
		}
	}
	return bounds
}
