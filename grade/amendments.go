package grade

import (
	"fmt"
	"strings"

	"github.com/assaybench/assay"
)

// exploratory says why the hypothesis was not registered, as it now stands, before the trials that
// judge it; empty if it was. Each amendment after data names what it changed.
func (j *judge) exploratory(h *assay.Hypothesis) string {
	for _, a := range j.Registration.Amendments {
		if a.Trials == 0 {
			continue
		}
		for _, change := range a.Changes {
			if j.touches(change, h) {
				return fmt.Sprintf("exploratory: %s was amended on %s after %d trials: %s",
					change, a.Time.UTC().Format("2006-01-02"), a.Trials, a.Reason)
			}
		}
	}
	return ""
}

// harmless are the keys of the file that words, or the number of trials, hang on, and no verdict.
var harmless = map[string]bool{"experiment": true, "question": true, "blocks": true, "retries": true, "warmup": true}

// touches reports whether a changed key of the experiment file bears on the hypothesis.
func (j *judge) touches(change string, h *assay.Hypothesis) bool {
	key, rest, _ := strings.Cut(change, ".")
	name, _, _ := strings.Cut(rest, ".")
	switch {
	case harmless[key]:
		return false
	case key == "hypotheses" && name != "":
		return name == h.ID || name == h.From && name != ""
	case key == "measures" && name != "":
		return j.uses(h, name)
	}
	return true
}

// uses reports whether the hypothesis rests on the declared measure.
func (j *judge) uses(h *assay.Hypothesis, name string) bool {
	if h.Measure.Name == name || h.Needs != nil && h.Needs.Measure.Name == name {
		return true
	}
	for _, m := range h.Meets {
		if m.Measure.Name == name {
			return true
		}
	}
	for _, m := range j.Experiment.Measures {
		if m.Name == h.Measure.Name && m.MaxOf.Name == name {
			return true
		}
	}
	return false
}

// judgeAlone is the number of planned blocks that do not judge any more, since more were added after
// a look at all of them.
func (j *judge) judgeAlone() int {
	before := j.Registration.Plan
	for _, a := range j.Registration.Amendments {
		if a.Plan.Blocks > before.Blocks && a.Trials > 0 && j.doneAt(before, a.Trials) {
			return before.Blocks
		}
		before = a.Plan
	}
	return 0
}

func (j *judge) doneAt(p assay.Plan, trials int) bool {
	s := NewSchedule(p, j.Registration.Seed)
	for i := range j.Trials[:min(trials, len(j.Trials))] {
		s.Add(&j.Trials[i])
	}
	return s.reached(p.Blocks)
}
