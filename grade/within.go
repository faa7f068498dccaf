package grade

import (
	"fmt"
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
)

// dependentShare is how few independent operations a trial's must be worth to be remarked.
const dependentShare = 0.5

// dependent says, of each quantile of times that a hypothesis is about, how well a single trial knows it
// where its operations depend on one another: by far less well than their number suggests. No verdict
// rests on it, since the trial is the unit. The cell where it is worst is told, by its middle trial.
func (j *judge) dependent() []string {
	var refs []assay.MeasureRef
	add := func(r assay.MeasureRef) {
		if _, ok := assay.Quantile(r.Stat); ok && !slices.Contains(refs, r) {
			refs = append(refs, r)
		}
	}
	for i := range j.Experiment.Hypotheses {
		h := &j.Experiment.Hypotheses[i]
		add(h.Measure)
		for _, c := range h.Meets {
			add(c.Measure)
		}
	}
	var list []string
	for _, ref := range refs {
		if text := j.dependentIn(ref); text != "" {
			list = append(list, text)
		}
	}
	return list
}

func (j *judge) dependentIn(ref assay.MeasureRef) string {
	f, err := j.field(ref)
	if err != nil {
		return ""
	}
	text, least := "", dependentShare
	for cell := range f.cells {
		trial, ok := j.middleTrial(f, cell)
		if !ok {
			continue
		}
		w, ok, err := measure.WithinTrial(j.files(trial), ref)
		if err != nil || !ok || !w.Asked || w.Effective >= least*float64(w.N) {
			continue
		}
		least = w.Effective / float64(w.N)
		text = fmt.Sprintf("%s: one trial knows its %s only to be %s (95%%): the %d operations depend on those near them in time and are worth %.0f",
			f.cells[cell], ref, bounds(w), w.N, math.Floor(w.Effective))
	}
	return text
}

// bounds is an interval of times, in ns, of which an end may be open.
func bounds(w measure.Within) string {
	switch {
	case w.Low > 0 && !math.IsInf(w.High, 1):
		return interval(w.Low, w.High, "ns")
	case w.Low > 0:
		return "at least " + figure(w.Low, "ns")
	case !math.IsInf(w.High, 1):
		return "at most " + figure(w.High, "ns")
	}
	return "above 0"
}

// middleTrial is the counted ok trial of a cell whose number is the middle one.
func (j *judge) middleTrial(f *field, cell int) (trial int, ok bool) {
	var trials []int
	for _, i := range j.trialsOf(f, cell) {
		if f.entries[i].exact() && j.Trials[i].Outcome == assay.OK {
			trials = append(trials, i)
		}
	}
	if len(trials) == 0 {
		return 0, false
	}
	slices.SortStableFunc(trials, func(a, b int) int {
		switch x, y := f.entries[a].low, f.entries[b].low; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return trials[len(trials)/2], true
}
