package grade

import (
	"fmt"
	"math"

	"github.com/assaybench/assay"
)

// Advice is the level of a factor that the verdicts suggest, beside today's default.
type Advice struct {
	Factor    string
	Suggested string // empty where nothing was decided
	Measured  string // the cell that the suggestion was measured in
	Default   string // the base's level; empty where the experiment states none
	By        string // the hypothesis
	Flip      string // what would change the suggestion
}

// advice is what the verdicts suggest for each factor that a hypothesis moves: the first that decides.
func (j *judge) advice(out *Judgement) []Advice {
	var list []Advice
	for i := range j.Experiment.Factors {
		factor := &j.Experiment.Factors[i]
		var best *Advice
		for n := range j.Experiment.Hypotheses {
			a, ok := j.adviceOf(factor, &j.Experiment.Hypotheses[n], &out.Verdicts.Hypotheses[n], out.Hypotheses[n].Findings)
			if ok && (best == nil || best.Suggested == "" && a.Suggested != "") {
				best = &a
			}
		}
		if best != nil {
			best.Factor, best.Default = factor.Name, j.Experiment.Base[factor.Name]
			list = append(list, *best)
		}
	}
	return list
}

// adviceOf is what one hypothesis says of a factor; ok is false if it does not move it.
func (j *judge) adviceOf(factor *assay.Factor, h *assay.Hypothesis, v *assay.Verdict, findings []Finding) (Advice, bool) {
	a := Advice{By: h.ID, Flip: "not decided: " + string(v.Reason)}
	_, _, f := combined(h, findings)
	switch {
	case h.Along == factor.Name && (h.Kind == assay.Knee || h.Kind == assay.Highest):
		if f == nil || math.IsNaN(f.Estimate) || v.Verdict == assay.Void || v.Verdict == assay.Undecided {
			return a, true
		}
		a.Suggested = levelAt(factor, f.Estimate)
		a.Measured = f.Of.With(assay.Cell{factor.Name: a.Suggested}).String()
		a.Flip = fmt.Sprintf("a cell in which the curve rises by more than %s%% beyond it", figure(100*h.Margin, ""))
		if h.Kind == assay.Highest {
			a.Flip = "a cell, or conditions, in which it misses"
		}
		if v.Reason == assay.AxisEdge {
			a.Flip = "a longer axis: it lies at the edge of this one"
		}
		return a, true
	case h.Of[factor.Name] != "" && h.Of[factor.Name] != h.To[factor.Name]:
		if f == nil || v.Verdict != assay.Pass && v.Verdict != assay.Fail {
			return a, true
		}
		return j.betterSide(a, factor.Name, h, f), true
	}
	return a, false
}

// betterSide suggests the side of a decided comparison whose figure is the better one.
func (j *judge) betterSide(a Advice, name string, h *assay.Hypothesis, f *Finding) Advice {
	m, err := j.resolve(h.Measure)
	if err != nil || m.Better == "" || math.IsNaN(f.OfMedian) || math.IsNaN(f.ToMedian) {
		a.Flip = fmt.Sprintf("%s says neither better: more nor less", h.Measure)
		return a
	}
	if h.Kind == assay.Same {
		a.Flip = fmt.Sprintf("no difference above %s%% was found: keep the default", figure(100*h.Margin, ""))
		return a
	}
	best, other := f.Of, f.To
	if (f.OfMedian < f.ToMedian) == (m.Better == assay.More) {
		best, other = f.To, f.Of
	}
	a.Suggested, a.Measured = best[name], best.String()
	a.Flip = fmt.Sprintf("a cell in which %s is ahead", other[name])
	if h.Needs != nil {
		a.Flip = "where not " + h.Needs.String()
	}
	return a
}

// levelAt is the factor's level with that number, in the axis's unit; a number without a level is
// spelt out.
func levelAt(factor *assay.Factor, x float64) string {
	for _, l := range factor.Levels {
		if q, err := assay.ParseQuantity(l.Text); err == nil && q.Number == x {
			return l.Text
		}
	}
	return figure(x, "")
}
