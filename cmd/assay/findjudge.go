package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/measure"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/stat"
)

// An objective is a condition that a rate must meet, as a probe's account is held against it.
type objective struct {
	condition assay.Condition
	text      string
	unit      assay.Unit
	// share, when above 0, is the share of operations that must be good: the condition is then
	// decided by counting, with the chance of a wrong decision bounded. Else its value decides.
	share float64
}

// times are the measures that are times of operations, by their histogram.
func histogramOf(name string) string {
	return map[string]string{"response_time": "response", "service_time": "service", "lag": "lag"}[name]
}

// newObjective reads a condition that a search for the highest rate can use: one that more load can
// only make worse.
func newObjective(text string) (objective, error) {
	c, err := assay.ParseCondition(text)
	if err != nil {
		return objective{}, fmt.Errorf("--meets: %w", err)
	}
	o := objective{condition: c, text: c.String(), unit: assay.Unit{Scale: 1}}
	refuse := func(want string) (objective, error) {
		return objective{}, fmt.Errorf("--meets %q: want %s", text, want)
	}
	ref, upper := c.Measure, c.Op == assay.Less || c.Op == assay.LessEq
	switch {
	case c.Over > 0 || c.Patience > 0 || c.Bound.IsText || c.Bound.Times.Name != "" || ref.Object != "":
		return refuse("MEASURE OP BOUND with a number as the bound, such as 'p99(response_time) < 50ms'")
	case histogramOf(ref.Name) != "":
		if ref.Stat == "" || !upper {
			return refuse("a statistic of it and an upper bound, such as 'p99(" + ref.Name + ") < 50ms'")
		}
		o.unit = assay.Unit{Name: "ns", Dim: assay.Dimension{Base: "ns"}, Scale: 1}
		o.share, _ = assay.Quantile(ref.Stat)
	case ref.Name == "errors" && ref.Stat == "" && upper:
		if share := 1 - c.Bound.Quantity.In(o.unit); share < 1 {
			o.share = share
		}
	case ref.Name == "delivered" && ref.Stat == "" && (c.Op == assay.Greater || c.Op == assay.GreaterEq):
		if share := c.Bound.Quantity.In(o.unit); share < 1 {
			o.share = share
		}
	case (ref.Name == "rate" || ref.Name == "in_flight") && ref.Stat == "":
		if ref.Name == "rate" {
			o.unit.Name, o.unit.Dim.PerSecond = "/s", true
		}
	default:
		return refuse("a condition on response_time, service_time, lag, errors, delivered, rate or in_flight")
	}
	if q := c.Bound.Quantity; !q.Bare && !o.unit.Compatible(q.Unit) {
		return refuse(fmt.Sprintf("a bound that %s can be held against, not one in %q", ref, q.Unit.Name))
	}
	if o.share < 0 {
		return refuse("a bound between 0% and 100%")
	}
	return o, nil
}

// least is the fewest operations by which a probe can show that the condition is met, and by which
// a quantile can be printed.
func (o *objective) least() int {
	if o.share <= 0 {
		return 1
	}
	return max(stat.MinOperations(0, o.share, probeConfidence), stat.MinCount(o.share, probeConfidence))
}

// A ruling is what an account says of one objective.
type ruling struct {
	says   stat.Decision
	value  report.RateValue
	n, bad int // counted, where the objective is a share
}

// rule holds an account against the objective. What failed, timed out, was dropped or had no answer
// is bad, and infinite among the response times.
func (o *objective) rule(a *load.Account) ruling {
	r := ruling{value: report.RateValue{Measure: o.condition.Measure.String(), Unit: o.unit.Name}}
	v, err := o.value(a)
	switch {
	case err != nil: // too few operations to say
	case math.IsInf(v, 0):
		r.value.Infinite = true
	default:
		r.value.Value = &v
	}
	if o.share > 0 {
		r.n, r.bad = o.count(a)
		r.says = stat.DecideShare(r.n, r.bad, o.share, probeConfidence)
	} else if err == nil {
		r.says = stat.Refuted
		if o.condition.HoldsFor(assay.Num(v), o.unit, 0) {
			r.says = stat.Confirmed
		}
	}
	r.value.Says = word(r.says)
	return r
}

