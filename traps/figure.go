package traps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/assaybench/assay/hist"
	"github.com/assaybench/assay/load"
)

// figureCases are those in which a figure is computed or read wrongly.
func figureCases() []Case {
	return []Case{
		{"T7", "a time beyond the range of the histogram", "counted, marked as saturated, not clipped",
			func(b *Bench) (Said, error) { return b.beyondRange(true) }, func(b *Bench) (Said, error) { return b.beyondRange(false) }},
		{"T8", "percentiles of two generators are averaged", "the quantile of the pooled operations, by merging counts",
			func(b *Bench) (Said, error) { return b.averaged(true) }, func(b *Bench) (Said, error) { return b.averaged(false) }},
		{"T7.10", "p95 is the length of the step", "censored: the step or the timeout cut it off",
			func(b *Bench) (Said, error) { return b.pinned(true) }, func(b *Bench) (Said, error) { return b.pinned(false) }},
		{"T4.1", "the rate that was paced is read as the capacity", "censored: offered-bound",
			func(b *Bench) (Said, error) { return b.paced(true) }, func(b *Bench) (Said, error) { return b.paced(false) }},
		{"T4", "a second run sends the same bodies to a target that remembers them", "void for guard:warm",
			func(b *Bench) (Said, error) { return b.remembered(true) }, func(b *Bench) (Said, error) { return b.remembered(false) }},
	}
}

// beyondRange records times through an interval log and back, as every trial does.
func (b *Bench) beyondRange(trap bool) (Said, error) {
	var h hist.Histogram
	for range 1000 {
		h.Record(int64(b.between(1e6, 2e6)))
	}
	long := []int64{int64(b.between(61e9, 600e9)), int64(b.between(3601e9, 90000e9))}
	if trap {
		long = append(long, hist.Limit+int64(b.between(1, 1e12)))
	}
	for _, v := range long {
		h.Record(v)
	}
	path := filepath.Join(b.Dir, "response.hlog")
	f, err := os.Create(path)
	if err != nil {
		return Said{}, err
	}
	w, err := hist.NewWriter(f, time.Unix(0, 0))
	if err == nil {
		err = w.Write(hist.Interval{Start: time.Unix(0, 0), Length: time.Second, Histogram: &h})
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return Said{}, err
	}
	read, err := readLog(path)
	if err != nil {
		return Said{}, err
	}
	s := Said{Text: fmt.Sprintf("%d of %d beyond %s, largest %s", h.Saturated(), h.Count(), time.Duration(hist.Limit), time.Duration(h.Max()))}
	if s.Warned = h.Saturated() > 0; s.Warned {
		s.Reason = "saturated"
	}
	slices.Sort(long)
	largest := long[len(long)-1]
	for name, of := range map[string]*hist.Histogram{"recorded": &h, "read": read} {
		inRange := hist.Rank(float64(1001)/float64(of.Count()), of.Count()) // the first of the long ones
		if of.Count() != 1000+int64(len(long)) || name == "recorded" && of.Max() != largest {
			s.wrongf("%s: %d counted, the largest %d; the truth is %d and %d", name, of.Count(), of.Max(), 1000+len(long), largest)
		}
		s.near(name+" time beyond a minute in s", float64(of.AtRank(inRange))/1e9, float64(long[0])/1e9, 0.001, 0)
	}
	return s, nil
}

// readLog is all intervals of a log that have no tag.
func readLog(path string) (*hist.Histogram, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return hist.Total(f, "")
}

// averaged loads two servers, as two generators would, and pools what was recorded.
func (b *Bench) averaged(trap bool) (Said, error) {
	fast := b.milliseconds(5, 20)
	slow := fast
	if trap {
		slow = time.Duration(b.between(8, 20) * float64(fast))
	}
	var pooled hist.Histogram
	var rows []int64
	var medians []float64
	for i, service := range []time.Duration{fast, slow} {
		url, stop, err := serve(&Stub{Service: service})
		if err != nil {
			return Said{}, err
		}
		out := filepath.Join(b.Dir, fmt.Sprint(i))
		// The slow one is asked a tenth as much: a mean that weighs the two alike is far off.
		a, err := b.load(url, "--rate", fmt.Sprintf("%.0f/s", b.between(110, 150)/float64(1+9*i)), "--for", "1500ms", "--out", out, "--operations", "all")
		stop()
		if err != nil {
			return Said{}, err
		}
		medians = append(medians, ms(a.Response.P50))
		h, err := readLog(filepath.Join(out, "response.hlog"))
		if err != nil {
			return Said{}, err
		}
		pooled.Merge(h)
		kept, err := parquet.ReadFile[load.Row](filepath.Join(out, "operations.parquet"))
		if err != nil {
			return Said{}, fmt.Errorf("read operations: %w", err)
		}
		for _, r := range kept {
			rows = append(rows, r.DoneNS-r.IntendedNS)
		}
	}
	slices.Sort(rows)
	s := Said{}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		truth := float64(rows[hist.Rank(q, int64(len(rows)))-1]) / 1e6
		s.near(fmt.Sprintf("merged %g-quantile in ms", q), float64(pooled.Quantile(q))/1e6, truth, 0.002, 0.01)
	}
	truth, mean := float64(pooled.Quantile(0.5))/1e6, (medians[0]+medians[1])/2
	s.Text = fmt.Sprintf("p50 of the merged counts %.1f ms, as of the pooled operations; the mean of both p50 is %.1f ms", truth, mean)
	if s.Warned = mean > 2*truth; s.Warned {
		s.Reason = "merged by counts"
	}
	return s, nil
}

