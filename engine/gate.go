package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/assaybench/assay"
)

// gatePoll is how often a waiting gate is read.
const gatePoll = 250 * time.Millisecond

// gates waits for every gate in turn and records what was read. It reports whether the trial may begin.
func (t *trial) gates(ctx context.Context) bool {
	for _, g := range t.run.Experiment.Gates {
		if !t.record.Cell.Matches(g.At) {
			continue
		}
		reading, err := t.gate(ctx, g)
		t.record.Gates = append(t.record.Gates, reading)
		if err != nil {
			t.refuse(ctx, fmt.Errorf("gate %s: %w", reading.Condition, err))
			return false
		}
	}
	return true
}

// gate reads the gate's measure until the condition holds or its patience is at an end.
func (t *trial) gate(ctx context.Context, g assay.Gate) (assay.GateReading, error) {
	c := g.Condition
	if !g.Object.IsZero() {
		object, err := g.Object.Expand(t.environment())
		if err != nil {
			return assay.GateReading{Condition: c.String()}, err
		}
		c.Measure.Object = object
	}
	reading := assay.GateReading{Condition: c.String()}
	builtin, _ := assay.BuiltinMeasure(c.Measure.Name)
	start := time.Now()
	for waiting := false; ; waiting = true {
		v, err := t.gauge.Read(ctx, c.Measure)
		reading.WaitedNS = int64(time.Since(start))
		if err != nil {
			return reading, err
		}
		reading.Reading = v
		if c.HoldsFor(v, builtin.Unit, 0) {
			return reading, nil
		}
		left := c.Patience - time.Since(start)
		if left <= 0 {
			return reading, fmt.Errorf("%w within %s: was %s", errGate, assay.FormatDuration(c.Patience), v)
		}
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
