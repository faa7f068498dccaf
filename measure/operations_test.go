package measure

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"testing/fstest"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
)

func times(n int, each func(i int) int64) *hist.Histogram {
	h := &hist.Histogram{}
	for i := range n {
		h.Record(each(i))
	}
	return h
}

func TestOperations(t *testing.T) {
	ramp := func(i int) int64 { return int64(i+1) * 1e6 }
	inf := math.Inf(1)
	for _, c := range []struct {
		name      string
		h         *hist.Histogram
		failed    int64
		statistic string
		want      float64
		err       error
	}{
		{"p50 of 6", times(6, ramp), 0, "p50", 3e6, nil},
		{"p50 of 5", times(5, ramp), 0, "p50", 0, ErrTooFew},
		{"p99 of 368", times(368, ramp), 0, "p99", 365e6, nil},
		{"p99 of 367", times(367, ramp), 0, "p99", 0, ErrTooFew},
		{"p99.9 of 3687", times(3687, ramp), 0, "p99.9", 0, ErrTooFew},
		{"median where 30 in 100 failed", times(70, ramp), 30, "median", 50e6, nil},
		{"p95 where 30 in 100 failed", times(72, ramp), 30, "p95", inf, nil},
		{"p95 where most failed", times(30, ramp), 70, "p95", inf, nil},
		{"p95 where one in 1,000 failed", times(999, ramp), 1, "p95", 950e6, nil},
		{"mean where one failed", times(99, ramp), 1, "mean", inf, nil},
		{"mean", times(9, ramp), 0, "mean", 5e6, nil},
		{"max", times(9, ramp), 0, "max", 9e6, nil},
		{"max where one failed", times(9, ramp), 1, "max", inf, nil},
		{"min where one failed", times(9, ramp), 1, "min", 1e6, nil},
		{"nothing", times(0, ramp), 0, "p50", 0, ErrAbsent},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := Operations(c.h, c.failed, c.statistic)
			if !errors.Is(err, c.err) || math.IsInf(c.want, 1) != math.IsInf(v.Number, 1) || !math.IsInf(c.want, 1) && math.Abs(v.Number-c.want) > 0.001*c.want {
				t.Errorf("got %v, %v; want %v, %v", v, err, c.want, c.err)
			}
		})
	}
}

func TestOfReadsTheFolder(t *testing.T) {
	var log bytes.Buffer
	start := time.Unix(1700000000, 0)
	w, err := hist.NewWriter(&log, start)
	if err != nil {
		t.Fatal(err)
	}
	for second := range 4 {
		at := start.Add(time.Duration(second) * time.Second)
		for tag, n := range map[string]int{"": 90, failedTag: 10} {
			h := times(n, func(int) int64 { return 5e6 })
			if err := w.Write(hist.Interval{Start: at, Length: time.Second, Tag: tag, Histogram: h}); err != nil {
				t.Fatal(err)
			}
		}
	}
	files := fstest.MapFS{"response.hlog": {Data: log.Bytes()}}
	for _, c := range []struct {
		ref      string
		measures map[string]assay.Value
		want     float64
		err      error
	}{
		{"p50(response_time)", nil, 5e6, nil},
		{"p95(response_time)", nil, math.Inf(1), nil},
		{"p90(response_time)", nil, 5e6, nil},
		{"p90(response_time)", map[string]assay.Value{"planned": assay.Num(440), "cancelled": assay.Num(0)}, math.Inf(1), nil},
		{"p99(response_time)", map[string]assay.Value{"planned": assay.Num(360), "cancelled": assay.Num(0)}, 0, ErrTooFew},
		{"p50(service_time)", nil, 0, ErrAbsent},
		{"p50(lag)", nil, 0, ErrAbsent},
	} {
		m, err := Resolve(nil, mustRef(t, c.ref))
		if err != nil {
			t.Fatal(err)
		}
		v, err := m.Of(&assay.Trial{Measures: c.measures}, files)
		if !errors.Is(err, c.err) || math.IsInf(v.Number, 1) != math.IsInf(c.want, 1) || !math.IsInf(c.want, 1) && math.Abs(v.Number-c.want) > 1e4 {
			t.Errorf("%s with %v: got %v, %v; want %v, %v", c.ref, c.measures, v, err, c.want, c.err)
		}
	}
}
