package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/machine"
	"github.com/assaybench/assay/telemetry"
)

// gatePoll is how often a waiting gate is read.
const gatePoll = 250 * time.Millisecond

// errGate says that a gate did not hold within its patience.
var errGate = errors.New("did not hold")

// A turn is when a gate is read.
type turn int

const (
	early    turn = iota // before anything is done for the trial
	prepared             // what is in the page cache: digests read files, and hooks evict them
	standing             // what probes find: the way that they take may lead through targets
)

// turnOf is when a gate on a measure is read.
func turnOf(ref assay.MeasureRef) turn {
	switch ref.Name {
	case residentMeasure:
		return prepared
	case "rtt", "bandwidth":
		return standing
	}
	return early
}

// gates waits for every gate of a turn and records what was read. An error says that the trial may
// not begin.
func (t *trial) gates(ctx context.Context, now turn) error {
	if len(t.run.Experiment.Gates) == 0 {
		return nil
	}
	gauge, err := t.openGauge()
	if err != nil {
		return err
	}
	defer closeProbers(gauge.Probers)
	lately := map[assay.MeasureRef]assay.Value{}
	for _, g := range t.run.Experiment.Gates {
		if !t.record.Cell.Matches(g.At) || turnOf(g.Condition.Measure) != now {
			continue
		}
		reading, err := t.gate(ctx, gauge, g, lately)
		t.record.Gates = append(t.record.Gates, reading)
		if err != nil {
			return fmt.Errorf("gate %s: %w%s", reading.Condition, err, claimed(g.At, err))
		}
	}
	return nil
}

// claimed says of a gate that belongs to levels what to do when it does not hold: a nominal level is
// a claim, and its gate is what was found.
func claimed(at assay.Cell, err error) string {
	if len(at) == 0 || !errors.Is(err, errGate) {
		return ""
	}
	return fmt.Sprintf("; %s claims it: make it so, or name the level after what is there", at)
}

// recordProbe keeps what a gate read of a probe that is not performed during trials: it is all that is
// known of the regime which a trial was executed in.
func (t *trial) recordProbe(ref assay.MeasureRef, v assay.Value) {
	if ref.Stat != "" || ref.Name != "rtt" && ref.Name != "bandwidth" {
		return
	}
	for _, p := range t.setting.Workload.Probes {
		if p.Name == ref.Object && (p.Rate == 0 || ref.Name == "bandwidth") {
			t.measure(ref, v.Number)
		}
	}
}

// openGauge is a gauge with the probes of the cell.
func (t *trial) openGauge() (*telemetry.Gauge, error) {
	g := &telemetry.Gauge{Probers: map[string]telemetry.Prober{}, Probes: t.setting.Workload.Probes, Dir: t.dir,
		Calibrate: machine.Calibrate, Reference: t.run.calibration}
	for _, p := range t.setting.Workload.Probes {
		prober, err := telemetry.NewProber(p)
		if err != nil {
			closeProbers(g.Probers)
			return nil, fmt.Errorf("probe %s: %w", p.Name, err)
		}
		g.Probers[p.Name] = prober
	}
	return g, nil
}

func closeProbers(probers map[string]telemetry.Prober) {
	for _, p := range probers {
		p.Close()
	}
}

// shown is a value for people, in its unit.
func shown(v assay.Value, u assay.Unit) string {
	switch {
	case v.IsText:
		return v.Text
	case u.Dim.Base == "ns" && !u.Dim.PerSecond && !math.IsInf(v.Number, 0):
		return time.Duration(v.Number * u.Scale).Round(time.Microsecond).String()
	}
	return strings.TrimSpace(strconv.FormatFloat(v.Number, 'g', 4, 64) + " " + u.Name)
}

// filled is a gate's condition with its object filled in.
func (t *trial) filled(g assay.Gate) (assay.Condition, error) {
	c := g.Condition
	if g.Object.IsZero() {
		return c, nil
	}
	object, err := g.Object.Expand(t.environment())
	if err == nil {
		c.Measure.Object = object
	}
	return c, err
}

// gate reads the gate's measure until the condition holds or its patience is at an end. lately holds
// what the gates before it ended with, so that a lower and an upper bound judge one reading.
func (t *trial) gate(ctx context.Context, gauge *telemetry.Gauge, g assay.Gate, lately map[assay.MeasureRef]assay.Value) (assay.GateReading, error) {
	c, err := t.filled(g)
	reading := assay.GateReading{Condition: c.String()}
	if err != nil {
		return reading, err
	}
	builtin, _ := assay.BuiltinMeasure(c.Measure.Name)
	start := time.Now()
	for waiting := false; ; waiting = true {
		v, known := lately[c.Measure]
		if !known || waiting {
			v, err = gauge.Read(ctx, c.Measure)
		}
		reading.WaitedNS = int64(time.Since(start))
		if err != nil {
			return reading, err
		}
		reading.Reading, lately[c.Measure] = v, v
		if c.HoldsFor(v, builtin.Unit, 0) {
			t.recordProbe(c.Measure, v)
			return reading, nil
		}
		left := c.Patience - time.Since(start)
		if left <= 0 {
			return reading, fmt.Errorf("%w within %s: was %s", errGate, assay.FormatDuration(c.Patience), shown(v, builtin.Unit))
		}
		clear(lately) // by the time that this one holds, it is of the past
		if !waiting {
			t.run.tell(Progress{Phase: Waiting, Step: t.step, Cell: t.record.Cell, Gate: reading.Condition})
		}
		select {
		case <-ctx.Done():
			return reading, ctx.Err()
		case <-time.After(min(gatePoll, left)):
		}
	}
}
