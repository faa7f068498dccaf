package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
)

// An excluded group is a set of trials that are shown and not counted as good, alike in what
// happened, where and why.
type excluded struct {
	kind   string // void, refused, or the outcome
	cell   string
	reason string
	detail string // what was read, in words; may be empty
	trials []int
	seen   []float64 // the readings behind detail
}

// kinds in the order in which they are printed.
var kinds = []string{
	"void", "refused", string(assay.Killed), string(assay.Capped), string(assay.Failed),
	string(assay.Crashed), string(assay.OOM), string(assay.Hung), string(assay.Interrupted),
}

// excluded names every trial that was void, refused, stopped or that went wrong. Trials alike in
// kind, cell and reason share a group, so that the list stays readable and still names each.
func (f *Findings) excluded() []excluded {
	index := map[[3]string]int{}
	var groups []excluded
	for i := range f.Trials {
		t := &f.Trials[i]
		for _, e := range f.exclude(t) {
			key := [3]string{e.kind, e.cell, e.reason}
			at, ok := index[key]
			if !ok {
				at = len(groups)
				index[key] = at
				groups = append(groups, e)
				groups[at].seen = nil
			}
			groups[at].trials = append(groups[at].trials, t.Trial)
			groups[at].seen = append(groups[at].seen, e.seen...)
		}
	}
	for i := range groups {
		f.describe(&groups[i])
	}
	slices.SortStableFunc(groups, func(a, b excluded) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.kind), slices.Index(kinds, b.kind)),
			cmp.Compare(a.trials[0], b.trials[0]))
	})
	return groups
}

// exclude is one group for each thing that happened to the trial; none if it was good.
func (f *Findings) exclude(t *assay.Trial) []excluded {
	var groups []excluded
	cell := f.cellText(t.Cell)
	if t.Warmup {
		cell += " (warm-up)"
	}
	add := func(kind, reason, detail string, seen ...float64) {
		groups = append(groups, excluded{kind: kind, cell: cell, reason: reason, detail: detail, seen: seen})
	}
	note := strings.Join(remarks(t), "; ")
	switch {
	case t.Outcome == assay.Refused:
		for _, reason := range t.RefusedBy {
			if g, ok := refusingGate(t, reason); ok {
				add("refused", "gate "+g.Condition, note, gateNumber(g)...)
				continue
			}
			add("refused", reason, note)
		}
		if len(t.RefusedBy) == 0 {
			add("refused", "reason not recorded", note)
		}
	case t.Outcome != assay.OK:
		add(string(t.Outcome), outcomeText(t), note)
	}
	if t.Valid || t.Outcome == assay.Refused || t.Outcome == assay.Interrupted {
		return groups
	}
	for _, by := range t.VoidBy {
		add("void", by, guardRemark(t, by), f.guardReading(t, by)...)
	}
	if len(t.VoidBy) == 0 {
		add("void", "reason not recorded", note)
	}
	return groups
}

// inputNote begins the notes that keep the digests of declared inputs; they explain nothing.
const inputNote = "input "

// remarks are the trial's notes that may explain it.
func remarks(t *assay.Trial) []string {
	var notes []string
	for _, note := range t.Notes {
		if !strings.HasPrefix(note, inputNote) {
			notes = append(notes, note)
		}
	}
	return notes
}

// guardRemark is what the engine noted of the guard: its notes are "NAME: what was seen".
func guardRemark(t *assay.Trial, by string) string {
	name, _ := guardName(by)
	for _, note := range t.Notes {
		if text, ok := strings.CutPrefix(note, name+": "); ok {
			return text
		}
	}
	return ""
}

// outcomeText says how a trial that did not end ok ended.
func outcomeText(t *assay.Trial) string {
	switch t.Outcome {
	case assay.Failed:
		return "exit status " + strconv.Itoa(t.Exit)
	case assay.Crashed:
		return "ended by signal " + t.Signal
	case assay.OOM:
		return "ended by the kernel for want of memory"
	case assay.Hung:
		return "made no progress for the declared time"
	case assay.Capped:
		return "was still going at the wall cap"
	case assay.Killed:
		return "stopped by a kill rule"
	case assay.Interrupted:
		return "interrupted before its end"
	}
	return string(t.Outcome)
}

