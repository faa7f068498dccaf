package grade

import (
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// Figures are one measure over all trials and all cells.
type Figures struct {
	Ref    assay.MeasureRef
	Unit   assay.Unit
	Better assay.Better
	Share  bool // a ratio from 0 to 1
	// Values has one number a trial of the folder, in Unit: NaN where the trial has none (warm-ups,
	// void and refused trials have their number where one was recorded), an infinity or 0 where it
	// counts as worse than any number.
	Values []float64
	Cells  []CellFigures
}

// CellFigures are one cell's counted trials in one measure, in its unit. What there are too few
// trials for is NaN.
type CellFigures struct {
	Cell       assay.Cell
	N          int // trials that count, failed ones included
	Median     float64
	Q1, Q3     float64 // quartiles
	Low, High  float64 // interval on the median
	Confidence float64
	// Floor is the cell's own noise: half the width of the interval on its median, or half its range
	// where there is none, as a share of the median. A smaller difference is not a finding.
	Floor float64
}

// figures are those of all measures that hold numbers: first what the hypotheses measure.
func (j *judge) figures() []Figures {
	j.first, j.last = 0, j.plan.Blocks
	var refs []assay.MeasureRef
	add := func(r assay.MeasureRef) {
		if r.Name != "" && !slices.Contains(refs, r) {
			refs = append(refs, r)
		}
	}
	for _, h := range j.Experiment.Hypotheses {
		add(h.Measure)
		for _, c := range h.Meets {
			add(c.Measure)
		}
	}
	for _, m := range j.Experiment.Measures {
		add(assay.MeasureRef{Name: m.Name})
	}
	add(j.plainMeasure())
	var all []Figures
	for _, r := range refs {
		f, err := j.field(r)
		if err != nil || f.texts || f.MaxOf.Name != "" {
			continue
		}
		if g := j.figuresOf(f); slices.ContainsFunc(g.Values, func(x float64) bool { return !math.IsNaN(x) }) {
			all = append(all, g)
		}
	}
	return all
}

// plainMeasure is what every trial has: the rate of a load, or the wall time of a command.
func (j *judge) plainMeasure() assay.MeasureRef {
	for _, s := range j.Experiment.Settings {
		if s.Workload.Load != nil {
			return assay.MeasureRef{Name: "rate"}
		}
	}
	return assay.MeasureRef{Name: "wall"}
}

func (j *judge) figuresOf(f *field) Figures {
	g := Figures{Ref: f.Ref, Unit: f.Unit, Better: f.Better, Share: f.Share, Values: make([]float64, len(j.Trials))}
	for i := range j.Trials {
		g.Values[i] = math.NaN()
		if e := f.entries[i]; e.state == number || e.bound {
			g.Values[i] = e.low
		} else if e.state == absent {
			if v, err := f.Of(&j.Trials[i], nil); err == nil && !v.IsText {
				g.Values[i] = v.Number
			}
		}
	}
	for cell := range f.cells {
		g.Cells = append(g.Cells, j.figuresAt(f, cell))
	}
	return g
}

func (j *judge) cellFigures(f *field, cell int) CellFigures {
	nan := math.NaN()
	c := CellFigures{Cell: f.cells[cell], Confidence: 1 - alpha, Q1: nan, Q3: nan, Low: nan, High: nan, Floor: nan}
	var xs []float64
	for _, i := range j.trialsOf(f, cell) {
		if e := f.entries[i]; e.state == number || e.bound {
			xs = append(xs, e.low)
		}
	}
	slices.Sort(xs)
	c.N, c.Median = len(xs), stat.Median(xs)
	if c.N == 0 {
		return c
	}
	c.Q1, c.Q3 = xs[(c.N-1)/4], xs[c.N-1-(c.N-1)/4]
	low, high, ok := stat.SignInterval(xs, c.Confidence)
	if ok {
		c.Low, c.High = low, high
	} else {
		low, high = xs[0], xs[c.N-1]
	}
	if c.N > 1 && c.Median != 0 {
		c.Floor = (high - low) / 2 / math.Abs(c.Median)
	}
	return c
}

// count says what became of the planned trials, warm-ups apart.
func (j *judge) count() assay.TrialCount {
	c := assay.TrialCount{Planned: j.plan.Blocks * j.plan.Main()}
	for _, s := range j.plan.Stages {
		c.Planned += s.Blocks * len(s.Cells)
	}
	for i := range j.Trials {
		t := &j.Trials[i]
		if t.Warmup {
			continue
		}
		switch t.Outcome {
		case assay.OK:
			if t.Valid && j.spoilt[i] == "" {
				c.OK++
			} else {
				c.Void++
			}
		case assay.Failed, assay.Crashed, assay.OOM, assay.Hung:
			c.Failed++
		case assay.Killed, assay.Capped:
			c.Killed++
		case assay.Refused:
			c.Refused++
		}
	}
	for _, b := range j.schedule.blocks {
		for _, skipped := range b.skipped {
			if skipped {
				c.Killed++
			}
		}
	}
	return c
}
