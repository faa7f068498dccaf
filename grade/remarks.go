package grade

import (
	"fmt"
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

// remarks are what the records say that no hypothesis asked for: figures that cannot all be right by
// Little's law, a curve that flattens while nothing is busy, processors that
// command and targets share, operations that depend on one another.
func (j *judge) remarks() []string {
	var list []string
	for i := range j.plan.Cells[:j.plan.Main()] {
		if s := j.littleAt(i); s != "" {
			list = append(list, s)
		}
	}
	list = append(list, j.quanta()...)
	list = append(list, j.shared()...)
	list = append(list, j.serialisations()...)
	return append(list, j.dependent()...)
}

// quantum is the step of which counts are suspicious multiples: batches, pages and buffers come in
// powers of two.
const quantum = 1024

// quanta finds cells whose counts are exact multiples of a batch: such a count says when a batch
// filled, a queue stalled or a pacer gave its burst, and not how far the work had come.
func (j *judge) quanta() []string {
	var list []string
	for _, m := range j.Experiment.Measures {
		f, err := j.field(assay.MeasureRef{Name: m.Name})
		if err != nil || f.texts || f.MaxOf.Name != "" || f.Unit.Dim.Base == "B" || f.Unit.Dim.Base == "ns" {
			continue // sizes come in pages and times in ticks anyway
		}
		for cell := range f.cells {
			step := 0
			for _, n := range j.trialsOf(f, cell) {
				e := f.entries[n]
				if !e.exact() || e.low != math.Trunc(e.low) || e.low <= 0 || e.low >= 1<<53 {
					step = 1
					break
				}
				step = gcd(step, int(e.low))
			}
			if step >= quantum && step%quantum == 0 {
				list = append(list, fmt.Sprintf("%s: every %s is a multiple of %d: it counts whole batches", f.cells[cell], m.Name, step))
			}
		}
	}
	return list
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// recordedMedian is the median over a cell's counted ok trials of what stands under a key.
func (j *judge) recordedMedian(cell int, key string) float64 {
	var xs []float64
	for i := range j.schedule.blocks {
		n := int(j.schedule.blocks[i].trials[cell]) - 1
		if n < 0 || !j.counts(n) || j.Trials[n].Outcome != assay.OK {
			continue
		}
		if v, ok := j.Trials[n].Measures[key]; ok && !v.IsText && !math.IsInf(v.Number, 0) {
			xs = append(xs, v.Number)
		}
	}
	return stat.Median(xs)
}

func (j *judge) littleAt(cell int) string {
	if j.loadOf(cell) == nil {
		return ""
	}
	rate := j.recordedMedian(cell, "rate_per_s")
	mean := j.recordedMedian(cell, "mean(response_time_ns)") / 1e9
	inFlight := j.recordedMedian(cell, "in_flight")
	if math.IsNaN(rate) || math.IsNaN(mean) || !(inFlight > 0) {
		return ""
	}
	off, agree := Little(rate, mean, inFlight)
	if agree {
		return ""
	}
	return fmt.Sprintf("%s: %s/s times a mean response of %s s is %s in flight, and %s were recorded (%+.0f%%): by Little's law one of the three is not what it says",
		j.plan.Cells[cell].Cell, figure(rate, ""), figure(mean, ""), figure(rate*mean, ""), figure(inFlight, ""), 100*off)
}

// serialisations looks along every axis of offered load for a rate that stops growing while no
// resource is busy.
func (j *judge) serialisations() []string {
	var list []string
	for i := range j.Experiment.Factors {
		factor := &j.Experiment.Factors[i]
		rows := map[string][]int{}
		var order []string
		for n, c := range j.plan.Cells[:j.plan.Main()] {
			if l := j.loadOf(n); l == nil || l.Rate == 0 {
				continue
			}
			key := c.Cell.Without(factor.Name).Key()
			if rows[key] == nil {
				order = append(order, key)
			}
			rows[key] = append(rows[key], n)
		}
		for _, key := range order {
			if s := j.serialisedRow(factor, rows[key]); s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// serialisedRow judges one row of cells that differ in the rate offered.
func (j *judge) serialisedRow(factor *assay.Factor, cells []int) string {
	if len(cells) < 3 {
		return ""
	}
	slices.SortStableFunc(cells, func(a, b int) int {
		return int(math.Copysign(1, j.loadOf(a).Rate-j.loadOf(b).Rate))
	})
	last, before := cells[len(cells)-1], cells[len(cells)-2]
	offered := j.loadOf(last).Rate / j.loadOf(before).Rate
	top, below := j.recordedMedian(last, "rate_per_s"), j.recordedMedian(before, "rate_per_s")
	busiest := 1 - j.recordedMedian(last, "cpu_idle_ratio")
	alone := j.recordedMedian(cells[0], "p50(service_time_ns)") / 1e9
	const flat, grown = 1.05, 1.15
	if math.IsNaN(busiest) || math.IsNaN(alone) || !(offered > grown) || !(top < flat*below) {
		return ""
	}
	s, ok := Serialised(top, alone, busiest)
	if !ok {
		return ""
	}
	return fmt.Sprintf("along %s at %s: %s", factor.Name, j.plan.Cells[last].Cell.Without(factor.Name), s.Text)
}
