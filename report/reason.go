package report

import (
	"math"
	"strings"

	"github.com/assaybench/assay"
)

// A reasonText is what one reason of the closed vocabulary means, and the sentence that says it of
// one claim with what was got and what was wanted.
type reasonText struct {
	reason assay.Reason
	// means is the definition that does not depend on the claim.
	means string
	say   func(c claim) string
}

// reasons is the vocabulary, guards apart.
var reasons = []reasonText{
	{assay.Holds, "the whole interval is inside the claim", sayHolds},
	{assay.Contradicted, "the whole interval is outside the claim", sayContradicted},
	{assay.Straddles, "the interval lies on both sides of the bound", sayStraddles},
	{assay.Underpowered, "this many blocks could not have decided the claim", sayUnderpowered},
	{assay.Incomplete, "the registered number of blocks is not complete", sayIncomplete},
	{assay.UnequalVoids, "void trials are unequally spread over the compared cells", sayUnequalVoids},
	{assay.Vacuous, "there is nothing that could have come out otherwise", sayVacuous},
	{assay.AxisGap, "the answer lies between two neighbouring levels", sayAxisGap},
	{assay.AxisEdge, "the answer lies beyond the first or the last level", sayAxisEdge},
	{assay.Censored, "stopped trials leave the value open, and the verdict depends on it", sayCensored},
	{assay.NotTestableHere, "this machine cannot execute what the claim needs", sayNotTestable},
	{assay.NoEffect, "a nominal level did not take effect", sayNoEffect},
	{assay.Regimes, "the trials fall into two regimes, between which a median says nothing", sayRegimes},
	{assay.Confounded, "something else moved together with the compared levels", sayConfounded},
	{assay.CrossSession, "the two sides were measured in different sessions", sayCrossSession},
	{assay.BadInstrument, "the instrument missed a difference that was put there, or saw one where none is", sayInstrument},
	{assay.AboveCeiling, "the figure is above a limit that it cannot exceed", sayCeiling},
}

// guards says what each default guard watches, as a clause after "because".
var guards = map[string]string{
	"delivered":        "the generator did not deliver the planned operations, and that was its own doing",
	"generator":        "the generator itself was late or short of processor time",
	"target-restarted": "the target restarted during a trial",
	"throttled":        "the processor was throttled",
	"swap":             "the machine was swapping",
	"clock-step":       "the clock was set during a trial",
	"steal":            "the hypervisor took processor time away",
	"leak":             "something of an earlier trial was still there",
	"ceiling":          "a figure exceeded what the machine can do",
	"clock":            "the trials are too short for the clock that timed them",
	"warm":             "caches did not stand as declared: files declared cold were in memory, or the target knew the operations already",
	"steady":           "the operations grew faster, or slower, throughout the window, so that a figure of it is that of no state",
	"changed":          "the executable or a declared input changed between the trials",
	"conclude":         "the hook after the trial did not succeed",
	"foreign-load":     "somebody else was loading what the trial shares",
	"ledger":           "the generator's own count does not add up",
	"counter":          "the target's own count of arrivals is not what was sent",
	"unnamed":          "the trial is recorded as void without saying why",
}

// guardName is the guard that a reason or an entry of void_by names.
func guardName(s string) (string, bool) {
	return strings.CutPrefix(s, assay.GuardVoid(""))
}

// Sentence is the verdict's reason in one plain sentence, with what was got and what was wanted.
func (c claim) sentence() string {
	for _, r := range reasons {
		if r.reason == c.v.Reason {
			return sentence(r.say(c))
		}
	}
	if name, ok := guardName(string(c.v.Reason)); ok {
		return sentence(c.sayGuard(name))
	}
	return sentence("the reason recorded is " + string(c.v.Reason))
}

// Meaning is the definition of a reason; empty if the vocabulary has no such reason.
func Meaning(reason assay.Reason) string {
	for _, r := range reasons {
		if r.reason == reason {
			return r.means
		}
	}
	if name, ok := guardName(string(reason)); ok {
		if text, ok := guards[name]; ok {
			return text
		}
		return "the guard " + name + " did not hold"
	}
	return ""
}

// odd reports whether the claim is decided by more than its figure: a direction, a line's two
// numbers and its straightness, or a comparison of rungs.
func (c claim) odd() bool {
	return c.h.Kind == assay.Trend || c.h.Kind == assay.Line || c.h.Kind == assay.LadderKind
}

