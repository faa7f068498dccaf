package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Prometheus scrapes a target's own metrics, of which those that were asked for become readings
// prom(target, metric). It is a remote sampler: a target that hangs hangs its scrape.
type Prometheus struct {
	Target string
	URL    string
	// Metrics are names, or names with labels in braces as the target prints them. A name without
	// labels is the sum over all its label sets.
	Metrics []string

	client http.Client
}

// scrapeLimit bounds a scrape, in bytes.
const scrapeLimit = 16 << 20

// Source names the endpoint.
func (p *Prometheus) Source() string { return "prometheus of " + p.Target + ": " + p.URL }

// Close lets the connection go.
func (p *Prometheus) Close() error {
	p.client.CloseIdleConnections()
	return nil
}

// Read scrapes once. A metric that the target does not have is an error that names it, since a
// counter that is not there is no zero.
func (p *Prometheus) Read(ctx context.Context, emit Emit) error {
	metrics, err := Scrape(ctx, &p.client, p.URL)
	if err != nil {
		return fmt.Errorf("prometheus of %s: %w", p.Target, err)
	}
	var missing []string
	for _, want := range p.Metrics {
		v, ok := Metric(metrics, want)
		if !ok {
			missing = append(missing, want)
			continue
		}
		emit("prom", p.Target+", "+want, v)
	}
	if len(missing) > 0 {
		return fmt.Errorf("prometheus of %s: %s has no metric %s", p.Target, p.URL, strings.Join(missing, ", "))
	}
	return nil
}

// A Scraped line is one value of a metric with its labels, sorted by name.
type Scraped struct {
	Name   string
	Labels []Label
	Value  float64
}

// A Label is a dimension of a metric.
type Label struct{ Name, Value string }

// Scrape reads a Prometheus endpoint. It is what delta: prom(target, metric) takes before and after a trial.
func Scrape(ctx context.Context, client *http.Client, url string) ([]Scraped, error) {
	b, err := Fetch(ctx, client, url)
	if err != nil {
		return nil, err
	}
	list, err := ParseMetrics(b)
	if err != nil {
		return nil, fmt.Errorf("scrape %s: %w", url, err)
	}
	return list, nil
}

// Fetch reads a page of at most 16 MiB, with status 200.
func Fetch(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("scrape %s: %w", url, err)
	}
	req.Header.Set("Accept", "text/plain; version=0.0.4")
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("scrape %s: %w", url, err)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, scrapeLimit+1))
	err = errors.Join(err, resp.Body.Close())
	switch {
	case err != nil:
		return nil, fmt.Errorf("scrape %s: %w", url, err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("scrape %s: got status %d, want 200", url, resp.StatusCode)
	case len(b) > scrapeLimit:
		return nil, fmt.Errorf("scrape %s: more than %d bytes", url, scrapeLimit)
	}
	return b, nil
}

// Metric is the value of a metric by its name, with or without labels in braces: the sum over all
// label sets that have those labels. ok is false where there is none.
func Metric(list []Scraped, want string) (sum float64, ok bool) {
	pattern, err := ParseMetrics([]byte(want + " 0\n"))
	if err != nil || len(pattern) != 1 {
		return 0, false
	}
	for _, s := range list {
		if s.Name != pattern[0].Name || !s.has(pattern[0].Labels) {
			continue
		}
		sum += s.Value
		ok = true
	}
	return sum, ok
}

func (s Scraped) has(labels []Label) bool {
	for _, l := range labels {
		if !slices.Contains(s.Labels, l) {
			return false
		}
	}
	return true
}

// ParseMetrics reads the text exposition format 0.0.4
// (prometheus.io/docs/instrumenting/exposition_formats). Values that are no number of events, as the
// NaN of an empty summary, are left out. The library for it (prometheus/common/expfmt) would bring
// protobuf into every binary for what is one line of grammar.
func ParseMetrics(b []byte) ([]Scraped, error) {
	var list []Scraped
	n := 0
	for line := range bytes.Lines(b) {
		n++
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		s, err := parseMetric(text)
		if err != nil {
			return nil, fmt.Errorf("line %d %q: %w", n, text, err)
		}
		if !math.IsNaN(s.Value) {
			list = append(list, s)
		}
	}
	return list, nil
}

// parseMetric reads NAME[{LABELS}] VALUE [TIMESTAMP].
func parseMetric(text string) (Scraped, error) {
	end := strings.IndexAny(text, "{ \t")
	if end <= 0 {
		return Scraped{}, errors.New("want a name and a value")
	}
	s := Scraped{Name: text[:end]}
	rest := text[end:]
	if rest[0] == '{' {
		var err error
		if s.Labels, rest, err = parseLabels(rest[1:]); err != nil {
			return Scraped{}, err
		}
	}
	fields := strings.Fields(rest)
	if len(fields) != 1 && len(fields) != 2 {
		return Scraped{}, fmt.Errorf("got %d words after the name, want a value and perhaps a time", len(fields))
	}
	v, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return Scraped{}, fmt.Errorf("value %q: want a number", fields[0])
	}
	s.Value = v
	return s, nil
}

// parseLabels reads NAME="VALUE", … up to the closing brace and returns what follows it. Values may
// hold escaped quotes, backslashes and line ends.
func parseLabels(text string) (labels []Label, rest string, err error) {
	for {
		text = strings.TrimLeft(text, " \t,")
		if after, closed := strings.CutPrefix(text, "}"); closed {
			slices.SortFunc(labels, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
			return labels, after, nil
		}
		name, after, ok := strings.Cut(text, "=")
		after = strings.TrimLeft(after, " \t")
		if !ok || after == "" || after[0] != '"' {
			return nil, "", fmt.Errorf("labels at %q: want name=\"value\"", text)
		}
		var value strings.Builder
		i := 1
		for ; i < len(after) && after[i] != '"'; i++ {
			if after[i] != '\\' || i+1 == len(after) {
				value.WriteByte(after[i])
				continue
			}
			i++
			if after[i] == 'n' {
				value.WriteByte('\n')
			} else {
				value.WriteByte(after[i])
			}
		}
		if i >= len(after) {
			return nil, "", fmt.Errorf("labels at %q: the value has no closing quote", text)
		}
		labels = append(labels, Label{strings.TrimSpace(name), value.String()})
		text = after[i+1:]
	}
}