// pinned lets every answer take as long as the load itself.
func (b *Bench) pinned(trap bool) (Said, error) {
	lasts := b.milliseconds(500, 700)
	service := lasts
	if !trap {
		service = time.Duration(b.between(0.2, 0.7) * float64(lasts))
	}
	url, stop, err := serve(&Stub{Service: service})
	if err != nil {
		return Said{}, err
	}
	defer stop()
	f, err := b.run(claim(url, fmt.Sprintf("%.1f/s", b.between(150, 200)), lasting(lasts), "5s", "value: p50(response_time)", "< 5s"))
	if err != nil {
		return Said{}, err
	}
	s := f.verdict("UNTESTED", "censored")
	if h := f.Hypotheses; !trap && len(h) > 0 && s.Noise == "" && h[0].Verdict != "PASS" {
		s.wrongf("%s %s", h[0].Verdict, h[0].Reason)
	}
	return s, nil
}

// paced compares two layouts of which one can do twice as much as the other, under a rate that both
// can do, or under one that neither can.
func (b *Bench) paced(trap bool) (Said, error) {
	service := b.milliseconds(40, 80)
	slots := 2 + b.Rand.IntN(3)
	rate := 2 * float64(slots) / service.Seconds() * b.between(1.3, 1.6)
	if trap {
		rate = float64(slots) / service.Seconds() * b.between(0.3, 0.8)
	}
	var urls [2]string
	for i := range urls {
		url, stop, err := serve(&Stub{Service: service, Slots: slots * (i + 1)})
		if err != nil {
			return Said{}, err
		}
		defer stop()
		urls[i] = strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	}
	f, err := b.run(fmt.Sprintf(`experiment: paced
factors: {layout: ["%s", "%s"]}
blocks: 6
retries: 0
load:
  http: {url: "http://{layout}/"}
  rate: "%.1f/s"
  for: 600ms
  timeout: 5s
hypotheses:
  H1:
    claim: The second layout does more.
    ratio: rate
    of: {layout: "%s"}
    to: {layout: "%s"}
    expect: "> 1.3"
`, urls[0], urls[1], rate, urls[1], urls[0]))
	if err != nil {
		return Said{}, err
	}
	s := f.verdict("UNTESTED", "censored")
	if h := f.Hypotheses; !trap && len(h) > 0 && s.Noise == "" && h[0].Verdict != "PASS" {
		s.wrongf("%s %s", h[0].Verdict, h[0].Reason)
	}
	return s, nil
}

// remembered sends bodies that differ from operation to operation, each time the same ones or each
// time others, to a target with a cache.
func (b *Bench) remembered(trap bool) (Said, error) {
	body := "{trial}-{operation}"
	if trap {
		body = []string{"prompt {operation}", "{seed} {operation}", "{operation}"}[b.Rand.IntN(3)]
	}
	url, stop, err := serve(&Stub{Service: b.milliseconds(60, 120), Cache: true})
	if err != nil {
		return Said{}, err
	}
	defer stop()
	f, err := b.run(fmt.Sprintf(`experiment: remembered
factors: {layout: [one, two]}
blocks: 6
retries: 0
load:
  http:
    url: "%s"
    method: POST
    body: {text: "%s"}
  rate: "%.1f/s"
  for: 500ms
  timeout: 5s
hypotheses:
  H1:
    claim: The second layout is as fast.
    value: p50(response_time)
    expect: "< 1s"
`, url, body, b.between(100, 180)))
	if err != nil {
		return Said{}, err
	}
	s := f.verdict("VOID", "guard:warm")
	if h := f.Hypotheses; !trap && len(h) > 0 && s.Noise == "" && h[0].Verdict != "PASS" {
		s.wrongf("%s %s", h[0].Verdict, h[0].Reason)
	}
	return s, nil
}
