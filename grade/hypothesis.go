package grade

import (
	"fmt"
	"slices"

	"github.com/assaybench/assay"
)

// hypothesis judges one hypothesis: first what no look changes, then look by look.
func (j *judge) hypothesis(h *assay.Hypothesis) (assay.Verdict, Grounds) {
	v := assay.Verdict{ID: h.ID, Claim: h.Claim, Confidence: j.confidence(), Notes: []string{}}
	g := Grounds{ID: h.ID}
	if why := j.exploratory(h); why != "" {
		v.Exploratory = true
		v.Notes = append(v.Notes, why)
	}
	if status, reason, note := j.beforehand(h); status != "" {
		v.Verdict, v.Reason = status, reason
		v.Notes = append(v.Notes, note)
		return v, g
	}
	reached := false
	for _, look := range j.looks {
		if !j.schedule.reached(look) {
			break
		}
		reached, j.last = look == j.plan.Blocks, look
		g.Findings = j.findings(h)
		status, _, _ := combined(h, g.Findings)
		if status == assay.Pass || status == assay.Fail {
			reached = true
			break
		}
	}
	if !reached && !j.stoppedAtLook(g) {
		j.last = j.plan.Blocks
		g.Findings = j.findings(h)
		incomplete(g.Findings)
	}
	j.fillVerdict(&v, h, g.Findings)
	if note := j.oneOfMany(h, v.Verdict, g.Findings); note != "" {
		v.Notes = append(v.Notes, note)
	}
	return v, g
}

// oneOfMany says that a FAIL rests on one of many cells by so little that it may be chance: a claim about
// several cells fails by any of them, each at the confidence of the claim, so that the chance to be wrong
// grows with their number. That PASS takes all of them costs it nothing (Berger, Technometrics 24, 1982).
// The verdict stands, since it is what the printed interval says.
func (j *judge) oneOfMany(h *assay.Hypothesis, verdict assay.Status, findings []Finding) string {
	if verdict != assay.Fail || len(findings) < 2 || !h.Kind.Interval() {
		return ""
	}
	j.divided = len(findings)
	confidence := j.confidence()
	again, _, _ := combined(h, j.findings(h))
	j.divided = 0
	if again == assay.Fail {
		return ""
	}
	return fmt.Sprintf("one of %d: with alpha divided over the %d cells that the claim leaves open (%.4g%% confidence each) none contradicts it; so may chance, where all are close to the bound. Register the cell by itself and measure anew",
		len(findings), len(findings), 100*confidence)
}

// stoppedAtLook reports whether the log ends at a look at which this hypothesis cannot be decided
// by more blocks: its verdict there is neither PASS nor FAIL nor UNDECIDED.
func (j *judge) stoppedAtLook(g Grounds) bool {
	if len(g.Findings) == 0 || j.schedule.fresh > j.last {
		return false
	}
	return !slices.ContainsFunc(g.Findings, func(f Finding) bool { return f.Status == assay.Undecided })
}

// incomplete takes PASS, FAIL and everything that more trials could change from the findings of a
// plan that is not done.
func incomplete(findings []Finding) {
	for i := range findings {
		if f := &findings[i]; f.Reason != assay.CrossSession && f.Reason != assay.Confounded {
			f.say(assay.Undecided, assay.Incomplete)
		}
	}
}

// beforehand is the verdict that no number of trials would change, if there is one.
func (j *judge) beforehand(h *assay.Hypothesis) (assay.Status, assay.Reason, string) {
	if why := j.notHere(h); why != "" {
		return assay.Untested, assay.NotTestableHere, why
	}
	if why := j.confounded(h); why != "" {
		return assay.Void, assay.Confounded, why
	}
	if len(j.Trials) == 0 {
		return assay.Untested, assay.Vacuous, "no trial was recorded"
	}
	if why := j.needsNot(h); why != "" {
		return assay.Untested, assay.NotTestableHere, why
	}
	return "", "", ""
}

// confounded says how the two sides differ in more than one term; empty if they do not.
func (j *judge) confounded(h *assay.Hypothesis) string {
	if h.Of == nil || h.To == nil || h.Unattributed {
		return ""
	}
	of, _ := assay.Terms(j.Experiment.Factors, h.Of)
	to, _ := assay.Terms(j.Experiment.Factors, h.Of.With(h.To))
	var moved []string
	for _, name := range sortedUnion(of, to) {
		if of[name] != to[name] {
			moved = append(moved, name)
		}
	}
	if len(moved) < 2 {
		return ""
	}
	return fmt.Sprintf("the sides differ in %d terms: %s; compare rungs that move one each", len(moved), list(moved))
}

// findings judges the hypothesis in every matching cell, by the blocks up to the current look.
func (j *judge) findings(h *assay.Hypothesis) []Finding {
	if h.Kind == assay.Highest {
		return j.highest(h)
	}
	f, err := j.field(h.Measure)
	if err != nil {
		out := newFinding(h.At, nil)
		out.say(assay.Untested, assay.Vacuous, err.Error())
		return []Finding{out}
	}
	var findings []Finding
	switch h.Kind {
	case assay.Ratio, assay.Difference, assay.Same:
		findings = j.paired(h, f)
	case assay.Absolute:
		findings = j.absolute(h, f)
	case assay.Identical:
		findings = j.identical(h, f)
	case assay.Knee:
		findings = j.knee(h, f)
	case assay.Trend:
		findings = j.trend(h, f)
	case assay.Line:
		findings = j.line(h, f)
	case assay.LadderKind:
		findings = j.ladder(h, f)
	}
	if len(findings) == 0 {
		out := newFinding(h.At.With(h.Of), nil)
		out.say(assay.Untested, assay.Vacuous, "no cell matches")
		return []Finding{out}
	}
	return findings
}

// fillVerdict states the combination of the findings.
func (j *judge) fillVerdict(v *assay.Verdict, h *assay.Hypothesis, findings []Finding) {
	status, reason, chosen := combined(h, findings)
	v.Verdict, v.Reason = status, reason
	if chosen != nil {
		v.Estimate, v.Low, v.High = finite(chosen.Estimate), finite(chosen.Low), finite(chosen.High)
		v.Unit, v.Blocks = chosen.Unit, chosen.Blocks
		v.Confidence = chosen.Confidence
		v.Notes = append(v.Notes, chosen.Notes...)
	}
	if note := j.elsewhere(h); note != "" {
		v.Notes = append(v.Notes, note)
	}
	if len(findings) > 1 {
		for i := range findings {
			v.Notes = append(v.Notes, findings[i].line())
		}
	}
}
