package machine

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

func TestCeilingsAreMeasuredWithSpreadAndLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	start := time.Now()
	list, absent, err := Ceilings{Dir: dir, Size: 4 << 20, Memory: 12 << 20, Runs: 3, For: 2 * time.Millisecond}.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v; absent: %v", time.Since(start), absent)
	got := map[string]assay.Measured{}
	for _, m := range list {
		t.Logf("%-26s %12.5g (%.5g .. %.5g) %s  %s", m.Name, m.Value, m.Low, m.High, m.Unit, m.Method)
		got[m.Name] = m
		if !(m.Low <= m.Value && m.Value <= m.High) || m.Low < 0 || math.IsInf(m.High, 0) || m.Method == "" {
			t.Errorf("%+v: want 0 <= low <= value <= high", m)
		}
		if r, err := assay.ParseMeasureRef(m.Name); err != nil || r.String() != m.Name {
			t.Errorf("name %q is no measure: %v", m.Name, err)
		}
	}
	for _, c := range []struct {
		name      string
		low, high float64
	}{
		{"clock_tick", 1, 1e7}, {"clock_read", 1, 1e5}, {"wakeup(timer)", 0, 1e8}, {"wakeup(pipe)", 100, 1e8},
		{"calibration", 1e6, 1e9}, {"bandwidth(memory)", 1e6, 1e13}, {"bandwidth(memory_one_core)", 1e6, 1e13},
		{"rtt(loopback)", 100, 1e8}, {"bandwidth(loopback)", 1e6, 1e12},
	} {
		if m, ok := got[c.name]; !ok || m.Value < c.low || m.Value > c.high {
			t.Errorf("%s = %+v, want %g..%g", c.name, m, c.low, c.high)
		}
	}
	if _, ok := got["bandwidth(disk_read)"]; !ok && len(absent) == 0 {
		t.Error("the disk is neither measured nor named as absent")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

func TestCeilingsStopWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, _, err := Ceilings{Dir: t.TempDir()}.Measure(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("Measure with 20 ms = %v after %v", err, time.Since(start))
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		n                             int
		median, low, high, confidence float64
	}{
		// Ranks and coverage as in the tables of Conover: 6 values cover 96.9% by their extremes, 9
		// cover 96.1% by the second and the eighth, 20 cover 95.9% by the sixth and the fifteenth.
		{1, 1, 1, 1, 0},
		{3, 2, 1, 3, 0.75},
		{6, 3.5, 1, 6, 0.96875},
		{9, 5, 2, 8, 0.9609375},
		{20, 10.5, 6, 15, 0.95861},
	} {
		values := make([]float64, c.n)
		for i := range values {
			values[i] = float64((i*7)%c.n + 1)
		}
		if c.n == 1 {
			values[0] = 1
		}
		sorted := map[float64]bool{}
		for _, v := range values {
			sorted[v] = true
		}
		if len(sorted) != c.n {
			t.Fatalf("table: %d values are not distinct", c.n)
		}
		median, low, high, confidence := spread(values)
		if median != c.median || low != c.low || high != c.high || math.Abs(confidence-c.confidence) > 1e-4 {
			t.Errorf("spread of 1..%d = %g (%g..%g) at %g, want %g (%g..%g) at %g", c.n, median, low, high, confidence, c.median, c.low, c.high, c.confidence)
		}
	}
}

func TestCalibrationIsItsOwnWork(t *testing.T) {
	if got := chain(calibrationSteps); got != calibrationEnd {
		t.Fatalf("chain(%d) = %#x, want %#x", calibrationSteps, got, calibrationEnd)
	}
	d, err := Calibrate(t.Context())
	if err != nil || d < time.Millisecond || d > 10*time.Second {
		t.Errorf("Calibrate() = %v, %v", d, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Calibrate(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Calibrate(cancelled) = %v", err)
	}
}

func TestTriadComputes(t *testing.T) {
	for n := range 10 {
		a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			b[i], c[i] = float64(i), 2
		}
		triad(a, b, c, 3)
		for i := range n {
			if a[i] != float64(i)+6 {
				t.Errorf("triad of %d: a[%d] = %g, want %g", n, i, a[i], float64(i)+6)
			}
		}
	}
}

func TestCeilingsTakeTurns(t *testing.T) {
	var order string
	runs := map[string]float64{}
	one := func(name string) ceiling {
		return ceiling{name: name, once: func(context.Context) (float64, error) {
			order += name
			runs[name]++
			if name == "b" && runs[name] == 2 {
				return 0, errUnavailable
			}
			return runs[name], nil
		}}
	}
	values, missing, err := Ceilings{Runs: 3}.rounds(t.Context(), []ceiling{one("a"), one("b"), one("c")})
	if err != nil || order != "abcabcacac" {
		t.Errorf("rounds went %q, %v; want every ceiling once a round, and one that is not there no more", order, err)
	}
	if !slices.Equal(values[0], []float64{2, 3, 4}) || !slices.Equal(values[2], []float64{2, 3, 4}) {
		t.Errorf("values = %v, want those after the first round", values)
	}
	if missing[0] != nil || missing[1] == nil || missing[2] != nil {
		t.Errorf("missing = %v, want the second only", missing)
	}
}
