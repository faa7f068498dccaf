package engine

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/telemetry"
)

// scrapePatience bounds a scrape before or after a trial.
const scrapePatience = 5 * time.Second

// A counter is what a target says that it has counted: delta: prom(target, metric).
type counter struct {
	measure        string
	target, metric string
}

// counters are the measures that are differences of a target's own counters.
func counters(e *assay.Experiment) []counter {
	var list []counter
	for _, m := range e.Measures {
		inner, ok := strings.CutPrefix(m.Source.Delta, "prom(")
		if !ok {
			continue
		}
		name, metric, _ := strings.Cut(strings.TrimSuffix(inner, ")"), ",")
		list = append(list, counter{m.Name, strings.TrimSpace(name), strings.TrimSpace(metric)})
	}
	return list
}

// scrape reads every counter once. One that cannot be read is noted and missing: it is no zero.
func (t *trial) scrape(ctx context.Context) map[string]float64 {
	list := counters(t.run.Experiment)
	if len(list) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), scrapePatience)
	defer cancel()
	var client http.Client
	defer client.CloseIdleConnections()
	values, pages := map[string]float64{}, map[string][]telemetry.Scraped{}
	for _, c := range list {
		page, ok := pages[c.target]
		if !ok {
			var err error
			if page, err = telemetry.Scrape(ctx, &client, t.metricsOf(c.target)); err != nil {
				t.note(fmt.Sprintf("measure %s: %v", c.measure, err))
			}
			pages[c.target] = page
		}
		if v, ok := telemetry.Metric(page, c.metric); ok {
			values[c.measure] = v
		} else if page != nil {
			t.note(fmt.Sprintf("measure %s: %s has no metric %s", c.measure, c.target, c.metric))
		}
	}
	return values
}

// metricsOf is the address of a target's metrics.
func (t *trial) metricsOf(name string) string {
	for _, a := range t.setting.Workload.Targets {
		if a.Name == name {
			return a.Prometheus
		}
	}
	return ""
}

// count records what the counters moved by between two scrapes. One that fell was reset: a target
// that started again has no difference.
func (t *trial) count(before, after map[string]float64) {
	for name, now := range after {
		then, ok := before[name]
		switch {
		case !ok:
		case now < then:
			t.note(fmt.Sprintf("measure %s: the counter fell from %v to %v: it was reset", name, then, now))
		default:
			t.record.Measures[name] = assay.Num(now - then)
		}
	}
}

// disagreement is agree(a, b): by how much two independent counters of one thing differ, as a part of
// the larger.
func (t *trial) disagreement(object string) (float64, error) {
	left, right, ok := strings.Cut(object, ",")
	if !ok {
		return 0, fmt.Errorf("agree(%s): want two measures, as in agree(bytes, wire)", object)
	}
	var x [2]float64
	for i, name := range []string{left, right} {
		ref, err := assay.ParseMeasureRef(name)
		if err != nil {
			return 0, err
		}
		v, unit, err := t.value(ref)
		if err != nil {
			return 0, err
		}
		x[i] = v.Number * unit.Scale
	}
	if x[0] == x[1] {
		return 0, nil
	}
	return math.Abs(x[0]-x[1]) / math.Max(math.Abs(x[0]), math.Abs(x[1])), nil
}
