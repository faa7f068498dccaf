package engine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/machine"
)

// Bounds of the guard on measured ceilings. A ceiling is what one way of asking got: a figure must be
// well beyond it to be impossible.
const (
	// beyondDisk is how often the most that a disk gave, many large reads at once, a figure of cold
	// files must be.
	beyondDisk = 1.5
	// beyondMemory is how often memory's bandwidth a figure of inputs that fit into no cache must be:
	// reading alone is quicker than the triad by which memory is measured, and moves what is counted once.
	beyondMemory = 3
	// cachesHold is more than the caches of most processors.
	cachesHold = 256 << 20
)

// measuredCeilings voids a trial whose figure in bytes a second is beyond what this machine was
// measured to be able to (assay machine): of files that the file declares cold, what their disk gave;
// of inputs larger than caches, what memory gave.
func (t *trial) measuredCeilings() {
	var limit *assay.Measured
	times := 0.0
	for _, m := range t.run.Experiment.Measures {
		if m.Unit.Dim != (assay.Dimension{Base: "B", PerSecond: true}) || m.Better == assay.Lower || m.Source.Delta != "" {
			continue
		}
		v, ok := t.record.Measures[m.Name]
		if !ok || v.IsText || slices.Contains(t.record.VoidBy, assay.GuardVoid("ceiling")) {
			continue
		}
		if limit == nil {
			if limit, times = t.physical(); limit == nil {
				return
			}
		}
		unit, err := assay.ParseUnit(limit.Unit)
		if most := limit.High * unit.Scale; err == nil && most > 0 && v.Number*m.Unit.Scale > times*most {
			t.void("ceiling", fmt.Sprintf("%s was %s, %.3g times what this machine gave at most when it was measured (%s of %s%s): a cache, work that was left out, or a clock that did not see it all; lever: what the figure leaves out, or measure again (assay machine)",
				m.Name, shown(v, m.Unit), v.Number*m.Unit.Scale/most, limit.Name, shown(assay.Num(most/m.Unit.Scale), m.Unit), in(limit.Where)))
		}
	}
}

func in(where string) string {
	if where == "" {
		return ""
	}
	return " in " + where
}

// physical is the measured ceiling that binds figures in bytes a second here, and how often it must be
// exceeded; nil where none was measured on this machine as it is.
func (t *trial) physical() (*assay.Measured, float64) {
	own := machine.FingerprintDigest(t.run.Session.Fingerprint)
	var best *assay.Measured
	take := func(match func(assay.Measured) bool) {
		for _, c := range t.run.Folder.Contents().Host.Ceilings {
			if c.Fingerprint == own && match(c) && (best == nil || c.High > best.High) {
				best = &c
			}
		}
	}
	if files := t.declaredCold(); len(files) > 0 {
		take(func(c assay.Measured) bool {
			return strings.HasPrefix(c.Name, "bandwidth(disk_read") && allOn(c.Where, files)
		})
		return best, beyondDisk
	}
	if total(t.run.Experiment.Inputs) >= cachesHold {
		take(func(c assay.Measured) bool { return c.Name == "bandwidth(memory)" })
	}
	return best, beyondMemory
}

// declaredCold are files that the experiment declares not to be in the page cache: those that a gate
// on residency names, and those that a hook evicts.
func (t *trial) declaredCold() []string {
	var files []string
	for _, g := range t.cold() {
		if c, err := t.filled(g); err == nil {
			files = append(files, c.Measure.Object)
		}
	}
	for _, hook := range t.setting.Workload.Hooks.Prepare {
		files = append(files, hook.Evict...)
	}
	return files
}

// allOn reports whether all files are on the disk of a folder; patterns are none.
func allOn(where string, files []string) bool {
	disk, ok := device(where)
	return ok && !slices.ContainsFunc(files, func(f string) bool {
		d, ok := device(f)
		return !ok || d != disk
	})
}

func device(path string) (uint64, bool) {
	var st syscall.Stat_t
	if path == "" || syscall.Stat(path, &st) != nil {
		return 0, false
	}
	return uint64(st.Dev), true
}

// total is how much some files hold together; folders count as nothing.
func total(files []string) (n int64) {
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() {
			n += st.Size()
		}
	}
	return n
}
