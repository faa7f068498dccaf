package grade

import (
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
)

// repeatSpeedup is how much faster than the first sending of the same operations a later one must
// have been for the target's memory of them to be the reason.
const repeatSpeedup = 1.4

// repeated voids the trials that sent the very operations of an earlier one and were answered much
// faster. A load that gives every operation, or every trial, content of its own means it to be new to
// the target; sent once more, it measures a cache, unless a level or what is held says warm.
func (j *judge) repeated() {
	first := map[string]float64{} // median service time by what was sent
	key := assay.MeasureKey(assay.MeasureRef{Stat: "p50", Name: "service_time"})
	for i := range j.Trials {
		t := &j.Trials[i]
		took, ok := t.Measures[key]
		if !ok || took.IsText || !(took.Number > 0) || t.Outcome != assay.OK || j.declaredWarm(t) {
			continue
		}
		content := j.content(i)
		if content == "" {
			continue
		}
		switch before, ok := first[content]; {
		case !ok:
			first[content] = took.Number
		case before > repeatSpeedup*took.Number && t.Valid && !t.Warmup && j.spoilt[i] == "":
			j.spoilt[i] = assay.GuardVoid("warm")
		}
	}
}

// declaredWarm reports whether the cell, or what is held, says that the target knows the operations.
func (j *judge) declaredWarm(t *assay.Trial) bool {
	warm := func(text string) bool { return strings.Contains(strings.ToLower(text), "warm") }
	for _, level := range t.Cell {
		if warm(level) {
			return true
		}
	}
	return slices.ContainsFunc(j.Experiment.Fixed, func(n assay.Named) bool { return warm(n.Text) })
}

// content is what identifies the operations of a trial and the life of the target that they were
// sent to; empty where it is one content for all operations and trials, or not known.
func (j *judge) content(trial int) string {
	t := &j.Trials[trial]
	parts := contents(j.loadOf(int(j.schedule.cell[trial])))
	if len(parts) == 0 {
		return ""
	}
	values := map[string]string{"block": strconv.Itoa(t.Block), "trial": strconv.Itoa(t.Trial),
		"seed": strconv.FormatUint((j.Folder.Registration.Seed+uint64(t.Block))%(1<<53), 10)}
	varies := false
	text := []string{t.Session, j.lives(t)}
	for _, p := range parts {
		varies = varies || len(p.Names()) > 0
		text = append(text, p.Fill(values).String())
	}
	if !varies {
		return ""
	}
	return strings.Join(text, "\x00")
}

// contents are the templates that make one operation of a load another than the next; nil where they
// are not known.
func contents(l *assay.Load) []assay.Template {
	switch {
	case l == nil:
	case l.HTTP != nil:
		parts := []assay.Template{l.HTTP.URL, l.HTTP.Body.Text}
		for _, h := range l.HTTP.Headers {
			parts = append(parts, h.Value)
		}
		return parts
	case l.S3 != nil:
		return []assay.Template{l.S3.Keys.Template, l.S3.Prefix, l.S3.Body.Text}
	}
	return nil
}

// lives names the lives of the targets that a trial's load went to, as far as the plan tells them: a
// target that is started anew remembers nothing.
func (j *judge) lives(t *assay.Trial) string {
	var lives []string
	for i := range j.Experiment.Settings {
		s := &j.Experiment.Settings[i]
		if s.Cell.Key() != t.Cell.Key() {
			continue
		}
		for _, a := range s.Workload.Targets {
			switch {
			case a.External != nil:
			case a.Fresh == "trial":
				lives = append(lives, strconv.Itoa(t.Trial))
			case a.Fresh == "block":
				lives = append(lives, strconv.Itoa(t.Block), t.Cell.Key())
			default:
				lives = append(lives, t.Cell.Key())
			}
		}
	}
	return strings.Join(lives, " ")
}
