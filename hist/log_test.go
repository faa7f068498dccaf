package hist_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/assaybench/assay/hist"
)

// start is a time with a fraction of a second, which the usual writer loses.
var start = time.Date(2026, 3, 4, 5, 6, 7, 698_000_000, time.UTC)

func writeLog(t *testing.T, intervals ...hist.Interval) string {
	t.Helper()
	var b bytes.Buffer
	w, err := hist.NewWriter(&b, start)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range intervals {
		if err := w.Write(i); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func filled(values ...int64) *hist.Histogram {
	h := &hist.Histogram{}
	for _, v := range values {
		h.Record(v)
	}
	return h
}

func TestLogReadsBackAsWritten(t *testing.T) {
	want := []hist.Interval{
		{Start: start, Length: time.Second, Histogram: filled(123_456, 2_000_000, 67_123_456_789)},
		{Start: start.Add(time.Second), Length: 1003 * time.Millisecond, Tag: "failed", Histogram: filled(5)},
		{Start: start.Add(2003 * time.Millisecond), Length: time.Second, Histogram: filled()},
		{Start: start.Add(3003 * time.Millisecond), Length: time.Second, Histogram: filled(9, hist.Limit+77, -3)},
	}
	r := hist.NewReader(strings.NewReader(writeLog(t, want...)))
	for n, w := range want {
		g, err := r.Next()
		if err != nil {
			t.Fatalf("interval %d: %v", n, err)
		}
		if !g.Start.Equal(w.Start) || g.Length != w.Length || g.Tag != w.Tag {
			t.Errorf("interval %d: got %s for %s tag %q, want %s for %s tag %q", n, g.Start, g.Length, g.Tag, w.Start, w.Length, w.Tag)
		}
		if g.Histogram.Count() != w.Histogram.Count() || g.Histogram.Max() != w.Histogram.Max() || g.Histogram.Saturated() != w.Histogram.Saturated() {
			t.Errorf("interval %d: got count %d max %d saturated %d, want %d %d %d", n,
				g.Histogram.Count(), g.Histogram.Max(), g.Histogram.Saturated(), w.Histogram.Count(), w.Histogram.Max(), w.Histogram.Saturated())
		}
		for k := int64(1); k <= w.Histogram.Count(); k++ {
			a, b := g.Histogram.AtRank(k), w.Histogram.AtRank(k)
			if d := a - b; d > b/1000+1 || -d > b/1000+1 {
				t.Errorf("interval %d: rank %d: got %d, want %d", n, k, a, b)
			}
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last: got %v, want EOF", err)
	}
}

// The library's own reader stands for every other tool that reads the format.
func TestLogIsReadByTheReferenceReader(t *testing.T) {
	log := writeLog(t, hist.Interval{Start: start.Add(time.Second), Length: time.Second, Tag: "x", Histogram: filled(100, 200, 90_000_000_000)})
	r := hdr.NewHistogramLogReader(strings.NewReader(log))
	h, err := r.NextIntervalHistogram()
	if err != nil || h == nil {
		t.Fatalf("got %v, %v", h, err)
	}
	if h.TotalCount() != 3 || h.Tag() != "x" || h.StartTimeMs() != start.Add(time.Second).UnixMilli() {
		t.Errorf("got count %d, tag %q, start %d; want 3, x, %d", h.TotalCount(), h.Tag(), h.StartTimeMs(), start.Add(time.Second).UnixMilli())
	}
}

func TestTotalMergesOneTag(t *testing.T) {
	log := writeLog(t,
		hist.Interval{Start: start, Length: time.Second, Histogram: filled(1, 2)},
		hist.Interval{Start: start, Length: time.Second, Tag: "failed", Histogram: filled(50)},
		hist.Interval{Start: start, Length: time.Second, Histogram: filled(3)})
	h, err := hist.Total(strings.NewReader(log), "")
	if err != nil || h.Count() != 3 || h.Max() != 3 {
		t.Errorf("got %d values up to %d, %v; want 3 up to 3", h.Count(), h.Max(), err)
	}
}

func TestReaderNamesTheBadLine(t *testing.T) {
	log := writeLog(t, hist.Interval{Start: start, Length: time.Second, Histogram: filled(1)})
	for _, c := range []struct{ name, line, want string }{
		{"too few fields", "1.0,2.0\n", "want start, length, maximum, histogram"},
		{"no number", "a,1,1,HIST\n", "want a number of seconds"},
		{"no histogram", "1,1,1,HISTxx\n", "decode histogram"},
	} {
		r := hist.NewReader(strings.NewReader(log + c.line))
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		_, err := r.Next()
		if err == nil || !strings.Contains(err.Error(), "line 6") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want line 6 and %q", c.name, err, c.want)
		}
	}
}

func TestWriterRefusesATagThatBreaksTheLine(t *testing.T) {
	w, err := hist.NewWriter(io.Discard, start)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(hist.Interval{Start: start, Tag: "a,b", Histogram: filled(1)}); err == nil {
		t.Error("got no error for a tag with a comma")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	if _, err := hist.NewWriter(full, start); err == nil {
		t.Error("got no error from a full disk")
	}
}

func FuzzReader(f *testing.F) {
	var b bytes.Buffer
	w, _ := hist.NewWriter(&b, start)
	w.Write(hist.Interval{Start: start, Length: time.Second, Tag: "t", Histogram: filled(1, 2, 3)})
	f.Add(b.String())
	f.Add("#[Saturated: 1 below, 2 above, min 3, max 4]\n1,2,3,HISTFAAAABB42pNpmSzMwMAgxQABzFCaEUoz2X+AMIKZAEARAtM=")
	f.Fuzz(func(t *testing.T, log string) {
		r := hist.NewReader(strings.NewReader(log))
		for {
			i, err := r.Next()
			if err != nil {
				return
			}
			if i.Histogram.Count() < 0 || i.Histogram.Saturated() > i.Histogram.Count() {
				t.Fatalf("count %d, saturated %d", i.Histogram.Count(), i.Histogram.Saturated())
			}
			i.Histogram.Quantile(0.5)
		}
	})
}
