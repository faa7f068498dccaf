package report

import (
	"math"
	"slices"

	"github.com/assaybench/assay"
)

// Findings are everything that a report of a results folder is made from.
type Findings struct {
	Experiment   *assay.Experiment
	Registration *assay.Registration
	Host         assay.Host
	Trials       []assay.Trial
	Verdicts     assay.Verdicts
	Measures     []Measure
}

// A Measure is one measure over all trials and all cells.
type Measure struct {
	Name   string // as the experiment file writes it: throughput, p99(response_time)
	Unit   assay.Unit
	Better assay.Better
	// Share says that the number is a ratio from 0 to 1, which people read in per cent.
	Share bool
	// Values has one number a trial of Findings.Trials, in Unit: NaN where the trial has none, an
	// infinity where it counts as worse than any number.
	Values []float64
	Cells  []Cell // in design order
}

// A Cell is what grading found for one cell: figures over its counted trials.
type Cell struct {
	Cell assay.Cell
	// Median, Low and High are in the measure's unit; Low and High are NaN where the counted
	// trials are too few for an interval, and all three where there are none.
	Median, Low, High float64
	Confidence        float64 // of the interval, 0 to 1
	Counted           int     // trials
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

// measure is the measure of that name, nil if the findings have none.
func (f *Findings) measure(name string) *Measure {
	for i := range f.Measures {
		if f.Measures[i].Name == name {
			return &f.Measures[i]
		}
	}
	return nil
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

// blocks is the number of blocks that were planned, and of those in which every planned cell has a
// counted trial.
func (f *Findings) blocks() (planned, complete int) {
	if f.Registration == nil {
		return 0, 0
	}
	plan := f.Registration.CurrentPlan()
	cells := map[int]map[string]bool{}
	for i := range f.Trials {
		t := &f.Trials[i]
		if !t.Counts() {
			continue
		}
		if cells[t.Block] == nil {
			cells[t.Block] = map[string]bool{}
		}
		cells[t.Block][t.Cell.Key()] = true
	}
	for _, got := range cells {
		if len(got) >= len(plan.Cells) {
			complete++
		}
	}
	return plan.Blocks, complete
}

// counted are the measure's finite values of the trials that take part in statistics and satisfy
// the pattern.
func (f *Findings) counted(m *Measure, pattern assay.Cell) []float64 {
	var xs []float64
	for i := range f.Trials {
		if i < len(m.Values) && f.Trials[i].Counts() && f.Trials[i].Cell.Matches(pattern) && finite(m.Values[i]) {
			xs = append(xs, m.Values[i])
		}
	}
	return xs
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
