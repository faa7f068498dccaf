package measure

import (
	"bytes"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
)

// A second is an interval of a log: so many operations of that time.
type second struct {
	n  int
	ms int64
}

func logOf(t *testing.T, seconds []second, length time.Duration) fstest.MapFS {
	t.Helper()
	var log bytes.Buffer
	start := time.Unix(1700000000, 0)
	w, err := hist.NewWriter(&log, start)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range seconds {
		at := start.Add(time.Duration(i) * length)
		for _, tag := range []string{"", failedTag} {
			took := s.ms
			if tag != "" {
				took = 900 // what failed must not be seen
			}
			h := times(s.n, func(int) int64 { return took * 1e6 })
			if err := w.Write(hist.Interval{Start: at, Length: length, Tag: tag, Histogram: h}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return fstest.MapFS{"response.hlog": {Data: log.Bytes()}}
}

func TestSeconds(t *testing.T) {
	ref := mustRef(t, "p99(response_time)")
	for _, test := range []struct {
		name    string
		seconds []second
		length  time.Duration
		window  time.Duration
		want    []int64
	}{
		{"whole, but for the beginning", []second{{90, 5}, {90, 6}, {90, 7}}, time.Second, 3 * time.Second, []int64{6, 7}},
		{"after the window", []second{{90, 5}, {90, 6}, {90, 7}, {90, 8}}, time.Second, 3 * time.Second, []int64{6, 7}},
		{"too few for a median", []second{{90, 5}, {5, 6}, {6, 7}}, time.Second, 3 * time.Second, []int64{7}},
		{"slow operations take the beginning", []second{{90, 5}, {90, 6}, {90, 2500}, {90, 8}, {90, 9}}, time.Second, 5 * time.Second, []int64{8, 9}},
		{"parts of a second", []second{{90, 5}, {90, 6}, {90, 7}}, 100 * time.Millisecond, 3 * time.Second, nil},
		{"nothing", nil, time.Second, time.Second, nil},
	} {
		xs, err := Seconds(logOf(t, test.seconds, test.length), ref, test.window)
		var got []int64
		for _, x := range xs {
			got = append(got, int64(x/1e6+0.5))
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, %v; want %v", test.name, got, err, test.want)
		}
	}
	for _, other := range []assay.MeasureRef{{Name: "rate"}, mustRef(t, "p99(service_time)")} {
		if xs, err := Seconds(logOf(t, []second{{90, 5}, {90, 6}}, time.Second), other, time.Minute); xs != nil || err != nil {
			t.Errorf("seconds of %s: %v, %v; want none", other, xs, err)
		}
	}
	torn := fstest.MapFS{"response.hlog": {Data: []byte("0.0,1.0,2.0,nonsense\n")}}
	if _, err := Seconds(torn, ref, time.Minute); err == nil {
		t.Error("a torn log is no error")
	}
}
