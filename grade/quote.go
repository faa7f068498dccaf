package grade

import (
	"fmt"
	"math"
	"slices"

	"github.com/assaybench/assay"
)

// pastPeak is by how much, as a share, a cell must fall short of its own best level to count as
// collapsed: past its own peak along an axis.
const pastPeak = 0.10

// cautions are the figures that must not be quoted, each with the honest one beside where there is
// one. They concern what the hypotheses print.
func (j *judge) cautions(out *Judgement) []assay.Caution {
	list := []assay.Caution{}
	add := func(c assay.Caution) {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	for i := range out.Hypotheses {
		h := &j.Experiment.Hypotheses[i]
		for n := range out.Hypotheses[i].Findings {
			for _, c := range j.cautionsOf(h, &out.Hypotheses[i].Findings[n]) {
				add(c)
			}
		}
	}
	for _, cited := range j.Experiment.Cited {
		add(assay.Caution{
			What:    fmt.Sprintf("a ratio with %s %s of %s", cited.Measure, cited.Value, cited.Cell),
			Why:     "cited from " + cited.Source + ", not measured here",
			Instead: "show it beside the measured figures, with its source",
		})
	}
	return list
}

func (j *judge) cautionsOf(h *assay.Hypothesis, f *Finding) []assay.Caution {
	what := fmt.Sprintf("%s: %s", h.ID, f.name())
	if !math.IsNaN(f.Estimate) {
		what = fmt.Sprintf("%s: %s, %s", h.ID, figure(f.Estimate, f.Unit), f.name())
	}
	var list []assay.Caution
	add := func(why, instead string) { list = append(list, assay.Caution{What: what, Why: why, Instead: instead}) }
	switch f.Reason {
	case assay.CrossSession:
		add("its two sides stand in different sessions", "execute both sides in one run, interleaved")
	case assay.Regimes:
		add("a median over two regimes", "each regime by itself, with what parts them")
	case assay.Confounded:
		add("its sides differ in more than one term", "the factor of each rung of a ladder that moves one term at a time")
	case assay.AboveCeiling:
		add("it is above what is possible", "find what the instrument counted instead")
	case assay.BadInstrument:
		add("the instrument did not see a known delay", "nothing, until it does")
	case assay.NoEffect:
		add("the nominal level did not take effect", "the figure beside the achieved level")
	case assay.Censored:
		add("killed, bounded or unknown trials decide it", "the bound that is known, or trials without that bound")
	}
	if f.To == nil || h.Kind != assay.Ratio && h.Kind != assay.Difference && h.Kind != assay.Same {
		return list
	}
	if h.Unattributed {
		add("the levels move several terms that nobody named", "one term at a time")
	}
	field, err := j.field(h.Measure)
	if err != nil {
		return list
	}
	if why, instead := j.collapsed(field, f); why != "" {
		add(why, instead)
	}
	if why := j.belowFloor(field, f); why != "" {
		add(why, "no difference was found; choose by another measure")
	}
	return list
}

// collapsed says that a side of the comparison is past its own peak along some axis, and gives the
// ratio at the level where that side is at its best.
func (j *judge) collapsed(f *field, out *Finding) (why, instead string) {
	// Only what is better when there is more of it collapses: a time that grows along an axis may just be
	// the time for more work.
	if f.Better != assay.More || out.Status == assay.Void {
		return "", ""
	}
	for _, side := range []assay.Cell{out.To, out.Of} {
		for i := range j.Experiment.Factors {
			name := j.Experiment.Factors[i].Name
			if out.Of[name] != out.To[name] || out.Of[name] == "" {
				continue
			}
			own, best, level, ok := j.peak(f, side, &j.Experiment.Factors[i])
			if !ok || !ordered(&j.Experiment.Factors[i]) {
				continue
			}
			why = fmt.Sprintf("%s is past its own peak: %s there, %s at %s=%s", side, figure(own, f.Unit.Name), figure(best, f.Unit.Name), name, level)
			at := assay.Cell{name: level}
			of, to := j.median(f, out.Of.With(at)), j.median(f, out.To.With(at))
			if !(to > 0) || math.IsNaN(of) {
				return why, "compare each side at its own best"
			}
			return why, fmt.Sprintf("%s at %s=%s, where that side is at its best", figure(of/to, ""), name, level)
		}
	}
	return "", ""
}

// ordered reports whether the levels of a factor are quantities: only along such an axis is there a
// far side of a peak.
func ordered(f *assay.Factor) bool {
	for _, l := range f.Levels {
		if _, err := assay.ParseQuantity(l.Text); err != nil {
			return false
		}
	}
	return true
}

// peak is the best level below the cell's own along a factor, if the cell falls short of it by more
// than pastPeak.
func (j *judge) peak(f *field, cell assay.Cell, factor *assay.Factor) (own, best float64, level string, ok bool) {
	own = j.median(f, cell)
	best = own
	for _, l := range factor.Order() {
		if l == cell[factor.Name] {
			break // higher levels are the far side of the peak
		}
		m := j.median(f, cell.With(assay.Cell{factor.Name: l}))
		if better(f, m, best) {
			best, level = m, l
		}
	}
	return own, best, level, level != "" && own < best*(1-pastPeak)
}

func better(f *field, a, b float64) bool {
	if f.Better == assay.Lower {
		return a < b
	}
	return a > b
}

// median is the cell's median in the measure's unit, NaN for a cell without numbers.
func (j *judge) median(f *field, cell assay.Cell) float64 {
	i := f.find(cell)
	if i < 0 {
		return math.NaN()
	}
	return j.figuresAt(f, i).Median
}

// figuresAt are the cell's figures over all blocks, computed once.
func (j *judge) figuresAt(f *field, cell int) CellFigures {
	if f.figures == nil {
		f.figures = make([]*CellFigures, len(f.cells))
	}
	if f.figures[cell] == nil {
		first, last := j.first, j.last
		j.first, j.last = 0, j.plan.Blocks
		c := j.cellFigures(f, cell)
		j.first, j.last = first, last
		f.figures[cell] = &c
	}
	return *f.figures[cell]
}

// belowFloor says that the difference is not a finding: it was not decided, and is smaller than what
// a cell's own trials differ by.
func (j *judge) belowFloor(f *field, out *Finding) string {
	of, to := f.find(out.Of), f.find(out.To)
	if of < 0 || to < 0 || out.Status == assay.Pass || out.Status == assay.Fail || out.Status == assay.Void {
		return ""
	}
	a, b := j.figuresAt(f, of), j.figuresAt(f, to)
	floor := math.Max(a.Floor, b.Floor)
	change := math.Abs(a.Median/b.Median - 1)
	if math.IsNaN(floor) || math.IsNaN(change) || change == 0 || change >= floor {
		return ""
	}
	return fmt.Sprintf("a difference of %.1f%% is below the noise floor of %.1f%%", 100*change, 100*floor)
}
