package main

import (
	"math"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/stat"
)

// nanoseconds in a second, as a scale.
const nsPerSecond = 1e9

// compared words what was judged as a comparison of commands.
func (r *comparisonRun) compared(f *report.Findings) report.Comparison {
	c := report.Comparison{Commands: []report.ComparedCommand{}, Comparisons: []report.CommandRatio{}, Margin: r.margin}
	for _, a := range r.arms {
		c.Commands = append(c.Commands, r.command(a, f))
	}
	for i, p := range r.pairs {
		c.Comparisons = append(c.Comparisons, r.ratio(p, &f.Verdicts.Hypotheses[i]))
	}
	return c
}

// command counts an arm's trials and states its median wall time. A trial that failed counts as
// longer than any.
func (r *comparisonRun) command(a arm, f *report.Findings) report.ComparedCommand {
	k := report.ComparedCommand{Command: a.text, Outcomes: map[string]int{}}
	for i := range f.Trials {
		t := &f.Trials[i]
		if t.Warmup || t.Cell.Key() != a.cell.Key() || !t.Valid || t.Outcome == assay.Interrupted {
			continue
		}
		k.Trials++
		k.Outcomes[string(t.Outcome)]++
		if t.Outcome == assay.OK {
			k.OK++
		}
	}
	if walls := wallsOf(a, f); k.OK > 0 {
		k.Median = seconds(stat.Median(walls))
		if low, high, ok := stat.SignInterval(walls, r.confidence()); ok {
			k.Low, k.High = seconds(low), seconds(high)
		}
	}
	return k
}

// wallsOf are an arm's wall times in nanoseconds: those of the trials that count, infinite where a
// trial failed.
func wallsOf(a arm, f *report.Findings) []float64 {
	var walls []float64
	for i := range f.Trials {
		t := &f.Trials[i]
		switch {
		case !t.Counts() || t.Cell.Key() != a.cell.Key():
		case t.Outcome == assay.OK:
			walls = append(walls, measured(t, compareWall))
		default:
			walls = append(walls, math.Inf(1))
		}
	}
	return walls
}

// seconds turns nanoseconds into seconds; nil for what is no number.
func seconds(ns float64) *float64 {
	if math.IsNaN(ns) || math.IsInf(ns, 0) {
		return nil
	}
	s := ns / nsPerSecond
	return &s
}

// ratio is the verdict on one pair in compare's words. Equal within the margin takes the whole
// interval; without that, they differ where the interval holds no 1.
func (r *comparisonRun) ratio(p armPair, v *assay.Verdict) report.CommandRatio {
	out := report.CommandRatio{Of: r.arms[p.of].text, To: r.arms[p.to].text, Sides: [2]int{p.of + 1, p.to + 1},
		Ratio: v.Estimate, Low: v.Low, High: v.High, Confidence: v.Confidence, Blocks: v.Blocks,
		Verdict: report.CannotTell, Reason: string(v.Reason)}
	if v.Verdict != assay.Pass && v.Verdict != assay.Fail && v.Reason != assay.Straddles {
		return out
	}
	switch {
	case r.margin > 0 && v.Verdict == assay.Pass:
		out.Verdict, out.Reason = report.SameWithin, string(assay.Holds)
	case without1(v):
		out.Verdict, out.Reason = report.Differs, string(assay.Holds)
	}
	return out
}

// without1 reports whether the interval lies on one side of 1. An end that is open is infinite
// above, or 0 below.
func without1(v *assay.Verdict) bool {
	return v.Low != nil && *v.Low > 1 || v.High != nil && *v.High < 1
}

// timings are the trials as other programs read them.
func (r *comparisonRun) timings(f *report.Findings) []report.Timing {
	list := make([]report.Timing, len(r.arms))
	for i, a := range r.arms {
		list[i] = report.Timing{Command: a.text, Parameters: a.vary}
		for n := range f.Trials {
			if t := &f.Trials[n]; t.Counts() && t.Cell.Key() == a.cell.Key() {
				addTiming(&list[i], t)
			}
		}
	}
	return list
}

func addTiming(to *report.Timing, t *assay.Trial) {
	number := func(name string) float64 { return measured(t, name) }
	to.Walls = append(to.Walls, number("wall")/nsPerSecond)
	to.Users = append(to.Users, number("user")/nsPerSecond)
	to.System = append(to.System, number("system")/nsPerSecond)
	to.RSS = append(to.RSS, int64(number("rss_peak")))
	to.Exits = append(to.Exits, t.Exit)
}

// measured is a trial's number of a built-in measure; 0 where it has none.
func measured(t *assay.Trial, name string) float64 {
	return t.Measures[assay.MeasureKey(assay.MeasureRef{Name: name})].Number
}
