package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
	"github.com/assaybench/assay/telemetry"
)

const (
	killPoll  = 100 * time.Millisecond // kill rules are judged this often: well within their second
	idleSpan  = time.Second            // of fresh idle probes after a kill
	idleTimes = 3                      // how many times its baseline an idle probe may still be
)

// errKill says that a kill rule stopped the trial.
var errKill = errors.New("kill rule")

// watchKills stops the trial by cancel as soon as a kill rule holds over its window. It returns when
// ctx is done; the rule that held, if one did, is then t.killed.
func (t *trial) watchKills(ctx context.Context, w *watch, cancel context.CancelCauseFunc) {
	if len(t.setting.Workload.Kills) == 0 {
		<-ctx.Done()
		return
	}
	ticker := time.NewTicker(killPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for i := range t.setting.Workload.Kills {
			rule := &t.setting.Workload.Kills[i]
			v, unit, ok := t.windowed(w.series, rule.When)
			if ok && rule.When.HoldsFor(v, unit, 0) {
				t.killed = rule
				t.note(fmt.Sprintf("est.: killed after %s: %s: was %s; the figures are of the part before",
					w.series.Since().Round(time.Millisecond), rule.When, shown(v, unit)))
				cancel(errKill)
				return
			}
		}
	}
}

// windowed is a kill rule's measure over its window now.
func (t *trial) windowed(s *telemetry.Series, c assay.Condition) (v assay.Value, unit assay.Unit, ok bool) {
	m, err := measure.Resolve(t.run.Experiment.Measures, c.Measure)
	if err != nil {
		return v, unit, false
	}
	if measure.OfLoad(c.Measure) {
		v, ok = t.pulse.window(c)
		return v, m.Unit, ok
	}
	over := c.Over
	if over == 0 {
		over = time.Minute // the last reading counts
	}
	var readings []measure.Reading
	for _, r := range s.Window(c.Measure.Name, c.Measure.Object, over) {
		readings = append(readings, measure.Reading{TNS: int64(r.At), Name: r.Name, Object: r.Object, Value: r.Value})
	}
	var pending []measure.Pending
	for _, at := range s.Pending(c.Measure.Object) {
		pending = append(pending, measure.Pending{Ref: assay.MeasureRef{Name: "rtt", Object: c.Measure.Object}, SentNS: int64(at)})
	}
	v, ok = measure.Window(c, readings, pending, int64(s.Since()))
	return v, m.Unit, ok
}

// afterKill cools down, and asks fresh idle probes whether the trial was the harm: back at the
// baseline, it was killed; not back, somebody else loads the shared thing, and the trial is void.
func (t *trial) afterKill(ctx context.Context) {
	rule := t.killed
	t.record.Outcome = assay.Killed
	pause(ctx, rule.CoolDown)
	ref := rule.When.Measure
	if ref.Name != "rtt" {
		return
	}
	// What the probe asks may be one of the targets that were stopped.
	if err := t.run.services.ready(ctx, t); err != nil {
		t.void("foreign-load", fmt.Sprintf("after the kill: %v", err))
		return
	}
	baseline, known := t.run.idle[ref.Object]
	now, err := t.idleProbe(ctx, ref.Object)
	switch {
	case err != nil:
		t.void("foreign-load", fmt.Sprintf("idle probe %s after the kill: %v", ref.Object, err))
	case known && now > idleTimes*baseline && rule.When.HoldsFor(assay.Num(float64(now)), probeUnit(), 0):
		t.void("foreign-load", fmt.Sprintf("idle probe %s is %s after the cool-down, %s before the trials: somebody else loads it", ref.Object, now, baseline))
	default:
		t.note(fmt.Sprintf("idle probe %s after the kill: %s", ref.Object, now))
	}
}

func probeUnit() assay.Unit {
	b, _ := assay.BuiltinMeasure("rtt")
	return b.Unit
}

// baseline measures, once a run, how every probe answers while no trial is executed.
func (t *trial) baseline(ctx context.Context) error {
	for _, p := range t.setting.Workload.Probes {
		if _, ok := t.run.idle[p.Name]; ok {
			continue
		}
		rtt, err := t.idleProbe(ctx, p.Name)
		if err != nil {
			return fmt.Errorf("idle probe %s: %w", p.Name, err)
		}
		t.run.idle[p.Name] = rtt
	}
	return nil
}

// idleProbe is the mean answer of a probe while the trial does nothing.
func (t *trial) idleProbe(ctx context.Context, name string) (time.Duration, error) {
	for _, p := range t.setting.Workload.Probes {
		if p.Name != name {
			continue
		}
		b, err := telemetry.NewBystander(p)
		if err != nil {
			return 0, err
		}
		defer b.Prober.Close()
		gauge := telemetry.Gauge{Probers: map[string]telemetry.Prober{name: b.Prober}}
		ctx, cancel := context.WithTimeout(ctx, idleSpan+max(p.Timeout, time.Second))
		defer cancel()
		v, err := gauge.Read(ctx, assay.MeasureRef{Name: "rtt", Object: name})
		return time.Duration(v.Number), err
	}
	return 0, fmt.Errorf("no probe of that name")
}
