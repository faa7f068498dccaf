package grade

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
)

// crowded is the share of a machine's processors from which on a command and the targets that it works
// on take them from one another.
const crowded = 0.75

// shared finds the cell in which command and targets together used most of this machine. What such a
// cell shows is their competition: another number of processors, or a target elsewhere, has another curve.
func (j *judge) shared() []string {
	cpus := j.processors()
	if cpus == 0 {
		return nil
	}
	most, text := 0.0, ""
	for i, c := range j.plan.Cells[:j.plan.Main()] {
		used, parts := j.usedBy(i)
		if used > most {
			most, text = used, fmt.Sprintf("%s: %s of this machine's %d processors: they share them, so that the figures are of this topology; a target elsewhere, or more processors, would give others",
				c.Cell, strings.Join(parts, ", "), cpus)
		}
	}
	if most < crowded*float64(cpus) {
		return nil
	}
	return []string{text}
}

// usedBy are the processors that targets and command of a cell used, in words with their sum; nothing
// for a cell without both.
func (j *judge) usedBy(cell int) (sum float64, parts []string) {
	k := slices.IndexFunc(j.Experiment.Settings, func(s assay.Setting) bool { return s.Cell.Key() == j.plan.Cells[cell].Cell.Key() })
	if k < 0 || j.Experiment.Settings[k].Workload.Command == nil {
		return 0, nil
	}
	add := func(name string, x float64) {
		if !math.IsNaN(x) {
			sum += x
			parts = append(parts, fmt.Sprintf("%s used %.2f", name, x))
		}
	}
	for _, t := range j.Experiment.Settings[k].Workload.Targets {
		ref := assay.MeasureRef{Name: "cpu", Object: t.Name}
		add("target "+t.Name, j.recordedMedian(cell, assay.MeasureKey(ref)))
	}
	if len(parts) == 0 {
		return 0, nil
	}
	busy := j.recordedMedian(cell, "user_ns") + j.recordedMedian(cell, "system_ns")
	add("the command", busy/j.recordedMedian(cell, "wall_ns"))
	return sum, parts
}

// processors is how many the hosts of all sessions have; 0 where they differ or nobody said.
func (j *judge) processors() int {
	cpus := 0
	for _, s := range j.Host.Sessions {
		n, err := strconv.Atoi(s.Fingerprint["cpu_threads"])
		if err != nil || cpus != 0 && n != cpus {
			return 0
		}
		cpus = n
	}
	return cpus
}
