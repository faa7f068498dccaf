package engine

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
	"github.com/assaybench/assay/telemetry"
)

// A trial is one execution of one cell on its way into the record.
type trial struct {
	run     *Run
	setting *assay.Setting
	dir     string
	step    Step
	values  map[string]string // of {block}, {trial} and {seed}
	gauge   telemetry.Gauge
	record  assay.Trial
}

// execute fills the record. It returns nothing: all that goes wrong is the trial's outcome, or what
// voided it.
func (t *trial) execute(ctx context.Context) {
	t.record.StartedAt = time.Now().UTC()
	if !t.gates(ctx) {
		return
	}
	w := &t.setting.Workload
	if err := t.fingerprint(w); err != nil {
		t.refuse(ctx, err)
		return
	}
	if err := t.run.hooks(ctx, w.Hooks.Prepare, t.values, t.dir, "prepare"); err != nil {
		t.refuse(ctx, err)
		return
	}
	t.run.tell(Progress{Phase: Running, Step: t.step, Cell: t.record.Cell})
	before := telemetry.Snapshot()
	t.command(ctx, w)
	t.machine(before.Since())
	if err := t.run.hooks(ctx, w.Hooks.Conclude, t.values, t.dir, "conclude"); err != nil {
		t.void("conclude", err.Error())
	}
	if t.record.Outcome == assay.OK {
		t.declared()
	}
	t.guards()
}

// refuse ends a trial that could not begin.
func (t *trial) refuse(ctx context.Context, cause error) {
	if ctx.Err() != nil {
		t.record.Outcome = assay.Interrupted
		return
	}
	t.record.Outcome = assay.Refused
	t.record.RefusedBy = append(t.record.RefusedBy, cause.Error())
}

// void marks the trial as spoilt by something outside the cell.
func (t *trial) void(guard, note string) {
	t.record.Valid = false
	t.record.VoidBy = append(t.record.VoidBy, assay.GuardVoid(guard))
	t.note(guard + ": " + note)
}

func (t *trial) note(s string) { t.record.Notes = append(t.record.Notes, s) }

// fingerprint hashes the executable and the declared inputs; a change since the first trial voids.
func (t *trial) fingerprint(w *assay.Workload) error {
	if w.Command != nil && !w.Command.Shell && len(w.Command.Args) > 0 {
		path, err := t.executable(w.Command)
		if err != nil {
			return err
		}
		if t.record.ExecutableSHA256, err = t.run.files.of(path); err != nil {
			return err
		}
	}
	for _, input := range t.run.Experiment.Inputs {
		digest, err := t.run.files.of(input)
		if err != nil {
			return err
		}
		t.note(inputNote + input + " sha256 " + digest)
	}
	for name, digest := range trialDigests(&t.record) {
		first, ok := t.run.first[name]
		if !ok {
			t.run.first[name] = digest
		} else if first != digest {
			t.void("changed", fmt.Sprintf("%s has the digest %.12s; in the first trial it was %.12s", name, digest, first))
		}
	}
	return nil
}

// declared reads the declared measures and the achieved levels from what the command left.
func (t *trial) declared() {
	for _, m := range t.run.Experiment.Measures {
		if m.MaxOf.Name != "" || m.Source.Delta != "" {
			continue // of a block, and of a target
		}
		v, err := measure.Declared(m.Source, t.open(m.Source))
		if err != nil {
			t.note(fmt.Sprintf("measure %s: %v", m.Name, err))
			continue
		}
		t.record.Measures[m.Name] = v
	}
	for _, f := range t.run.Experiment.Factors {
		if f.Achieved == nil {
			continue
		}
		v, err := measure.Declared(f.Achieved.Source, t.open(f.Achieved.Source))
		if err != nil {
			t.note(fmt.Sprintf("achieved %s: %v", f.Name, err))
			continue
		}
		t.record.Achieved[f.Name] = v
	}
	t.record.OutputSHA256, _ = fileDigest(filepath.Join(t.dir, stdoutFile))
}

// guards judges the experiment's own guards.
func (t *trial) guards() {
	for _, g := range t.run.Experiment.Guards {
		if !t.record.Cell.Matches(g.At) || t.record.Outcome != assay.OK {
			continue
		}
		held, got, err := t.holds(g.Condition)
		switch {
		case err != nil:
			t.void(g.Name, fmt.Sprintf("%s: %v", g.Condition, err))
		case !held:
			t.void(g.Name, fmt.Sprintf("%s: was %s", g.Condition, got))
		}
	}
}

// holds judges a condition on the finished trial.
func (t *trial) holds(c assay.Condition) (held bool, got assay.Value, err error) {
	v, unit, err := t.value(c.Measure)
	if err != nil {
		return false, v, err
	}
	var times float64
	if c.Bound.Times.Name != "" {
		other, u, err := t.value(c.Bound.Times)
		if err != nil {
			return false, v, err
		}
		times = other.Number * u.Scale
	}
	return c.HoldsFor(v, unit, times), v, nil
}

// environment is all that substitution can name in this trial.
func (t *trial) environment() map[string]string {
	values := maps.Clone(t.setting.Values)
	if values == nil {
		values = map[string]string{}
	}
	maps.Copy(values, t.values)
	return values
}
