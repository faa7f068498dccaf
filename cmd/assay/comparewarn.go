package main

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
	"github.com/assaybench/assay/report"
)

// Bounds beyond which compare warns.
const (
	shortWall    = 5 * time.Millisecond // below it, starting the process is a good part of the time
	slowFirst    = 1.5                  // times the median
	wideSpread   = 0.2                  // of the median, the width of the middle half
	muchSteal    = 0.02                 // of all CPU time
	foreignCPUs  = 0.25                 // busy on average with something else
	leastWatched = time.Second          // of wall time, for shares that the kernel counts in ticks
)

// warnings are sentences on what weakens the comparison and what to do about it, the gravest first.
func (r *comparisonRun) warnings(f *report.Findings) []string {
	var list []string
	add := func(text string) {
		if text != "" {
			list = append(list, text)
		}
	}
	for i, a := range r.arms {
		add(r.failures(i, f))
		if w, ok := wallOf(a, f); ok {
			add(r.short(i, w))
			add(r.slowStart(i, f, w))
			add(r.spread(i, w))
		}
	}
	add(r.outputs(f))
	add(voids(f))
	add(busyMachine(f))
	add(r.underpowered())
	return list
}

// name is what people call the i-th arm.
func (r *comparisonRun) name(i int) string {
	if i < 26 {
		return strings.ToUpper(letter(i))
	}
	return r.arms[i].text
}

// failures shows what a command that failed said.
func (r *comparisonRun) failures(i int, f *report.Findings) string {
	failed, trials, last := 0, 0, 0
	for n := range f.Trials {
		t := &f.Trials[n]
		if !t.Counts() || t.Cell.Key() != r.arms[i].cell.Key() {
			continue
		}
		trials++
		if t.Outcome != assay.OK {
			failed, last = failed+1, n
		}
	}
	if failed == 0 {
		return ""
	}
	t := &f.Trials[last]
	text := fmt.Sprintf("%s %s in %d of %d trials", r.name(i), howEnded(t), failed, trials)
	if said := lastLine(r.stderrOf(t.Trial)); said != "" {
		text += "; it said: " + said
	}
	text += "; a trial that fails counts as slower than any"
	if t.Outcome == assay.Failed {
		text += "; if this exit status is meant, use --shell and end the command with || true"
	}
	return text
}

func howEnded(t *assay.Trial) string {
	switch {
	case t.Outcome == assay.Failed:
		return fmt.Sprintf("failed with exit status %d", t.Exit)
	case t.Signal != "":
		return fmt.Sprintf("%s by %s", t.Outcome, t.Signal)
	}
	return string(t.Outcome)
}

func lastLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "" // it said nothing, or nothing that was kept
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return clip(lines[len(lines)-1], 120)
}

// short says that a trial is too short to be about the program.
func (r *comparisonRun) short(i int, w grade.CellFigures) string {
	if !(w.Median < float64(shortWall)) {
		return ""
	}
	return fmt.Sprintf("%s takes %s, much of which is starting a process; let one execution do more work", r.name(i), nsText(w.Median))
}

// slowStart says that the warm-up trial was far from what is judged.
func (r *comparisonRun) slowStart(i int, f *report.Findings, w grade.CellFigures) string {
	first, most := 0.0, 0.0
	for n := range f.Trials {
		t := &f.Trials[n]
		switch {
		case t.Cell.Key() != r.arms[i].cell.Key() || t.Outcome != assay.OK:
		case t.Warmup && first == 0:
			first = measured(t, compareWall)
		case t.Counts():
			most = max(most, measured(t, compareWall))
		}
	}
	if first <= most || first < slowFirst*w.Median {
		return ""
	}
	return fmt.Sprintf("the first trial of %s took %s, the later ones %s: it was the warm-up and is not counted, so this is about warm caches; to compare cold ones, use --prepare 'evict(FILES)'",
		r.name(i), nsText(first), nsText(w.Median))
}

// spread says that the trials of a command differ among themselves.
func (r *comparisonRun) spread(i int, w grade.CellFigures) string {
	if !(w.Q3-w.Q1 > wideSpread*w.Median) {
		return ""
	}
	return fmt.Sprintf("the middle half of %s's times spans %s to %s: quieten the machine, or use more --blocks or a longer --for for a narrower interval",
		r.name(i), nsText(w.Q1), nsText(w.Q3))
}

// outputs says that commands which always print the same print other things than each other.
func (r *comparisonRun) outputs(f *report.Findings) string {
	digests := make([]string, len(r.arms)) // of the arm's output; "" unknown, "-" not always the same
	for n := range f.Trials {
		t := &f.Trials[n]
		i := slices.IndexFunc(r.arms, func(a arm) bool { return a.cell.Key() == t.Cell.Key() })
		switch {
		case i < 0 || t.Outcome != assay.OK || t.OutputSHA256 == "":
		case digests[i] == "":
			digests[i] = t.OutputSHA256
		case digests[i] != t.OutputSHA256:
			digests[i] = "-"
		}
	}
	var apart []string
	for _, p := range r.pairs {
		of, to := digests[p.of], digests[p.to]
		if of != "" && to != "" && of != "-" && to != "-" && of != to {
			apart = append(apart, r.name(p.of)+" and "+r.name(p.to))
		}
	}
	if len(apart) == 0 {
		return ""
	}
	return "the outputs of " + strings.Join(apart, ", of ") + " differ: see that they do the same work (--out DIR keeps what they print)"
}

// voids names what spoilt trials.
func voids(f *report.Findings) string {
	by := map[string]int{}
	spoilt := 0
	for n := range f.Trials {
		t := &f.Trials[n]
		if t.Warmup || t.Valid {
			continue
		}
		spoilt++
		for _, name := range t.VoidBy {
			by[strings.TrimPrefix(name, "guard:")]++
		}
	}
	if spoilt == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%d by %s", by[name], name))
	}
	return fmt.Sprintf("%d of %d trials were void (%s); their blocks were executed again", spoilt, len(f.Trials), strings.Join(parts, ", "))
}

// busyMachine says that somebody else used the machine while the trials ran. The kernel counts such
// time in ticks of 10 ms, so that only a sum over some time says anything.
func busyMachine(f *report.Findings) string {
	var wall, stolen, busy, own float64
	for n := range f.Trials {
		t := &f.Trials[n]
		w := measured(t, compareWall)
		wall += w
		stolen += w * measured(t, "cpu_steal")
		busy += w * (1 - measured(t, "cpu_idle")) * float64(runtime.NumCPU())
		own += measured(t, "user") + measured(t, "system")
	}
	if wall < float64(leastWatched) {
		return ""
	}
	if share := stolen / wall; share > muchSteal {
		return fmt.Sprintf("the hypervisor took %s of the CPU time: a quieter or dedicated host would narrow the interval", report.Confidence(share))
	}
	if cpus := (busy - own) / wall; cpus > foreignCPUs {
		return fmt.Sprintf("other work kept %.1f of %d CPUs busy during the trials: stop it, or use more --blocks", cpus, runtime.NumCPU())
	}
	return ""
}

// underpowered says that no interval can come of so few blocks.
func (r *comparisonRun) underpowered() string {
	if r.blocks >= r.fewest() {
		return ""
	}
	return fmt.Sprintf("%d blocks cannot decide; an interval at %s confidence takes %d: --blocks %d or more",
		r.blocks, report.Confidence(r.confidence()), r.fewest(), r.least())
}

func nsText(ns float64) string {
	return report.One(ns, assay.Unit{Name: "ns", Dim: assay.Dimension{Base: "ns"}, Scale: 1}, false)
}
