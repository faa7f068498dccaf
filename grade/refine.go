package grade

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
)

// A Recut is a level that a registered rule adds between two measured ones, with the fresh blocks that
// judge it.
type Recut struct {
	Factor, Level string
	Cell          assay.Cell // the new cell
	With          []int      // cells of the plan that its blocks take in too: both ends and the best level
	Blocks        int
	Why           string
}

// Refine is the next level that the experiment's refine rule asks for, when the plan and all stages so
// far are done. ok is false when there is no rule, the budget is spent, the bracket is as narrow as was
// asked, lies at an edge of the axis, or holds no level that was not tried.
//
// The rule bisects the knee's bracket, geometrically; where a level inside stayed undecided, it tries
// the middle of the widest gap beside it. Each new level is executed in fresh blocks
// together with both ends of the bracket and the best level, and these blocks alone narrow it: the
// blocks by which a bracket was chosen would be partial to it.
func Refine(f Folder) (r Recut, ok bool) {
	rule := f.Experiment.Refine
	if rule == nil {
		return Recut{}, false
	}
	j := newJudge(f)
	if !j.schedule.reached(j.plan.Blocks) || len(j.plan.Stages) >= rule.Budget {
		return Recut{}, false
	}
	for i := range j.plan.Stages {
		if !j.schedule.stageReached(i) {
			return Recut{}, false
		}
	}
	c, b, ok := j.refinable(rule)
	if !ok || b.low < 0 || b.high == len(c.axis.levels)-1 && !c.inner {
		return Recut{}, false
	}
	level, ok := j.newLevel(rule, &c, b)
	if !ok {
		return Recut{}, false
	}
	r = Recut{Factor: rule.Along, Level: level, Cell: c.rest.With(assay.Cell{rule.Along: level}), Blocks: rule.Blocks,
		Why: fmt.Sprintf("refine: the knee of %s lies in (%s, %s]", rule.Knee, c.axis.levels[b.low], c.axis.levels[b.high])}
	if r.Blocks == 0 {
		r.Blocks = j.plan.Blocks
	}
	for _, l := range []int{b.low, b.high, c.best()} {
		r.With = appendNew(r.With, c.f.members[c.cells[l]][0])
	}
	return r, true
}

func appendNew(list []int, x int) []int {
	for _, y := range list {
		if x == y {
			return list
		}
	}
	return append(list, x)
}

// refinable is the first curve of the rule's measure, by the last stage that found a bracket, else by
// the plan's own blocks.
func (j *judge) refinable(rule *assay.Refine) (c curve, b bracket, ok bool) {
	h := j.kneeClaim(rule)
	j.first, j.last, j.stage = 0, j.plan.Blocks, -1
	f, err := j.field(rule.Knee)
	if err != nil {
		return c, b, false
	}
	curves := j.curves(&h, f, func(b *block) string { return j.pool(b.session) })
	if len(curves) == 0 || curves[0].pool != "" {
		return c, b, false
	}
	for i := len(j.plan.Stages) - 1; i >= 0; i-- {
		if part, b, ok := j.stageBracket(&h, &curves[0], i); ok {
			return part, b, true
		}
	}
	b, ok = curves[0].shown(j.confidence())
	return curves[0], b, ok
}

// kneeClaim is the hypothesis that the rule refines; where there is none, one with a margin of 5%.
func (j *judge) kneeClaim(rule *assay.Refine) assay.Hypothesis {
	for _, h := range j.Experiment.Hypotheses {
		if h.Kind == assay.Knee && h.Along == rule.Along && h.Measure == rule.Knee {
			return h
		}
	}
	return assay.Hypothesis{Kind: assay.Knee, Measure: rule.Knee, Along: rule.Along, Margin: 0.05}
}

