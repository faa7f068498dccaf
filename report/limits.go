package report

import (
	"strconv"
	"strings"

	"github.com/assaybench/assay"
)

// limits says what these findings cannot show, as far as it follows from the plan and the trials.
func (f *Findings) limits() []string {
	var out []string
	switch n := len(f.Host.Sessions); {
	case n == 1:
		out = append(out, "Everything was measured on one machine in one session. Another machine, or this one after a reboot, may differ by more than the intervals say.")
	case n > 1:
		out = append(out, "The trials come from "+count(n, "session")+". Ratios are taken within a block and so within a session; absolute figures must hold in each.")
	}
	if text := f.levelLimit(); text != "" {
		out = append(out, text)
	}
	if planned, complete := f.blocks(); planned > 0 && complete < planned {
		out = append(out, "Only "+group(float64(complete), 0)+" of "+count(planned, "planned block")+" are complete.")
	}
	exploratory, unattributed := []string{}, []string{}
	for _, c := range f.claims() {
		if c.v.Exploratory {
			exploratory = append(exploratory, c.v.ID)
		}
		if c.h.Unattributed {
			unattributed = append(unattributed, c.v.ID)
		}
	}
	if len(exploratory) > 0 {
		out = append(out, "Exploratory, because something was amended after data were seen: "+list(exploratory)+". To confirm, register anew and measure again.")
	}
	if len(unattributed) > 0 {
		out = append(out, "Not attributed to any one term, because the compared levels are bundles: "+list(unattributed)+".")
	}
	if k := f.intervalClaims(); k > 1 {
		out = append(out, "The intervals of the claims are widened for their number: "+strconv.Itoa(k)+" at once, each at "+Confidence(1-0.05/float64(k))+". Those of single cells, in the plots and tables, are not.")
	}
	if n := len(f.absent()); n > 0 {
		out = append(out, count(n, "planned cell")+" could not be executed on this machine.")
	}
	if f.Experiment != nil && len(f.Experiment.Cited) > 0 {
		out = append(out, "Cited figures were not measured here; no ratio is taken across them.")
	}
	return out
}

// levelLimit says between which levels the findings hold.
func (f *Findings) levelLimit() string {
	var parts []string
	for _, factor := range f.factors() {
		order := factor.Order()
		if _, numeric := levelValues(order); numeric && len(order) > 1 {
			parts = append(parts, factor.Name+" "+order[0]+" to "+order[len(order)-1])
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Nothing is known beyond the levels measured (" + strings.Join(parts, ", ") + ") nor about values between two of them."
}

func (f *Findings) intervalClaims() (n int) {
	if f.Experiment == nil {
		return 0
	}
	for _, h := range f.Experiment.Hypotheses {
		if h.Kind.Interval() {
			n++
		}
	}
	return n
}

func (f *Findings) absent() []assay.PlannedCell {
	if f.Registration == nil {
		return nil
	}
	return f.Registration.CurrentPlan().Absent
}
