package grade

import (
	"maps"
	"slices"
	"strings"

	"github.com/assaybench/assay"
)

const guardPrefix = "guard:"

// spoil finds the trials that something voids which no line of theirs says: an executable that is
// another than in the cell's first trial, an output that is not the oracle's, operations that the target
// had seen before.
func (j *judge) spoil() {
	first := map[int32]string{}
	for i := range j.Trials {
		t, cell := &j.Trials[i], j.schedule.cell[i]
		if t.ExecutableSHA256 == "" || t.Outcome == assay.Refused {
			continue
		}
		switch was, ok := first[cell]; {
		case !ok:
			first[cell] = t.ExecutableSHA256
		case was != t.ExecutableSHA256 && t.Valid:
			j.spoilt[i] = assay.GuardVoid("changed")
		}
	}
	for i := range j.Experiment.Measures {
		if m := &j.Experiment.Measures[i]; m.Oracle != nil {
			j.consult(m)
		}
	}
	j.repeated()
}

// consult voids the ok trials whose output is not the right one: whoever reads less is faster. The
// right one is a text, or that of the first trial that counts, for each level of a factor.
func (j *judge) consult(m *assay.Measure) {
	right := map[string]string{}
	for i := range j.Trials {
		t := &j.Trials[i]
		if t.Warmup || t.Outcome != assay.OK || !j.counts(i) {
			continue
		}
		v, ok := t.Measures[m.Name]
		level := t.Cell[m.Oracle.Per]
		want, known := right[level]
		switch {
		case !m.Oracle.First:
			want = m.Oracle.Want
		case !known && ok:
			want = v.String()
			right[level] = want
		}
		if !ok || v.String() != want {
			j.spoilt[i] = assay.GuardVoid("oracle")
		}
	}
}

// voidNames are what voided the trial, as reasons; nil for one that counts.
func (j *judge) voidNames(trial int) []string {
	t := &j.Trials[trial]
	names := slices.Clone(t.VoidBy)
	if s := j.spoilt[trial]; s != "" {
		names = append(names, s)
	}
	if !t.Valid && len(names) == 0 {
		names = append(names, assay.GuardVoid("unnamed"))
	}
	for i, name := range names {
		if !strings.HasPrefix(name, guardPrefix) {
			names[i] = guardPrefix + name
		}
	}
	return names
}

// machineGuards are the default guards on the machine: their marks say that it was not at rest, not
// that the figure is no figure, so that two sides under one mark still compare.
var machineGuards = map[string]bool{"steal": true, "throttled": true, "swap": true, "lag": true}

// machineMeasures are the measures by which guards of the experiment's own watch the machine.
var machineMeasures = map[string]bool{"load1": true, "cpu_idle": true, "cpu_steal": true, "temp": true,
	"mem_free": true, "disk_free": true, "calibration": true, "pressure": true, "lag": true}

// machineOnly reports whether guards on the machine, and they alone, voided the trial.
func (j *judge) machineOnly(trial int) bool {
	t := &j.Trials[trial]
	if t.Valid || t.Outcome == assay.Refused || len(t.VoidBy) == 0 || j.spoilt[trial] != "" {
		return false
	}
	for _, name := range t.VoidBy {
		name = strings.TrimPrefix(name, guardPrefix)
		if !machineGuards[name] && !j.watchesMachine(name) {
			return false
		}
	}
	return true
}

func (j *judge) watchesMachine(guard string) bool {
	for _, g := range j.Experiment.Guards {
		if g.Name == guard {
			return machineMeasures[g.Condition.Measure.Name]
		}
	}
	return false
}

// sameMarks reports whether the same guards marked both trials.
func (j *judge) sameMarks(a, b entry) bool {
	if a.trial == 0 || b.trial == 0 {
		return false
	}
	x, y := j.Trials[a.trial-1].VoidBy, j.Trials[b.trial-1].VoidBy
	return slices.Equal(slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y)))
}

// A tally counts, for the cells of one side, the trials and what became of them.
type tally struct {
	trials, void, refused, ok int
	by                        map[string]int // void trials by what voided them
}

// tally counts the trials of a field's cell in the judging blocks, torn ones apart.
func (j *judge) tally(f *field, cell int) tally {
	var c tally
	for s := range j.judging() {
		for _, i := range s.blocks {
			b := &j.schedule.blocks[i]
			if b.torn {
				continue
			}
			for _, member := range f.members[cell] {
				if n := b.trials[member]; n != 0 {
					j.tallyTrial(&c, int(n-1))
				}
			}
		}
	}
	return c
}

func (j *judge) tallyTrial(c *tally, trial int) {
	t := &j.Trials[trial]
	c.trials++
	switch {
	case t.Outcome == assay.Refused:
		c.refused++
	case !j.counts(trial):
		c.void++
		if c.by == nil {
			c.by = map[string]int{}
		}
		for _, name := range j.voidNames(trial) {
			c.by[name]++
		}
	case t.Outcome == assay.OK:
		c.ok++
	}
}

// chief is what voided the most trials; of equals, the first in the alphabet.
func chief(tallies ...tally) assay.Reason {
	sum := map[string]int{}
	for _, t := range tallies {
		for name, n := range t.by {
			sum[name] += n
		}
	}
	best := ""
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		if best == "" || sum[name] > sum[best] {
			best = name
		}
	}
	if best == assay.GuardVoid(string(assay.AboveCeiling)) {
		return assay.AboveCeiling // what voids each trial voids the median of them: one reason
	}
	return assay.Reason(best)
}