// stageBracket is the bracket that one stage's blocks show, if the stage is of the curve's row and
// shows one.
func (j *judge) stageBracket(h *assay.Hypothesis, main *curve, stage int) (c curve, b bracket, ok bool) {
	was := j.stage
	defer func() { j.stage = was }()
	j.stage = stage
	f, err := j.field(h.Measure)
	if err != nil || !j.schedule.stageReached(stage) {
		return c, b, false
	}
	for _, c := range j.curves(h, f, func(b *block) string { return j.pool(b.session) }) {
		if c.pool == "" && c.rest.Key() == main.rest.Key() {
			c.inner = true
			b, ok := c.shown(j.confidence())
			return c, b, ok && b.low >= 0
		}
	}
	return c, b, false
}

// refinedKnee is the verdict by the last stage that narrowed the curve's bracket; ok is false where
// none did.
func (j *judge) refinedKnee(h *assay.Hypothesis, main *curve) (out Finding, ok bool) {
	rule := j.Experiment.Refine
	if rule == nil || rule.Along != h.Along || rule.Knee != h.Measure || j.stage >= 0 {
		return out, false
	}
	for i := len(j.plan.Stages) - 1; i >= 0; i-- {
		c, b, shown := j.stageBracket(h, main, i)
		if !shown {
			continue
		}
		out = c.finding(j.confidence())
		out.Unit = c.axis.unit.Name
		c.noteMedians(&out)
		c.state(&out, b)
		for _, s := range j.plan.Stages[:i+1] {
			out.note("%s; %d fresh blocks", s.Why, s.Blocks)
		}
		out.say(c.claimed(b))
		return out, true
	}
	return out, false
}

// best is the level with the best median.
func (c *curve) best() int {
	at := 0
	medians := c.medians()
	for l, m := range medians {
		if better(c.f, m, medians[at]) {
			at = l
		}
	}
	return at
}

// newLevel is the level to try within the curve's bracket.
func (j *judge) newLevel(rule *assay.Refine, c *curve, b bracket) (level string, ok bool) {
	low, high := c.axis.values[b.low]/c.axis.unit.Scale, c.axis.values[b.high]/c.axis.unit.Scale
	if !c.axis.scaled || low <= 0 || rule.Width > 0 && high/low <= rule.Width {
		return "", false
	}
	points := append([]float64{low, high}, c.axis.between(b)...)
	for _, p := range j.plan.Cells[j.plan.Main():] {
		q, err := assay.ParseQuantity(p.Cell[rule.Along])
		x := q.In(c.axis.unit) / c.axis.unit.Scale
		if err == nil && x > low && x < high && p.Cell.Matches(c.rest) {
			points = append(points, x)
		}
	}
	slices.Sort(points)
	points = slices.Compact(points)
	widest := 1
	for i := range points[1:] {
		if points[i+1]/points[i] > points[widest]/points[widest-1] {
			widest = i + 1
		}
	}
	whole := low == math.Trunc(low) && high == math.Trunc(high)
	return between(points[widest-1], points[widest], whole, rule.Width > 0, strings.TrimLeft(c.axis.levels[b.high], "0123456789.+-eE"))
}

// between are the levels inside a bracket: those that stayed undecided.
func (a axis) between(b bracket) []float64 {
	var inside []float64
	for _, x := range a.values[b.low+1 : b.high] {
		inside = append(inside, x/a.unit.Scale)
	}
	return inside
}

// between is the geometric middle of two levels, spelt with their unit: a whole number between whole
// ones, of which there may be none; with parts, some other number then.
func between(low, high float64, whole, parts bool, unit string) (level string, ok bool) {
	middle := math.Sqrt(low * high)
	switch {
	case whole && high-low >= 2:
		middle = math.Min(math.Max(math.Round(middle), math.Floor(low)+1), math.Ceil(high)-1)
		return strconv.FormatFloat(middle, 'f', -1, 64) + unit, true
	case !parts:
		return "", false // neighbouring whole numbers, or no whole numbers at all
	}
	const digits = 3
	return strconv.FormatFloat(middle, 'g', digits, 64) + unit, true
}
