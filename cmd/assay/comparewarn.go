package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/stat"
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
// The first ones, up to counted, say what was not counted as it should have been.
func (r *comparisonRun) warnings(f *report.Findings) (list []string, counted int) {
	add := func(text string) {
		if text != "" {
			list = append(list, text)
		}
	}
	walls := make([][]float64, len(r.arms))
	for i, a := range r.arms {
		walls[i] = slices.Sorted(slices.Values(wallsOf(a, f)))
		add(r.failures(i, f))
	}
	add(voids(f))
	add(r.underpowered())
	counted = len(list)
	add(r.outputs(f))
	add(r.short(walls))
	for i := range r.arms {
		add(r.slowStart(i, f, walls[i]))
	}
	add(r.spread(walls))
	add(busyMachine(f))
	return list, counted
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

// short says that trials are too short to be about the program.
func (r *comparisonRun) short(walls [][]float64) string {
	var short []string
	for i, w := range walls {
		if m := stat.Median(w); m < float64(shortWall) {
			short = append(short, r.name(i)+" ("+nsText(m)+")")
		}
	}
	if len(short) == 0 {
		return ""
	}
	return "starting a process is a good part of the time of " + enumerated(short) + ": let one execution do more work"
}

// slowStart says that the warm-up trial was far from what is judged.
func (r *comparisonRun) slowStart(i int, f *report.Findings, walls []float64) string {
	first, most, median := 0.0, 0.0, stat.Median(walls)
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
	if first <= most || !(first >= slowFirst*median) {
		return ""
	}
	return fmt.Sprintf("the first trial of %s took %s, the later ones %s: it was the warm-up and is not counted, so this is about warm caches; to compare cold ones, use --prepare 'evict(FILES)'",
		r.name(i), nsText(first), nsText(median))
}

// spread says that the trials of a command differ among themselves.
func (r *comparisonRun) spread(walls [][]float64) string {
	var wide []string
	for i, w := range walls {
		if len(w) < 4 {
			continue
		}
		low, high := w[(len(w)-1)/4], w[len(w)-1-(len(w)-1)/4]
		if high-low > wideSpread*stat.Median(w) && !math.IsInf(high, 1) {
			wide = append(wide, fmt.Sprintf("%s (%s to %s)", r.name(i), nsText(low), nsText(high)))
		}
	}
	if len(wide) == 0 {
		return ""
	}
	return "the middle half of the times spreads widely for " + enumerated(wide) +
		": quieten the machine, or use more --blocks or a longer --for"
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
	return "the outputs of " + enumerated(apart) + " differ: see that they do the same work (--out DIR keeps what they print)"
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
	return fmt.Sprintf("%d of %d trials were void (%s) and do not count; their blocks were executed again, twice at most", spoilt, len(f.Trials), enumerated(parts))
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

// enumerated is a list in words.
func enumerated(parts []string) string {
	n := len(parts)
	if n < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
}

// nsText is a number of nanoseconds for people.
func nsText(ns float64) string {
	return report.One(ns, assay.Unit{Name: "ns", Dim: assay.Dimension{Base: "ns"}, Scale: 1}, false)
}
