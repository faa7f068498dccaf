package engine

import (
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
	"github.com/assaybench/assay/target"
	"github.com/assaybench/assay/telemetry"
)

// Two clocks must agree on a trial's wall time within a part of it and a constant that two readings
// one after the other can show.
const (
	clockShare = 0.001
	clockFloor = 500 * time.Microsecond
)

// shortTicks is how many ticks of its clock a trial's wall time must span to be a figure.
const shortTicks = 100

// clocks holds the wall time against a second clock and against the clock's own step.
func (t *trial) clocks(e target.Exit) {
	gap := (e.Wall - e.WallSecond).Abs()
	if gap > clockFloor+time.Duration(clockShare*float64(e.Wall)) {
		t.void("clock-step", fmt.Sprintf("CLOCK_MONOTONIC says %v, CLOCK_REALTIME says %v: the clock was set, or the machine slept", e.Wall, e.WallSecond))
	}
	tick := clockTick()
	if e.Outcome == assay.OK && e.Wall < shortTicks*tick {
		t.void("clock", fmt.Sprintf("wall %v is less than %d ticks of %v: too short for the clock; let a trial do more", e.Wall, shortTicks, tick))
	}
	t.record.Measures[assay.MeasureKey(assay.MeasureRef{Name: "clock_tick"})] = assay.Num(float64(tick))
	t.record.Measures[assay.MeasureKey(assay.MeasureRef{Name: "span"})] = assay.Num(float64(e.Wall))
}

// clockTick is the least step that time.Now shows, from a few tries.
func clockTick() time.Duration {
	least := time.Second
	for range 16 {
		a := time.Now()
		b := time.Now()
		for b.Sub(a) <= 0 {
			b = time.Now()
		}
		least = min(least, b.Sub(a))
	}
	return least
}

// machine records what happened on the machine during the trial and voids it where a default guard
// did not hold.
func (t *trial) machine(d telemetry.Delta) {
	for key, v := range d.Measures() {
		t.record.Measures[key] = v
	}
	for _, f := range d.Findings() {
		t.void(f.Guard, f.Text)
	}
}

// value is a measure of this trial with its unit.
func (t *trial) value(ref assay.MeasureRef) (assay.Value, assay.Unit, error) {
	if ref.Name == "agree" && ref.Object != "" {
		x, err := t.disagreement(ref.Object)
		if err == nil {
			t.measure(ref, x)
		}
		b, _ := assay.BuiltinMeasure(ref.Name)
		return assay.Num(x), b.Unit, err
	}
	m, err := measure.Resolve(t.run.Experiment.Measures, ref)
	if err != nil {
		return assay.Value{}, assay.Unit{}, err
	}
	v, err := m.Of(&t.record, t.files())
	return v, m.Unit, err
}

func (t *trial) files() fs.FS { return os.DirFS(t.dir) }
