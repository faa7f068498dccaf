package hist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// An Interval is one line of an interval log: what was recorded within a span of time.
type Interval struct {
	Start  time.Time
	Length time.Duration
	// Tag tells several series of one log apart; empty for the main one.
	Tag       string
	Histogram *Histogram
}

// A Writer appends intervals to a log in the HdrHistogram log format, version 1.3. The header is
// written here and not by hdrhistogram-go because that cuts the start time to whole seconds, which
// moves every interval by up to one second when it is read back.
type Writer struct {
	w    io.Writer
	base time.Time
}

// NewWriter writes the header of a log whose interval times count from start, to the millisecond.
func NewWriter(w io.Writer, start time.Time) (*Writer, error) {
	base := start.Truncate(time.Millisecond)
	seconds := float64(base.UnixMilli()) / 1e3
	_, err := fmt.Fprintf(w, "#[Histogram log format version 1.3]\n"+
		"#[StartTime: %.3f (seconds since epoch), %s]\n#[BaseTime: %.3f (seconds since epoch)]\n"+
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		seconds, base.UTC().Format("2006-01-02T15:04:05.000Z"), seconds)
	if err != nil {
		return nil, fmt.Errorf("write interval log header: %w", err)
	}
	return &Writer{w: w, base: base}, nil
}

// Write appends one interval. Its maximum stands on the line in milliseconds, exact to the
// nanosecond. Saturated values have no bucket and are not in the payload; they stand before the
// line in a comment that a Reader understands and every other reader skips.
func (w *Writer) Write(i Interval) error {
	if strings.ContainsAny(i.Tag, ", \r\n") {
		return fmt.Errorf("write interval: tag %q: want no commas, spaces or line breaks", i.Tag)
	}
	buckets := i.Histogram.buckets
	if buckets == nil {
		buckets = hdr.New(1, firstRange, digits)
	}
	payload, err := buckets.EncodeV2()
	if err != nil {
		return fmt.Errorf("encode interval at %s: %w", i.Start, err)
	}
	var b strings.Builder
	if s := i.Histogram; s.below+s.above > 0 {
		fmt.Fprintf(&b, "#[Saturated: %d below, %d above, min %d, max %d]\n", s.below, s.above, s.min, s.max)
	}
	if i.Tag != "" {
		b.WriteString("Tag=" + i.Tag + ",")
	}
	fmt.Fprintf(&b, "%.6f,%.6f,%.6f,%s\n", i.Start.Sub(w.base).Seconds(), i.Length.Seconds(), float64(i.Histogram.max)/1e6, payload)
	if _, err := io.WriteString(w.w, b.String()); err != nil {
		return fmt.Errorf("write interval at %s: %w", i.Start, err)
	}
	return nil
}

// A Reader reads a log that a Writer wrote, or any other of the format: with or without header,
// tags, and base time. From a log the maximum of an interval is exact; its minimum and sum are
// those of the buckets, to three digits.
type Reader struct {
	lines     *bufio.Scanner
	line      int
	start     float64 // seconds since the epoch
	base      float64
	hasStart  bool
	hasBase   bool
	saturated Histogram // from a comment, for the line that follows
}

// maxLine bounds a line: a dense histogram over the whole range encodes to well under 1 MB.
const maxLine = 4 << 20

// NewReader reads from r.
func NewReader(r io.Reader) *Reader {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	return &Reader{lines: s}
}

// Next is the next interval, or io.EOF. Other errors name the line.
func (r *Reader) Next() (Interval, error) {
	for r.lines.Scan() {
		r.line++
		line := strings.TrimSpace(r.lines.Text())
		switch {
		case line == "" || strings.HasPrefix(line, `"StartTimestamp"`):
		case strings.HasPrefix(line, "#"):
			r.comment(line)
		default:
			i, err := r.interval(line)
			if err != nil {
				return Interval{}, fmt.Errorf("read interval log: line %d: %w", r.line, err)
			}
			return i, nil
		}
	}
	if err := r.lines.Err(); err != nil {
		return Interval{}, fmt.Errorf("read interval log: line %d: %w", r.line+1, err)
	}
	return Interval{}, io.EOF
}

