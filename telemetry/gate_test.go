package telemetry

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

func ref(t *testing.T, s string) assay.MeasureRef {
	t.Helper()
	r, err := assay.ParseMeasureRef(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGaugeReadsThisMachine(t *testing.T) {
	dir := t.TempDir()
	g := Gauge{Dir: dir, Reference: time.Millisecond, Calibrate: func(context.Context) (time.Duration, error) { return 2 * time.Millisecond, nil }}
	for _, c := range []struct {
		measure   string
		low, high float64
	}{
		{"load1", 0, 1e6},
		{"cpu_idle", 0, 1},
		{"cpu_steal", 0, 1},
		{"mem_free", 1 << 20, 1 << 50},
		{"disk_free", 1, 1 << 60},
		{"disk_free(" + dir + ")", 1, 1 << 60},
		{"ports_free", 0, 65536},
		{"calibration", 2, 2},
		{"pressure(cpu)", 0, 1},
		{"pressure(io)", 0, 1},
		{"pressure(memory)", 0, 1},
		{"temp", 1, 150},
		{"max(load1)", 0, 1e6},
	} {
		v, err := g.Read(t.Context(), ref(t, c.measure))
		if errors.Is(err, ErrAbsent) {
			t.Logf("not seen here: %v", err)
			continue
		}
		if err != nil || v.Number < c.low || v.Number > c.high {
			t.Errorf("Read(%s) = %v, %v, want %g..%g", c.measure, v, err, c.low, c.high)
		}
	}
}

func TestGaugeRefuses(t *testing.T) {
	var g Gauge
	for _, m := range []string{"wall", "rtt(share)", "calibration", "pressure(disk)", "resident(/no-such-folder/*)", "disk_free(/no-such-folder)"} {
		if v, err := g.Read(t.Context(), ref(t, m)); err == nil {
			t.Errorf("Read(%s) = %v, want an error", m, v)
		}
	}
}

func TestGaugeStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var g Gauge
	if _, err := g.Read(ctx, ref(t, "cpu_idle")); !errors.Is(err, context.Canceled) {
		t.Errorf("Read(cpu_idle) = %v, want %v", err, context.Canceled)
	}
}

func TestPortsCountAConnection(t *testing.T) {
	free, _, err := ports("/")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var after int
	for range 20 { // others on this machine open and close sockets too
		if after, _, err = ports("/"); err != nil || after < free {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil || after >= free {
		t.Errorf("ports free = %d, %v, want fewer than %d with one more socket", after, err, free)
	}
}

func TestReduce(t *testing.T) {
	v := []float64{5, 1, 4, 2, 3}
	for stat, want := range map[string]float64{"mean": 3, "sum": 15, "min": 1, "max": 5, "median": 3, "p90": 5, "p20": 1, "p21": 2} {
		if got, err := reduce(stat, v); err != nil || got != want {
			t.Errorf("reduce(%s) = %v, %v, want %v", stat, got, err, want)
		}
	}
	if _, err := reduce("mode", v); err == nil {
		t.Error("reduce(mode) gave no error")
	}
}
