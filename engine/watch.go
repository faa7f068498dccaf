package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
	"github.com/assaybench/assay/telemetry"
)

// readingsFile is where a trial's telemetry goes.
const readingsFile = "readings.csv"

// A watch is the telemetry beside one trial.
type watch struct {
	series     *telemetry.Series
	sink       *os.File
	bystanders []telemetry.Bystander
}

// watchAfter is how long a command without a target executes before it is watched: shorter ones are
// over before the waits of a watch could be told from its start.
const watchAfter = time.Second

// watchLater watches the trial's command once it has executed for a while, by what is cheap to read.
// stop ends the watch.
func (t *trial) watchLater(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var began sync.WaitGroup
	var w *watch
	began.Go(func() {
		if pause(ctx, watchAfter); ctx.Err() != nil {
			return
		}
		trees := &telemetry.Trees{Objects: t.objects}
		var err error
		// Seldom: what it tells of a command's memory and of the machine does not change within moments.
		if w, err = t.openWatch(ctx, telemetry.Watch{Hz: 2, Samplers: []telemetry.Sampler{
			&telemetry.System{}, &telemetry.Processes{Trees: trees}, &telemetry.Stalls{}, &telemetry.Heat{},
		}}); err != nil {
			t.later(err.Error())
		}
	})
	return func() {
		cancel()
		began.Wait()
		if w != nil {
			t.stopWatch(w)
		}
	}
}

// openWatch starts a watch whose readings go into the trial's folder. After an error the probes are
// the caller's to close.
func (t *trial) openWatch(ctx context.Context, what telemetry.Watch) (*watch, error) {
	w := &watch{bystanders: what.Probes}
	var err error
	if w.sink, err = os.Create(filepath.Join(t.dir, readingsFile)); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	what.Sink = w.sink
	if w.series, err = what.Start(context.WithoutCancel(ctx)); err != nil {
		w.sink.Close()
		return nil, err
	}
	return w, nil
}

// startWatch begins to watch the trial's objects and to perform its probes.
func (t *trial) startWatch(ctx context.Context) (*watch, error) {
	var bystanders []telemetry.Bystander
	closeAll := func() {
		for _, b := range bystanders {
			b.Prober.Close()
		}
	}
	for _, p := range t.setting.Workload.Probes {
		if p.Rate == 0 {
			continue // for gates only
		}
		b, err := telemetry.NewBystander(p)
		if err != nil {
			closeAll()
			return nil, fmt.Errorf("probe %s: %w", p.Name, err)
		}
		bystanders = append(bystanders, b)
	}
	var scrapes []*telemetry.Prometheus
	for _, a := range t.setting.Workload.Targets {
		if a.Prometheus != "" {
			scrapes = append(scrapes, &telemetry.Prometheus{Target: a.Name, URL: a.Prometheus})
		}
	}
	w, err := t.openWatch(ctx, telemetry.Watch{Samplers: telemetry.Local(t.objects), Remote: telemetry.Remote(scrapes...), Probes: bystanders})
	if err != nil {
		closeAll()
	}
	return w, err
}

func (w *watch) close() {
	for _, b := range w.bystanders {
		b.Prober.Close()
	}
	w.sink.Close()
}

// objects are what the trial's telemetry is of: the targets, the command and Assay itself.
func (t *trial) objects() []telemetry.Object {
	list := t.run.services.objects()
	if pid := int(t.pid.Load()); pid != 0 {
		list = append(list, telemetry.Object{Name: commandObject, PID: pid})
	}
	return append(list, telemetry.Object{Name: telemetry.Generator, PID: os.Getpid()})
}

// commandObject is the name of the trial's command where an object is asked for.
const commandObject = "command"

// stopWatch ends the watch and reduces the series to the measures of their objects.
func (t *trial) stopWatch(w *watch) {
	coverage, err := w.series.Stop()
	w.close()
	if err != nil {
		t.note(err.Error())
	}
	for _, c := range coverage {
		if c.Misses > 0 {
			t.note(c.String())
		}
	}
	t.findings(w.series)
	t.reduceReadings()
}

// findings voids the trial for default guards that a series broke and that nothing else has voided it for.
func (t *trial) findings(s *telemetry.Series) {
	for _, f := range s.Findings() {
		if !slices.Contains(t.record.VoidBy, assay.GuardVoid(f.Guard)) {
			t.void(f.Guard, f.Text)
		}
	}
}

// reduced says which statistic of a series stands for the trial where nobody names one.
var reduced = map[string]string{"rss_peak": "max", "rss_anon": "max", "cpu": "mean", "threads": "max",
	"rtt": "mean", "temp": "max", "load1": "max", "cpu_idle": "mean", "cpu_steal": "mean"}

// reduceReadings turns the series of objects into measures of the trial.
func (t *trial) reduceReadings() {
	f, err := os.Open(filepath.Join(t.dir, readingsFile))
	if err != nil {
		return
	}
	defer f.Close()
	readings, err := measure.Readings(f)
	if err != nil {
		t.note(err.Error())
		return
	}
	t.crowds(readings)
	t.clipped(readings)
	t.paid(readings)
	series := map[assay.MeasureRef][]assay.Value{}
	for _, r := range readings {
		if reduced[r.Name] != "" {
			ref := assay.MeasureRef{Name: r.Name, Object: r.Object}
			series[ref] = append(series[ref], assay.Num(r.Value))
		}
	}
	for ref, values := range series {
		key := assay.MeasureKey(ref)
		if _, ok := t.record.Measures[key]; ok {
			continue // the kernel's own account is better than samples
		}
		if v, err := measure.Reduce(values, reduced[ref.Name]); err == nil {
			t.record.Measures[key] = v
		}
	}
}
