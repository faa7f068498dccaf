package telemetry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/assaybench/assay"
	"golang.org/x/sys/unix"
)

// ErrAbsent says that this machine has no such source. It is never a zero.
var ErrAbsent = errors.New("absent on this machine")

// A Gauge reads the measures of gates: the state of the machine before a trial.
type Gauge struct {
	// Probers are those of the cell, by name, for rtt(name).
	Probers map[string]Prober
	// Probes are the declared ones, for bandwidth(name).
	Probes []assay.Probe
	// Calibrate performs a fixed amount of work and says how long it took; Reference is how long it
	// took when the experiment was registered. calibration is the ratio of the two: 1.05 is 5% slower.
	Calibrate func(context.Context) (time.Duration, error)
	Reference time.Duration
	// Dir is the folder that disk_free without an object is of.
	Dir string

	root root // "" is "/"
}

// Times over which a gate looks. Idle and stolen time come in ticks of 10 ms, so that half a second
// resolves 2% of one core; a second of probes is enough to see a share that is busy.
const (
	cpuWindow  = 500 * time.Millisecond
	gateProbes = 5
	gateEvery  = 100 * time.Millisecond
)

// Read is the value of a gate's measure now, in the unit of the built-in measures table. A statistic,
// as in max(temp), is taken over five readings 100 ms apart. It returns an error that wraps
// [ErrAbsent] where the machine cannot say, and ctx's error when it is cancelled.
func (g *Gauge) Read(ctx context.Context, ref assay.MeasureRef) (assay.Value, error) {
	n := 1
	if ref.Stat != "" || ref.Name == "rtt" {
		n = gateProbes
	}
	values := make([]float64, 0, n)
	for i := range n {
		if i > 0 {
			if err := sleep(ctx, gateEvery); err != nil {
				return assay.Value{}, fmt.Errorf("read gate %s: %w", ref, err)
			}
		}
		v, err := g.once(ctx, ref)
		if err != nil {
			return assay.Value{}, fmt.Errorf("read gate %s: %w", ref, err)
		}
		values = append(values, v)
	}
	stat := ref.Stat
	if stat == "" {
		stat = "median" // of one reading, or of the probes
	}
	v, err := reduce(stat, values)
	if err != nil {
		return assay.Value{}, fmt.Errorf("read gate %s: %w", ref, err)
	}
	return assay.Num(v), nil
}

// Measures that a gate can read.
func (g *Gauge) once(ctx context.Context, ref assay.MeasureRef) (float64, error) {
	r := g.root
	if r == "" {
		r = "/"
	}
	switch ref.Name {
	case "load1":
		return load1(r)
	case "cpu_idle", "cpu_steal":
		cpu, err := cpuOver(ctx, r, cpuWindow)
		if ref.Name == "cpu_steal" {
			return share(cpu.Steal, cpu.Total()), err
		}
		return share(cpu.Idle+cpu.IOWait, cpu.Total()), err
	case "temp":
		return hottest(r)
	case "mem_free":
		return memFree(r)
	case "disk_free":
		dir := ref.Object
		if dir == "" {
			dir = g.Dir
		}
		return diskFree(dir)
	case "resident":
		return Resident(ref.Object)
	case "rtt":
		return g.rtt(ctx, ref.Object)
	case "bandwidth":
		return g.bandwidth(ctx, ref.Object)
	case "ports_free":
		free, _, err := ports(r)
		return float64(free), err
	case "calibration":
		return g.calibration(ctx)
	case "pressure":
		p, err := pressureNow(r, ref.Object)
		return p.Avg10, err
	}
	return 0, fmt.Errorf("measure %q: no gate reads it; want load1, cpu_idle, cpu_steal, temp, mem_free, disk_free(folder), resident(files), rtt(probe), bandwidth(probe), ports_free, calibration or pressure(cpu|io|memory)", ref.Name)
}

func (g *Gauge) rtt(ctx context.Context, name string) (float64, error) {
	p, ok := g.Probers[name]
	if !ok {
		return 0, fmt.Errorf("probe %q: not declared", name)
	}
	t, err := p.Probe(ctx)
	return float64(t), err
}

func (g *Gauge) bandwidth(ctx context.Context, name string) (float64, error) {
	i := slices.IndexFunc(g.Probes, func(p assay.Probe) bool { return p.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("probe %q: not declared", name)
	}
	return Bandwidth(ctx, g.Probes[i])
}

func (g *Gauge) calibration(ctx context.Context) (float64, error) {
	if g.Calibrate == nil || g.Reference <= 0 {
		return 0, fmt.Errorf("calibration: nothing to compare with; measure the loop first")
	}
	t, err := g.Calibrate(ctx)
	return float64(t) / float64(g.Reference), err
}

// sleep waits for d or for ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reduce takes a statistic over a few values; a quantile is the smallest value that has at least
// that share of all at or below it, so that it is a value that occurred.
func reduce(stat string, values []float64) (float64, error) {
	sorted := slices.Sorted(slices.Values(values))
	var sum float64
	for _, v := range sorted {
		sum += v
	}
	n := float64(len(sorted))
	switch stat {
	case "mean":
		return sum / n, nil
	case "sum":
		return sum, nil
	case "min":
		return sorted[0], nil
	case "max":
		return sorted[len(sorted)-1], nil
	case "sd":
		var squares float64
		for _, v := range sorted {
			squares += (v - sum/n) * (v - sum/n)
		}
		return math.Sqrt(squares / max(n-1, 1)), nil
	}
	q, ok := assay.Quantile(stat)
	if !ok {
		return 0, fmt.Errorf("statistic %q: want mean, median, min, max, sum, sd or pNN", stat)
	}
	return sorted[max(int(math.Ceil(q*n))-1, 0)], nil
}

// diskFree is what an ordinary user can still write into a folder, in bytes.
func diskFree(dir string) (float64, error) {
	if dir == "" {
		dir = "."
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("ask free space of %s: %w", dir, err)
	}
	return float64(s.Bavail) * float64(s.Bsize), nil
}