// due is the operations that were to be sent, and those of them that did not end ok.
func due(a *load.Account) (n, failed int64) {
	n = a.Planned - a.Cancelled
	return n, n - a.OK
}

// value is the measure of the objective.
func (o *objective) value(a *load.Account) (float64, error) {
	n, failed := due(a)
	if n == 0 {
		return 0, measure.ErrAbsent
	}
	switch ref := o.condition.Measure; ref.Name {
	case "errors":
		return float64(failed) / float64(n), nil
	case "delivered":
		return float64(a.Sent) / float64(n), nil
	case "rate":
		return a.CompletedPerS, nil
	case "in_flight":
		return a.InFlightMean, nil
	default:
		if ref.Name == "lag" {
			failed = 0
		}
		v, err := measure.Operations(a.Histograms[histogramOf(ref.Name)], failed, ref.Stat)
		return v.Number, err
	}
}

// count is the operations that a share is taken of, and the bad ones among them.
func (o *objective) count(a *load.Account) (n, bad int) {
	planned, failed := due(a)
	switch ref := o.condition.Measure; ref.Name {
	case "errors":
		return int(planned), int(failed)
	case "delivered":
		return int(planned), int(planned - a.Sent)
	case "lag":
		h := a.Histograms[histogramOf(ref.Name)]
		return int(h.Count()), int(h.Count() - o.good(h))
	default:
		return int(planned), int(planned - o.good(a.Histograms[histogramOf(ref.Name)]))
	}
}

// good is the number of times within the bound, each taken at the middle of its bucket.
func (o *objective) good(h *hist.Histogram) (n int64) {
	bound := o.condition.Bound.Quantity.In(o.unit)
	h.Each(func(low, high, count int64) bool {
		if !o.condition.Op.Holds(float64(low)/2+float64(high)/2, bound) {
			return false
		}
		n += count
		return true
	})
	return n
}

// verdict joins the rulings on one account: a rate misses when it misses one condition, and meets
// when it meets all. A target that falls behind the schedule misses whatever its times were: they
// would have grown had the probe lasted longer.
func verdict(a *load.Account, rulings []ruling) (says stat.Decision, why string) {
	says = stat.Confirmed
	for _, r := range rulings {
		switch {
		case r.says == stat.Refuted:
			return stat.Refuted, missed(a, r)
		case r.says == stat.Undecided:
			says, why = stat.Undecided, undecided(r)
		}
	}
	if a.Overload {
		return stat.Refuted, "overload: the server falls behind"
	}
	return says, why
}

func missed(a *load.Account, r ruling) string {
	_, failed := due(a)
	if worst := worstClass(a); worst != "" && (r.value.Infinite || 2*int(failed) > r.bad) {
		return "operations failed: " + worst
	}
	return r.value.Measure + " is " + r.value.Text()
}

func undecided(r ruling) string {
	if r.bad == 0 {
		return fmt.Sprintf("too few operations (%d) for %s", r.n, r.value.Measure)
	}
	return fmt.Sprintf("%d of %d operations: %s may be either", r.bad, r.n, r.value.Measure)
}

// lost counts what did not end ok, by class, timeouts and drops among them.
func lost(a *load.Account) map[string]int64 {
	out := map[string]int64{}
	for class, n := range a.Errors {
		out[class.String()] = n
	}
	for name, n := range map[string]int64{"timed_out": a.TimedOut, "dropped": a.Dropped, "in_flight_at_end": a.InFlightAtEnd} {
		if n > 0 {
			out[name] = n
		}
	}
	return out
}

// worstClass is the most frequent way in which operations were lost; empty when none was.
func worstClass(a *load.Account) string {
	counts := lost(a)
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		if counts[x] != counts[y] {
			return int(counts[y] - counts[x])
		}
		return slices.Compare([]byte(x), []byte(y))
	})
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%d of %d)", names[0], counts[names[0]], a.Planned)
}