// withInterval is the subject with its interval, if there is one.
func (c claim) withInterval() string {
	if c.interval() == "" {
		return c.subject()
	}
	return c.subject() + " (" + strings.TrimSuffix(c.over(), ",") + ")"
}

func sayHolds(c claim) string {
	switch {
	case c.h.Kind == assay.Identical:
		return c.h.Measure.String() + c.at() + " is the same in all " + count(c.compared(), "counted trial")
	case c.odd():
		return c.withInterval() + "; claimed was " + c.wanted() + ", and that holds"
	case c.bracket() && c.interval() != "":
		return c.subject() + ", and every value there is " + c.wanted()
	case c.estimate() == "":
		return "what was found is " + c.wanted()
	case c.interval() == "":
		return c.subject() + ", which is " + c.wanted()
	}
	return c.subject() + "; the whole " + c.over() + " is " + c.wanted()
}

func sayContradicted(c claim) string {
	switch {
	case c.h.Kind == assay.Identical:
		return c.h.Measure.String() + c.at() + " is not the same in all " + count(c.compared(), "counted trial")
	case c.odd():
		return c.withInterval() + "; claimed was " + c.wanted() + ", and that does not hold"
	case c.bracket() && c.interval() != "":
		return c.subject() + ", and no value there is " + c.wanted()
	case c.estimate() == "":
		return "what was found is not " + c.wanted()
	case c.interval() == "":
		return c.subject() + ", which is not " + c.wanted()
	}
	return c.subject() + "; nothing in the " + c.over() + " is " + c.wanted()
}

func sayStraddles(c claim) string {
	if c.interval() == "" {
		return "what was found neither supports nor contradicts a value " + c.wanted()
	}
	if c.odd() {
		return c.withInterval() + "; claimed was " + c.wanted() + ", and that is open"
	}
	if c.bracket() {
		return c.subject() + "; some values there are " + c.wanted() + " and some are not"
	}
	return c.subject() + ", but the " + c.over() + " has values on both sides of the claim (" + c.wanted() + ")"
}

func sayUnderpowered(c claim) string {
	text := count(c.v.Blocks, "block") + " cannot decide this claim at " + Confidence(c.v.Confidence) + " confidence"
	if c.interval() != "" {
		text += ": the interval is " + c.interval() + ", and " + c.wanted() + " was asked"
	}
	return text
}

func sayIncomplete(c claim) string {
	planned, complete := c.f.blocks()
	if planned == 0 {
		return "the plan is not complete, and no verdict is formed before it is"
	}
	return group(float64(complete), 0) + " of " + count(planned, "block") + " are complete, and no verdict is formed before all are"
}

func sayUnequalVoids(c claim) string {
	of, ofAll := c.voids(c.h.Of)
	to, toAll := c.voids(c.h.To)
	if len(c.h.Of) == 0 && len(c.h.To) == 0 || ofAll+toAll == 0 {
		return "void trials are unequally spread over the compared cells, so what is left may be a selection"
	}
	return Percent(of, ofAll) + " trials are void with " + c.side(c.h.Of) + ", " +
		Percent(to, toAll) + " with " + c.side(c.h.To) + ", so what is left may be a selection"
}

func sayVacuous(c claim) string {
	for _, side := range []assay.Cell{c.h.Of, c.h.To} {
		if len(side) > 0 && c.okTrials(side) == 0 {
			return "no trial with " + c.side(side) + c.at() + " ended ok, so there is nothing to compare"
		}
	}
	if c.okTrials(nil) == 0 {
		return "no trial that the claim is about ended ok"
	}
	if c.h.Kind == assay.Identical {
		return c.h.Measure.String() + " is not there for every cell, so there is nothing to hold side by side"
	}
	for _, side := range []assay.Cell{nil, c.h.Of, c.h.To} {
		switch {
		case c.measured(side) > 0 || side != nil && len(side) == 0:
		case side == nil:
			return "no trial that the claim is about has a number for " + c.h.Measure.String()
		default:
			return "no trial with " + c.side(side) + c.at() + " has a number for " + c.h.Measure.String()
		}
	}
	return c.h.Measure.String() + " is constant and equal wherever the claim looks, so it could not have come out otherwise"
}

