package measure

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/assaybench/assay"
)

func mustRef(t *testing.T, s string) assay.MeasureRef {
	t.Helper()
	r, err := assay.ParseMeasureRef(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOf(t *testing.T) {
	files, _ := assay.ParseUnit("files/s")
	declared := []assay.Measure{{Name: "throughput", Unit: files, Better: assay.More}}
	trial := &assay.Trial{Measures: map[string]assay.Value{
		"throughput": assay.Num(470), "wall_ns": assay.Num(2e9), "rss_peak_bytes(api)": assay.Num(7), "p99(response_time_ns)": assay.Num(5e6),
	}}
	folder := fstest.MapFS{ReadingsFile: {Data: []byte("t_ns,name,object,value\n1,rss_peak_bytes,api,5\n2,rss_peak_bytes,api,9\n3,rtt_ns,share,100\n4,rtt_ns,share,300\n5,temp_celsius,,60\n")}}
	for _, c := range []struct {
		ref  string
		want float64
		unit string
		err  error
	}{
		{"throughput", 470, "files/s", nil},
		{"wall", 2e9, "ns", nil},
		{"rss_peak(api)", 7, "B", nil},
		{"p99(response_time)", 5e6, "ns", nil},
		{"mean(rtt(share))", 200, "ns", nil},
		{"max(rss_peak(api))", 9, "B", nil},
		{"max(temp)", 60, "C", nil},
		{"mean(rtt(other))", 0, "ns", ErrAbsent},
		{"user", 0, "ns", ErrAbsent},
	} {
		m, err := Resolve(declared, mustRef(t, c.ref))
		if err != nil {
			t.Fatal(err)
		}
		v, err := m.Of(trial, folder)
		if !errors.Is(err, c.err) || v.Number != c.want || m.Unit.Name != c.unit {
			t.Errorf("%s is %v %s, %v; want %v %s, %v", c.ref, v, m.Unit.Name, err, c.want, c.unit, c.err)
		}
	}
	if _, err := Resolve(declared, mustRef(t, "nonsense")); err == nil {
		t.Error("nonsense is a measure")
	}
}

func TestReadingsNameTheLine(t *testing.T) {
	for _, c := range []string{"t_ns,name,object,value\n1,a,,x\n", "t_ns,name,object,value\nx,a,,1\n", "t_ns,name,object,value\n1,a,,NaN\n"} {
		if _, err := Readings(strings.NewReader(c)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v; want line 2 named", c, err)
		}
	}
}

func FuzzReadings(f *testing.F) {
	f.Add("t_ns,name,object,value\n1,rtt_ns,share,100\n")
	f.Fuzz(func(t *testing.T, s string) {
		list, err := Readings(strings.NewReader(s))
		if err != nil && list != nil {
			t.Error("readings beside an error")
		}
	})
}

func TestWindow(t *testing.T) {
	rule := func(s string) assay.Condition {
		c, err := assay.ParseCondition(s)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	rtt := func(at time.Duration, object string, ms float64) Reading {
		return Reading{TNS: int64(at), Name: "rtt_ns", Object: object, Value: ms * 1e6}
	}
	quiet := []Reading{rtt(time.Second, "share", 10), rtt(4*time.Second, "share", 20), rtt(9*time.Second, "other", 900)}
	for _, c := range []struct {
		name     string
		rule     string
		readings []Reading
		pending  []Pending
		now      time.Duration
		want     float64 // ms; below 0: none
	}{
		{"mean over the window", "mean(rtt(share)) > 100ms over 10s", quiet, nil, 10 * time.Second, 15},
		{"old readings fall out", "mean(rtt(share)) > 100ms over 7s", quiet, nil, 10 * time.Second, 20},
		{"a window not yet full", "mean(rtt(share)) > 100ms over 10s", quiet, nil, 9 * time.Second, -1},
		{"no statistic is the mean", "rtt(share) > 100ms over 10s", quiet, nil, 10 * time.Second, 15},
		{"no window is the last", "rtt(share) > 100ms", quiet, nil, 10 * time.Second, 20},
		{"nothing in the window", "rtt(share) > 100ms over 1s", quiet, nil, 10 * time.Second, -1},
		{"a probe that does not come back", "max(rtt(share)) > 100ms over 10s", quiet, []Pending{{mustRef(t, "rtt(share)"), int64(6 * time.Second)}}, 10 * time.Second, 4000},
		{"it alone", "rtt(share) > 100ms over 1s", quiet, []Pending{{mustRef(t, "rtt(share)"), int64(6 * time.Second)}}, 10 * time.Second, 4000},
		{"a young one hides nothing", "mean(rtt(share)) > 100ms over 10s", quiet, []Pending{{mustRef(t, "rtt(share)"), int64(10*time.Second) - 1e6}}, 10 * time.Second, 15},
		{"of another probe", "mean(rtt(share)) > 100ms over 10s", quiet, []Pending{{mustRef(t, "rtt(other)"), 0}}, 10 * time.Second, 15},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, ok := Window(rule(c.rule), c.readings, c.pending, int64(c.now))
			if ok != (c.want >= 0) || ok && v.Number != c.want*1e6 {
				t.Errorf("got %v %v, want %v ms", v.Number/1e6, ok, c.want)
			}
		})
	}
}

// A mean over reads and writes together hides harm to the readers: 140 ms and 20 ms are 80 ms.
func TestWindowKeepsProbesApart(t *testing.T) {
	c, err := assay.ParseCondition("mean(rtt(read)) > 100ms over 5s")
	if err != nil {
		t.Fatal(err)
	}
	var rs []Reading
	for s := range 10 {
		rs = append(rs, Reading{int64(s) * 1e9, "rtt_ns", "read", 140e6}, Reading{int64(s) * 1e9, "rtt_ns", "write", 20e6})
	}
	v, ok := Window(c, rs, nil, 10e9)
	if !ok || !c.HoldsFor(v, assay.Unit{Scale: 1}, 0) {
		t.Errorf("reads at 140 ms do not kill: %v %v", v, ok)
	}
}
