package report

import (
	"strings"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// A claim is a verdict together with the hypothesis it judges: what the words are made from.
type claim struct {
	f *Findings
	v assay.Verdict
	h assay.Hypothesis // its zero value if the experiment has no such hypothesis
}

// marked is the claim in its author's words; every output marks one that is exploratory.
func (c claim) marked() string {
	if c.v.Exploratory {
		return c.v.Claim + " (exploratory)"
	}
	return c.v.Claim
}

// claims are the verdicts in their order, each with its hypothesis.
func (f *Findings) claims() []claim {
	all := make([]claim, 0, len(f.Verdicts.Hypotheses))
	for _, v := range f.Verdicts.Hypotheses {
		h, _ := f.hypothesis(v.ID)
		all = append(all, claim{f, v, h})
	}
	return all
}

// multiple reports whether the estimate is a ratio: of two sides, of the ends of an axis, or of a
// rung to the one before.
func (c claim) multiple() bool {
	switch c.h.Kind {
	case assay.Ratio, assay.Same, assay.Trend, assay.LadderKind:
		return true
	}
	return false
}

// bracket reports whether low and high are levels that enclose the answer: a knee lies in
// (low, high], the highest level that meets conditions in [low, high).
func (c claim) bracket() bool { return c.h.Kind == assay.Knee || c.h.Kind == assay.Highest }

func (c claim) unit() assay.Unit {
	u, err := assay.ParseUnit(c.v.Unit)
	if err != nil {
		return assay.Unit{Name: c.v.Unit, Dim: assay.Dimension{Base: c.v.Unit}, Scale: 1}
	}
	return u
}

// numbers are the estimate, low and high that are there.
func (c claim) numbers() []float64 {
	var xs []float64
	for _, p := range []*float64{c.v.Estimate, c.v.Low, c.v.High} {
		if p != nil {
			xs = append(xs, *p)
		}
	}
	return xs
}

// scale is the scale and the decimals that all of the claim's numbers share.
func (c claim) scale() (Scale, int) {
	xs := c.numbers()
	if c.bracket() {
		// The ends of a bracket are levels and keep their own digits: "32", not "32.000".
		s, decimals := c.levelScale(), 0
		for _, x := range xs {
			decimals = max(decimals, significant(x*s.Factor, 3))
		}
		return s, decimals
	}
	s := Scale{Factor: 1}
	if !c.multiple() {
		s = ScaleOf(c.unit(), isShare(c.h.Measure), xs...)
	}
	if c.v.Low != nil && c.v.High != nil {
		return s, Decimals(*c.v.Low*s.Factor, *c.v.High*s.Factor, c.bounds(s)...)
	}
	if len(xs) > 0 {
		return s, significant(xs[0]*s.Factor, 3)
	}
	return s, 0
}

func (c claim) levelScale() Scale {
	if c.v.Unit == "" {
		return Scale{Factor: 1}
	}
	return ScaleOf(c.unit(), false, c.numbers()...)
}

// estimate is the estimate with its unit, "1.23 times" or "12.3 ms"; empty where nothing can be
// said.
func (c claim) estimate() string {
	if c.v.Estimate == nil {
		return ""
	}
	s, decimals := c.scale()
	if c.multiple() {
		return s.Format(*c.v.Estimate, decimals) + " times"
	}
	return s.Phrase(*c.v.Estimate, decimals)
}

// interval is the interval without its unit, "1.19 to 1.27"; empty where there is none.
func (c claim) interval() string {
	s, decimals := c.scale()
	low, high := c.v.Low, c.v.High
	switch {
	case low == nil && high == nil:
		return ""
	case c.bracket():
		return c.enclosed(s, decimals)
	case low == nil:
		return "open to " + s.Format(*high, decimals)
	case high == nil:
		return s.Format(*low, decimals) + " to open"
	}
	return s.Format(*low, decimals) + " to " + s.Format(*high, decimals)
}

// enclosed is a bracket in words: "above 2, at most 4" for a knee, "at least 2, below 4" for the
// highest level.
func (c claim) enclosed(s Scale, decimals int) string {
	lower, upper := "above ", "at most "
	if c.h.Kind == assay.Highest {
		lower, upper = "at least ", "below "
	}
	var parts []string
	if c.v.Low != nil {
		parts = append(parts, lower+s.Format(*c.v.Low, decimals))
	}
	if c.v.High != nil {
		parts = append(parts, upper+s.Format(*c.v.High, decimals))
	}
	return strings.Join(parts, ", ")
}

// figure is estimate and interval as they stand beside the claim.
func (c claim) figure() string {
	estimate, interval := c.estimate(), c.interval()
	switch {
	case estimate == "":
		return interval
	case interval == "":
		return estimate
	}
	return estimate + " (" + interval + ")"
}

// over names the interval in a sentence: "95% interval, 1.19 to 1.27 over 12 blocks,".
func (c claim) over() string {
	text := Confidence(c.v.Confidence) + " interval, " + c.interval()
	if c.v.Blocks > 0 {
		text += " over " + count(c.v.Blocks, "block")
	}
	return text + ","
}

// subject says what was found: a clause without a full stop.
func (c claim) subject() string {
	m, estimate := c.h.Measure.String(), c.estimate()
	if estimate == "" {
		estimate = "not known"
	}
	switch c.h.Kind {
	case "":
		return "the estimate is " + estimate
	case assay.Ratio, assay.Same:
		return m + " with " + c.side(c.h.Of) + " is " + estimate + " that with " + c.side(c.h.To) + c.at()
	case assay.Difference:
		return m + " with " + c.side(c.h.Of) + " is " + c.moreOrLess() + " than with " + c.side(c.h.To) + c.at()
	case assay.Absolute:
		return m + c.at() + " is " + estimate
	case assay.Knee:
		return "the knee of " + m + " along " + c.h.Along + c.at() + " lies " + c.interval()
	case assay.Highest:
		return "the highest " + c.h.Along + c.at() + " that meets " + c.meets() + " is " + orWord(c.interval(), "not known")
	case assay.Trend:
		from, to := "the first level", "the last"
		if order := c.axis(); len(order) > 0 {
			from, to = order[0], order[len(order)-1]
		}
		return "along " + c.h.Along + ", from " + from + " to " + to + c.at() + ", " + m + " becomes " + estimate + " what it was"
	case assay.Line:
		return "the slope of " + m + " along " + c.h.Along + c.at() + " is " + estimate
	case assay.LadderKind:
		return "on the ladder " + c.h.Ladder + " the rung " + c.side(c.h.Largest) + " gains " + m + " " + estimate
	case assay.Identical:
		return m + " was compared between trials"
	}
	return "the estimate is " + estimate
}

func (c claim) side(cell assay.Cell) string { return c.f.cellText(cell) }

// findings are what the single matching cells say; nil where there is but one.
func (c claim) findings() []grade.Finding {
	for _, g := range c.f.Hypotheses {
		if g.ID == c.v.ID && len(g.Findings) > 1 {
			return g.Findings
		}
	}
	return nil
}

// chosen is the finding whose figures the verdict states; nil where there is but one.
func (c claim) chosen() *grade.Finding {
	findings := c.findings()
	for i := range findings {
		if f := &findings[i]; c.v.Estimate != nil && f.Estimate == *c.v.Estimate && f.Reason == c.v.Reason {
			return f
		}
	}
	return nil
}

// of is the claim with the figures of one of its findings.
func (c claim) of(f *grade.Finding) claim {
	known := func(x float64) *float64 {
		if !finite(x) {
			return nil
		}
		return &x
	}
	c.v.Estimate, c.v.Low, c.v.High = known(f.Estimate), known(f.Low), known(f.High)
	c.v.Unit, c.v.Blocks, c.v.Confidence, c.v.Verdict, c.v.Reason = f.Unit, f.Blocks, f.Confidence, f.Status, f.Reason
	return c
}

// place is the cell of a finding without the levels that the claim itself compares or runs along.
func (c claim) place(f *grade.Finding) string {
	cell := f.Of.Without(append(sortedKeys(c.h.Of), append(sortedKeys(c.h.To), c.h.Along)...)...)
	text := ""
	if len(cell) > 0 {
		text = c.f.cellText(cell)
	}
	if f.Pool != "" {
		text = strings.TrimSpace(text + " in " + f.Pool)
	}
	return text
}

// at says where the claim is made or, where several cells match, in which of them the figures are.
func (c claim) at() string {
	if f := c.chosen(); f != nil {
		if place := c.place(f); place != "" {
			return " at " + place + " (the least favourable of " + group(float64(len(c.findings())), 0) + ")"
		}
	}
	if len(c.h.At) == 0 {
		return ""
	}
	return " at " + c.f.cellText(c.h.At)
}

func (c claim) moreOrLess() string {
	if c.v.Estimate == nil {
		return "an unknown amount more"
	}
	s, decimals := c.scale()
	if *c.v.Estimate < 0 {
		return s.Phrase(-*c.v.Estimate, decimals) + " less"
	}
	return s.Phrase(*c.v.Estimate, decimals) + " more"
}

func (c claim) meets() string {
	texts := make([]string, len(c.h.Meets))
	for i, m := range c.h.Meets {
		texts[i] = m.String()
	}
	return list(texts)
}

// wanted says in words which values the claim allows.
func (c claim) wanted() string {
	switch c.h.Kind {
	case assay.Same:
		return "within " + Confidence(c.h.Margin) + " of equal"
	case assay.Trend:
		if c.h.Direction == "none" {
			low, _, _ := c.allowedTrend()
			return "a change of less than " + Confidence(1-low)
		}
		return c.h.Direction
	case assay.Identical:
		return "the same"
	case assay.LadderKind:
		return "the largest step"
	case assay.Line:
		var parts []string
		if !c.h.Slope.IsZero() {
			parts = append(parts, "a slope "+words(c.h.Slope))
		}
		if !c.h.Intercept.IsZero() {
			parts = append(parts, "an intercept "+words(c.h.Intercept))
		}
		return list(parts)
	}
	if c.h.Expect.IsZero() {
		return "what was claimed"
	}
	return words(c.h.Expect)
}

// words is an expectation as it stands in a sentence: "above 1.05", "between 2.3GiB and 2.7GiB".
func words(e assay.Expectation) string {
	if e.IsRange {
		return "between " + e.Bound.String() + " and " + e.High.String()
	}
	names := map[assay.Op]string{
		assay.Less: "below", assay.LessEq: "at most", assay.Greater: "above",
		assay.GreaterEq: "at least", assay.Equal: "exactly", assay.NotEqual: "other than",
	}
	return names[e.Op] + " " + e.Bound.String()
}

// isShare reports whether the built-in measure is stored as a ratio from 0 to 1.
func isShare(r assay.MeasureRef) bool {
	return strings.HasSuffix(assay.MeasureKey(assay.MeasureRef{Name: r.Name}), "_ratio")
}

// count is a number with its noun: "1 block", "12 blocks".
func count(n int, noun string) string {
	text := group(float64(n), 0) + " " + noun
	if n != 1 {
		text += "s"
	}
	return text
}

// list joins texts as a sentence does: "a", "a and b", "a, b and c".
func list(texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// sentence is text with a full stop. It stays lower case at its head: the first word is often a
// name of the author's, such as p99(response_time).
func sentence(text string) string {
	if text == "" {
		return ""
	}
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "!") {
		text += "."
	}
	return text
}
