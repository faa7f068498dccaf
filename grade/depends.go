package grade

import (
	"fmt"
	"slices"

	"github.com/assaybench/assay"
)

// correct notes, with every verdict that rests on another hypothesis, where that one does not stand: what
// was concluded from a claim that fell is to be read anew. The verdict itself stays as its own trials
// make it.
func (j *judge) correct(verdicts []assay.Verdict) {
	stands := make([]string, len(verdicts)) // empty, or why not
	for i, v := range verdicts {
		switch {
		case v.Verdict != assay.Pass:
			stands[i] = fmt.Sprintf("is %s (%s)", v.Verdict, v.Reason)
		case v.Exploratory:
			stands[i] = "was amended after data were seen"
		}
	}
	for i := range verdicts {
		h := &j.Experiment.Hypotheses[i]
		for n := range verdicts {
			other := &j.Experiment.Hypotheses[n]
			if stands[n] != "" && (slices.Contains(h.Depends, other.ID) || other.From != "" && slices.Contains(h.Depends, other.From)) {
				verdicts[i].Notes = append(verdicts[i].Notes, fmt.Sprintf("depends on %s, which %s: read this verdict anew without it", other.ID, stands[n]))
			}
		}
	}
}
