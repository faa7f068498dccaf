package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
	"github.com/assaybench/assay/target"
	"github.com/assaybench/assay/telemetry"
)

// A trial is one execution of one cell on its way into the record.
type trial struct {
	run     *Run
	setting *assay.Setting
	dir     string
	step    Step
	values  map[string]string // of {block}, {trial} and {seed}
	record  assay.Trial
	pulse   *pulse          // of the load, for kill rules on it; nil without one
	killed  *assay.KillRule // the rule that stopped it; nil for none

	resident float64 // the greatest share of an input in the page cache when it began

	pid       atomic.Int64 // of the command, while it executes
	mu        sync.Mutex
	aside     []string                 // notes from beside the trial
	recovered map[string]time.Duration // from a fault on purpose until the target served again
}

// execute fills the record. It returns nothing: all that goes wrong is the trial's outcome, or what
// voided it.
func (t *trial) execute(ctx context.Context) {
	t.record.StartedAt = time.Now().UTC()
	w := &t.setting.Workload
	for _, begin := range []func() error{
		func() error { return t.gates(ctx, early) },
		func() error { return t.fingerprint(w) },
		func() error { return t.run.hooks(ctx, w.Hooks.Prepare, t.values, t.dir, "prepare") },
		func() error { return t.gates(ctx, prepared) },
		func() error { return t.run.services.ready(ctx, t) },
		func() error { return t.gates(ctx, standing) },
		func() error { return t.baseline(ctx) },
		func() error { return t.warm(ctx) },
	} {
		if err := begin(); err != nil {
			t.unbegun(ctx, err)
			return
		}
	}
	t.run.leaks.look(ctx, t)
	t.run.tell(Progress{Phase: Running, Step: t.step, Cell: t.record.Cell})
	began := time.Now()
	before := telemetry.Snapshot(t.run.services.objects()...)
	counted := t.scrape(ctx)
	t.work(ctx, w)
	t.passes(ctx, w)
	t.count(counted, t.scrape(ctx))
	t.machine(before.Since())
	t.run.services.judge(t, began)
	if t.record.Outcome == assay.Hung {
		t.run.services.stopAll() // whatever holds them up does not belong to the next trial
	}
	if t.killed != nil {
		t.run.services.stopAll()
		t.afterKill(ctx)
	}
	if err := t.run.hooks(ctx, w.Hooks.Conclude, t.values, t.dir, "conclude"); err != nil {
		t.void("conclude", err.Error())
	}
	if t.record.Outcome == assay.OK {
		t.declared()
		t.coarse()
		t.injected()
		t.ceilings()
		t.measuredCeilings()
	}
	t.guards()
	t.run.right.consult(&t.record, t.run.Experiment.Measures, t.void)
}

// work executes the workload under watch: its telemetry, probes, kill rules and events.
func (t *trial) work(ctx context.Context, w *assay.Workload) {
	watched := w.Load != nil || len(w.Targets)+len(w.Probes)+len(w.Kills)+len(w.Events) > 0
	if !watched {
		stop := t.watchLater(ctx)
		t.command(ctx, w)
		stop()
		t.tellAside()
		return
	}
	t.pulse = newPulse(w)
	watch, err := t.startWatch(ctx)
	if err != nil {
		t.refuse(ctx, err)
		return
	}
	limited, uncap := capped(ctx, w.Cap)
	defer uncap()
	work, cancel := context.WithCancelCause(limited)
	var beside sync.WaitGroup
	beside.Go(func() { t.watchKills(work, watch, cancel) })
	beside.Go(func() { t.events(work, time.Now()) })
	if w.Load != nil {
		t.load(work, w, cancel)
	} else {
		t.command(work, w)
	}
	cancel(nil)
	beside.Wait()
	t.stopWatch(watch)
	t.tellAside()
}

// tellAside records what happened beside the work.
func (t *trial) tellAside() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.record.Notes = append(t.record.Notes, t.aside...)
	t.aside = nil
	for name, took := range t.recovered {
		t.measure(assay.MeasureRef{Name: "recovery", Object: name}, float64(took))
	}
}

// later notes something from beside the trial.
func (t *trial) later(note string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.aside = append(t.aside, note)
}

// unbegun ends a trial that could not begin. A target that was started and did not come up is the
// cell's doing, like a command that fails; anything else refuses the trial.
func (t *trial) unbegun(ctx context.Context, cause error) {
	if ctx.Err() == nil && errors.Is(cause, target.ErrUnready) {
		t.record.Outcome = assay.Failed
		t.note(cause.Error())
		return
	}
	t.refuse(ctx, cause)
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
	if t.setting.Workload.Command != nil { // a load's account differs each time
		t.record.OutputSHA256, _ = fileDigest(filepath.Join(t.dir, stdoutFile))
	}
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
