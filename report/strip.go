package report

import (
	"math"

	"github.com/assaybench/assay"
)

// strip draws a claim's interval against the region that the claim allows: how near it was is seen
// at a glance. It is empty where there is no interval to draw.
func (c claim) strip() string {
	if c.bracket() {
		return c.bracketStrip()
	}
	if c.v.Estimate == nil || c.v.Low == nil || c.v.High == nil {
		return ""
	}
	s := Scale{Factor: 1}
	bounds := c.bounds(s)
	xs := append([]float64{*c.v.Low, *c.v.High, *c.v.Estimate}, bounds...)
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range xs {
		low, high = min(low, x), max(high, x)
	}
	if low == high {
		low, high = low-1, high+1
	}
	pad := (high - low) * 0.22
	d := &canvas{width: 240, height: 44}
	x := axis{low: low - pad, high: high + pad, from: 0, to: d.width}
	d.rect("field", 0, 6, d.width, 20, "")
	c.shade(d, x, bounds)
	if c.multiple() && x.low < 1 && x.high > 1 {
		d.line("unity", x.at(1), 6, x.at(1), 26)
	}
	d.line("reach", x.at(*c.v.Low), 16, x.at(*c.v.High), 16)
	d.circle("point", x.at(*c.v.Estimate), 16, 4, "")
	c.boundLabels(d, x, bounds)
	return d.svg("strip "+statusClass(c.v.Verdict), c.figure()+", claimed: "+c.wanted())
}

// shade marks the region that the claim allows.
func (c claim) shade(d *canvas, x axis, bounds []float64) {
	low, high, ok := c.allowed()
	if !ok {
		return
	}
	from, to := x.at(low), x.at(high)
	if from == to {
		from, to = from-1, to+1
	}
	d.rect("allow", from, 6, to-from, 20, "")
	for _, b := range bounds {
		d.line("bound", x.at(b), 3, x.at(b), 29)
	}
}

func (c claim) boundLabels(d *canvas, x axis, bounds []float64) {
	texts := []string{c.h.Expect.Bound.String(), c.h.Expect.High.String()}
	switch {
	case c.h.Kind == assay.Line:
		texts = []string{c.h.Slope.Bound.String(), c.h.Slope.High.String()}
	case c.multiple() && len(bounds) == 2 && c.h.Expect.IsZero():
		margin := Confidence(bounds[1] - 1)
		texts = []string{"-" + margin, "+" + margin}
	case c.h.Expect.IsZero():
		texts = []string{"1", ""}
	}
	for i, b := range bounds {
		d.text("tick", anchorAt(x.at(b), d.width), x.at(b), 30, 1, texts[i])
	}
}

// bracketStrip draws the levels of the axis, those that the claim allows, and the bracket.
func (c claim) bracketStrip() string {
	order := c.axis()
	values, ok := levelValues(order)
	if !ok || len(order) < 2 || c.v.High == nil && c.v.Low == nil {
		return ""
	}
	u := c.unit()
	scale := u.Scale
	if scale == 0 {
		scale = 1
	}
	d := &canvas{width: 240, height: 44}
	x := axis{low: 0, high: float64(len(order) - 1), from: 14, to: d.width - 14}
	d.rect("field", 0, 6, d.width, 20, "")
	first, last, low, high := -1, -1, -1, -1
	for i, v := range values {
		if c.h.Expect.Allows(v, u) {
			if first < 0 {
				first = i
			}
			last = i
		}
		if c.v.Low != nil && same(v, *c.v.Low*scale) {
			low = i
		}
		if c.v.High != nil && same(v, *c.v.High*scale) {
			high = i
		}
	}
	if first >= 0 {
		d.rect("allow", x.at(float64(first))-14, 6, x.at(float64(last))-x.at(float64(first))+28, 20, "")
	}
	from, to := 0.0, d.width
	if low >= 0 {
		from = x.at(float64(low))
	}
	if high >= 0 {
		to = x.at(float64(high))
	}
	d.line("reach", from, 16, to, 16)
	closed, open := high, low
	if c.h.Kind == assay.Highest {
		closed, open = low, high
	}
	for i, level := range order {
		at := x.at(float64(i))
		switch i {
		case closed:
			d.circle("point", at, 16, 4, "")
		case open:
			d.circle("open", at, 16, 3.5, "")
		default:
			d.circle("level", at, 16, 1.5, "")
		}
		if len(order) <= 10 || i == low || i == high || i == 0 || i == len(order)-1 {
			d.text("tick", "middle", at, 30, 1, level)
		}
	}
	return d.svg("strip "+statusClass(c.v.Verdict), c.figure()+", claimed: "+c.wanted())
}

func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// statusClass is a verdict's class in the style sheet.
func statusClass(s assay.Status) string {
	switch s {
	case assay.Pass:
		return "pass"
	case assay.Fail:
		return "fail"
	case assay.Undecided:
		return "undecided"
	case assay.Untested:
		return "untested"
	}
	return "voided"
}
