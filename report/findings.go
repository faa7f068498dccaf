package report

import (
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// Findings are everything that a report of a results folder is made from: what was recorded, and
// what grading found in it.
type Findings struct {
	Experiment   *assay.Experiment
	Registration *assay.Registration
	Host         assay.Host
	Trials       []assay.Trial
	grade.Judgement
}

// Judged are the findings of a results folder.
func Judged(f grade.Folder) Findings {
	return Findings{f.Experiment, f.Registration, f.Host, f.Trials, grade.Judge(f)}
}

// hypothesis is the registered hypothesis of that id.
func (f *Findings) hypothesis(id string) (assay.Hypothesis, bool) {
	if f.Experiment == nil {
		return assay.Hypothesis{}, false
	}
	i := slices.IndexFunc(f.Experiment.Hypotheses, func(h assay.Hypothesis) bool { return h.ID == id })
	if i < 0 {
		return assay.Hypothesis{}, false
	}
	return f.Experiment.Hypotheses[i], true
}

// factors are the experiment's factors; a report can be made without the experiment.
func (f *Findings) factors() []assay.Factor {
	if f.Experiment == nil {
		return nil
	}
	return f.Experiment.Factors
}

// cellText is the cell with its factors in the file's order, and those the file does not know, in
// the alphabet's, after them.
func (f *Findings) cellText(c assay.Cell) string {
	rest := c
	text := ""
	add := func(name, level string) {
		if text != "" {
			text += " "
		}
		text += name + "=" + level
	}
	for _, factor := range f.factors() {
		if level, ok := c[factor.Name]; ok {
			add(factor.Name, level)
			rest = rest.Without(factor.Name)
		}
	}
	if len(rest) > 0 {
		if text != "" {
			text += " "
		}
		text += rest.Key()
	}
	if text == "" {
		return "the one cell"
	}
	return text
}

// blocks is the number of blocks that were planned, and of those that are done: executed whole but for
// cells that were skipped after a kill, and repeated where trials were void, as often as allowed.
func (f *Findings) blocks() (planned, done int) {
	if f.Registration == nil {
		return 0, 0
	}
	s := grade.NewSchedule(f.Registration.CurrentPlan(), f.Registration.Seed)
	for i := range f.Trials {
		s.Add(&f.Trials[i])
	}
	return s.Progress()
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