// comment picks up what the header and a saturation remark say; other comments mean nothing.
func (r *Reader) comment(line string) {
	number := func(prefix string, into *float64, has *bool) {
		rest, ok := strings.CutPrefix(line, prefix)
		if !ok {
			return
		}
		word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if v, err := strconv.ParseFloat(word, 64); err == nil {
			*into, *has = v, true
		}
	}
	number("#[StartTime:", &r.start, &r.hasStart)
	number("#[BaseTime:", &r.base, &r.hasBase)
	var s Histogram
	if n, _ := fmt.Sscanf(line, "#[Saturated: %d below, %d above, min %d, max %d]", &s.below, &s.above, &s.min, &s.max); n == 4 && s.below >= 0 && s.above >= 0 {
		r.saturated = s
	}
}

func (r *Reader) interval(line string) (Interval, error) {
	var i Interval
	if rest, ok := strings.CutPrefix(line, "Tag="); ok {
		i.Tag, line, _ = strings.Cut(rest, ",")
	}
	fields := strings.SplitN(line, ",", 4)
	if len(fields) != 4 {
		return i, fmt.Errorf("got %d fields, want start, length, maximum, histogram", len(fields))
	}
	var number [3]float64
	for k := range number {
		v, err := strconv.ParseFloat(fields[k], 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 9e9 {
			return i, fmt.Errorf("field %d: got %q, want a number of seconds", k+1, fields[k])
		}
		number[k] = v
	}
	buckets, err := hdr.Decode([]byte(fields[3]))
	if err != nil {
		return i, fmt.Errorf("decode histogram: %w", err)
	}
	i.Start = r.when(number[0])
	i.Length = time.Duration(math.Round(number[1] * 1e9))
	i.Histogram, err = r.fromBuckets(buckets, int64(math.Round(number[2]*1e6)))
	return i, err
}

// when is the absolute time of a stamp. Without a base time, stamps more than a year before the
// start time are offsets from it, as the format's other readers assume.
func (r *Reader) when(stamp float64) time.Time {
	if !r.hasStart {
		r.start, r.hasStart = stamp, true
	}
	if !r.hasBase {
		r.hasBase = true
		if stamp < r.start-365*24*3600 {
			r.base = r.start
		}
	}
	// The two are added as whole numbers: a float64 holds the epoch only to 240 ns.
	return time.UnixMilli(int64(math.Round(r.base * 1e3))).Add(time.Duration(math.Round(stamp * 1e9)))
}

// fromBuckets takes over decoded buckets with the exact maximum that stood on their line.
func (r *Reader) fromBuckets(buckets *hdr.Histogram, exactMax int64) (*Histogram, error) {
	s := r.saturated
	r.saturated = Histogram{}
	if buckets.HighestTrackableValue() > 1<<60 {
		return nil, errors.New("decode histogram: its range is wider than any time")
	}
	h := &Histogram{}
	packed := hdr.NewPacked(1, max(2, buckets.HighestTrackableValue()), digits)
	packed.MergeFrom(buckets)
	packed.ForEachBucket(func(low, count int64) bool {
		h.RecordN(low+(width(low)-1)/2, count)
		return true
	})
	if low := h.min - (width(h.min)-1)/2; h.count > 0 {
		h.min = low
	}
	if h.count > 0 && exactMax >= h.max-width(h.max) && exactMax <= h.max+width(h.max) {
		h.max = exactMax
	}
	if s.below+s.above > 0 {
		h.count += s.below + s.above
		h.below, h.above = h.below+s.below, h.above+s.above
		h.min, h.max = s.min, s.max
	}
	return h, nil
}

// Total reads a whole log and merges, by counts, the intervals with that tag.
func Total(r io.Reader, tag string) (*Histogram, error) {
	total := &Histogram{}
	for reader := NewReader(r); ; {
		i, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return nil, err
		}
		if i.Tag == tag {
			total.Merge(i.Histogram)
		}
	}
}
