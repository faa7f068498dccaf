package grade

import (
	"math"

	"github.com/assaybench/assay"
)

// absolute judges a claim about one figure in every matching cell, and in every session by itself:
// a machine's figures do not pool with those of another day.
func (j *judge) absolute(h *assay.Hypothesis, f *field) []Finding {
	var findings []Finding
	for cell := range f.cells {
		if !f.cells[cell].Matches(h.At) {
			continue
		}
		all := j.single(f, cell)
		for _, session := range distinct(all.pairs, func(b *block) string { return b.session }) {
			c := comparison{h: h, f: f, of: cell, to: -1, pool: session, pairing: all}
			if session != "" {
				c.pairs = inPool(all.pairs, func(b *block) bool { return b.session == session })
			}
			findings = append(findings, j.state(&c))
		}
	}
	return findings
}

// state judges one cell in one session.
func (j *judge) state(c *comparison) Finding {
	out := newFinding(c.f.cells[c.of], nil)
	if c.pool != "" {
		out.Pool = "session " + c.pool
	}
	out.Blocks, out.Confidence = len(c.pairs), j.confidence()
	var d draws
	var of []entry
	for _, p := range c.pairs {
		out.Pairs = append(out.Pairs, Pair{p.block.number, p.block.session, p.of.shown(), math.NaN()})
		d.add(p.of.low*c.f.Unit.Scale, p.of.high*c.f.Unit.Scale)
		of = append(of, p.of)
	}
	s := d.span(out.Confidence)
	unit := named(c.h.Expect, c.f.Unit)
	out.Unit, out.Estimate, out.OfMedian = unit.Name, s.estimate/unit.Scale, medianOf(of)
	if s.ok {
		out.Low, out.High = s.printLow/unit.Scale, s.printHigh/unit.Scale
	}
	noteOutcomes(&out, of)
	if j.spoiltClaim(c, &out) || j.nothing(c, &out, of, of) || j.regimes(c, &out) {
		return out
	}
	out.say(s.judge(c.h.Expect, c.f.Unit))
	return out
}