// refusingGate is the gate that an entry of refused_by tells of: "gate CONDITION: what was read".
func refusingGate(t *assay.Trial, reason string) (assay.GateReading, bool) {
	for _, g := range t.Gates {
		if strings.HasPrefix(reason, "gate "+g.Condition+": ") {
			return g, true
		}
	}
	return assay.GateReading{}, false
}

func gateNumber(g assay.GateReading) []float64 {
	if g.Reading.IsText {
		return nil
	}
	return []float64{g.Reading.Number}
}

// guardReading is what the declared guard behind an entry of void_by read in the trial.
func (f *Findings) guardReading(t *assay.Trial, by string) []float64 {
	c, ok := f.guard(by)
	if !ok {
		return nil
	}
	for _, key := range []string{assay.MeasureKey(c.Measure), c.Measure.String()} {
		if v, ok := t.Measures[key]; ok && !v.IsText {
			return []float64{v.Number}
		}
	}
	return nil
}

// guard is the condition of the declared guard that an entry of void_by names.
func (f *Findings) guard(by string) (assay.Condition, bool) {
	name, ok := guardName(by)
	if !ok || f.Experiment == nil {
		return assay.Condition{}, false
	}
	for _, g := range f.Experiment.Guards {
		if g.Name == name {
			return g.Condition, true
		}
	}
	return assay.Condition{}, false
}

// guardBound is the declared guard's condition as written; empty for default guards.
func (f *Findings) guardBound(name string) string {
	if c, ok := f.guard(assay.GuardVoid(name)); ok {
		return c.String()
	}
	return ""
}

// describe writes a group's detail: for conditions what was asked and what was read.
func (f *Findings) describe(e *excluded) {
	var unit assay.Unit
	var ref assay.MeasureRef
	asked := ""
	switch e.kind {
	case "void":
		if len(e.trials) > 1 && e.detail != "" {
			e.detail = "trial " + strconv.Itoa(e.trials[0]) + ": " + e.detail
		}
		c, ok := f.guard(e.reason)
		if len(e.seen) > 0 {
			e.detail = "" // the readings of all of them say more
		}
		if name, isGuard := guardName(e.reason); isGuard && !ok {
			e.detail = joined(guards[name], e.detail)
			return
		}
		if !ok {
			return
		}
		ref, asked = c.Measure, c.String()
	case "refused":
		c, err := assay.ParseCondition(strings.TrimPrefix(e.reason, "gate "))
		if err != nil {
			return
		}
		ref = c.Measure
	default:
		return
	}
	unit = f.unit(ref)
	if len(e.seen) > 0 {
		e.detail = joined("was "+span(e.seen, unit, isShare(ref)), e.detail)
	}
	if asked != "" {
		e.detail = joined("asked: "+asked, e.detail)
	}
}

// unit is the unit in which a measure's numbers stand in a trial.
func (f *Findings) unit(r assay.MeasureRef) assay.Unit {
	var declared []assay.Measure
	if f.Experiment != nil {
		declared = f.Experiment.Measures
	}
	if m, err := measure.Resolve(declared, r); err == nil {
		return m.Unit
	}
	return assay.Unit{Scale: 1}
}

// span is the range of the numbers with their unit: "14%" or "12% to 31%".
func span(xs []float64, u assay.Unit, share bool) string {
	low, high := slices.Min(xs), slices.Max(xs)
	s := ScaleOf(u, share, low, high)
	decimals := max(significant(low*s.Factor, 3), significant(high*s.Factor, 3))
	if low == high {
		return s.Phrase(low, decimals)
	}
	return s.Format(low, decimals) + " to " + s.Phrase(high, decimals)
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// numbers prints trial numbers with runs drawn together: "3, 7-9, 12".
func numbers(ns []int) string {
	var b strings.Builder
	for i := 0; i < len(ns); {
		j := i
		for j+1 < len(ns) && ns[j+1] == ns[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(ns[i]))
		switch {
		case j == i+1:
			b.WriteString(", " + strconv.Itoa(ns[j]))
		case j > i+1:
			b.WriteString("-" + strconv.Itoa(ns[j]))
		}
		i = j + 1
	}
	return b.String()
}

// where names the trials of a group: "trial 31" or "trials 3, 7-9".
func (e excluded) where() string {
	if len(e.trials) == 1 {
		return "trial " + numbers(e.trials)
	}
	return "trials " + numbers(e.trials)
}