func sayAxisGap(c claim) string {
	return c.subject() + ": neighbouring levels of " + c.h.Along + ", and only some values between them are " + c.wanted()
}

func sayAxisEdge(c claim) string {
	levels := c.axis()
	if len(levels) == 0 {
		return "the answer lies beyond the levels that were measured"
	}
	return "the answer lies at or beyond an end of the levels measured, " + levels[0] + " to " + levels[len(levels)-1] + " of " + c.h.Along
}

func sayCensored(c claim) string {
	return "trials that were stopped could have ended anywhere, and whether " + c.h.Measure.String() +
		c.at() + " is " + c.wanted() + " depends on where"
}

func sayNotTestable(c claim) string {
	if e := c.f.Experiment; e != nil {
		for _, a := range e.Absent {
			if a.Cell.Matches(c.h.At) && (a.Cell.Matches(c.h.Of) || a.Cell.Matches(c.h.To)) && a.Why != "" {
				return "this machine has no " + c.f.cellText(a.Cell) + " (" + a.Why + ")"
			}
		}
	}
	if c.h.Needs != nil {
		return "the claim needs " + c.h.Needs.String() + ", which did not hold here"
	}
	return "this machine cannot execute what the claim needs"
}

func sayNoEffect(c claim) string {
	return "a level was set but did not take effect, so the cells differ in name only"
}

func sayRegimes(c claim) string {
	return c.h.Measure.String() + c.at() + " falls into two groups of trials that lie apart; a median of both would describe neither"
}

func sayConfounded(c claim) string {
	if c.h.Unattributed {
		return "the compared levels are bundles that move more than one term, so the difference belongs to none of them"
	}
	return "something else moved together with the compared levels, so the difference cannot be attributed to them"
}

func sayCrossSession(c claim) string {
	return "the two sides were measured in different sessions (another host, boot or set-up), and a ratio across them compares those too"
}

func sayInstrument(c claim) string {
	return "the experiment's check of its own instrument did not come out, so no figure of it can be trusted"
}

func sayCeiling(c claim) string {
	text := c.subject()
	if c.v.Estimate == nil {
		text = c.h.Measure.String() + " exceeds its limit"
	}
	return text + ", which is more than the stated or measured limit allows: the figure is wrong, not good"
}

func (c claim) sayGuard(name string) string {
	why := "its condition did not hold"
	if text, ok := guards[name]; ok {
		why = text
	}
	if bound := c.f.guardBound(name); bound != "" {
		why += " (asked: " + bound + ")"
	}
	text := "the guard " + name + " voids the figures, because " + why
	if void, all := c.voids(nil); void > 0 && name != "steady" { // steady voids claims, and no trial
		text += "; " + Percent(void, all) + " trials are void"
	}
	return text
}

// trials calls yield for each trial that the claim is about, warm-ups apart, on one side of it.
func (c claim) trials(side assay.Cell, yield func(t *assay.Trial)) {
	for i := range c.f.Trials {
		t := &c.f.Trials[i]
		if !t.Warmup && t.Cell.Matches(c.h.At) && t.Cell.Matches(side) {
			yield(t)
		}
	}
}

func (c claim) voids(side assay.Cell) (void, all int) {
	c.trials(side, func(t *assay.Trial) {
		all++
		if !t.Valid {
			void++
		}
	})
	return void, all
}

func (c claim) okTrials(side assay.Cell) (n int) {
	c.trials(side, func(t *assay.Trial) {
		if t.Counts() && t.Outcome == assay.OK {
			n++
		}
	})
	return n
}

// measured counts the trials of one side, or of the whole claim, that have its measure as a number.
func (c claim) measured(side assay.Cell) (n int) {
	for _, m := range c.f.Measures {
		if m.Ref != c.h.Measure {
			continue
		}
		for i := range c.f.Trials {
			t := &c.f.Trials[i]
			if t.Counts() && t.Outcome == assay.OK && t.Cell.Matches(c.h.At) && t.Cell.Matches(side) && !math.IsNaN(m.Values[i]) {
				n++
			}
		}
	}
	return n
}

func (c claim) compared() (n int) {
	c.trials(nil, func(t *assay.Trial) {
		if t.Counts() {
			n++
		}
	})
	return n
}

func (c claim) axis() []string {
	for _, factor := range c.f.factors() {
		if factor.Name == c.h.Along {
			return factor.Order()
		}
	}
	return nil
}
