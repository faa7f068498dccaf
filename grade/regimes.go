package grade

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
)

const (
	regimeChance = 0.01  // p value at which a split of one cell's trials into two counts
	regimeGap    = 0.05  // and the least gap, as a share of the median: less is no regime but a step of the clock
	regimeDraws  = 48000 // values drawn for the test's null distribution, in so many draws:
	regimeFewest = 1000
	regimeMany   = 4000
	regimeMost   = 200 // trials looked at: every so many of a longer series
	regimeSeed   = 1
)

// A regime split is a cell whose trials fall into two groups, between which no median means anything.
type regimeSplit struct {
	low, high []int // trials, as indexes into the log
	cut       float64
	term      string // the recorded condition that parts the two in the same way; empty for none
}

// regimesOf parts the trials of a list, each with its number, if they stand in two regimes.
func (j *judge) regimesOf(f *field, trials []int, xs []float64) (r regimeSplit, ok bool) {
	if step := (len(xs) + regimeMost - 1) / regimeMost; step > 1 {
		var t []int
		var y []float64
		for i := 0; i < len(xs); i += step {
			t, y = append(t, trials[i]), append(y, xs[i])
		}
		trials, xs = t, y
	}
	least := regimeGap * math.Abs(stat.Median(xs))
	if s, ok := stat.LargestGap(xs); !ok || s.Gap < least {
		return r, false
	}
	null, ok := j.splits[len(xs)]
	if !ok {
		null = stat.NewSplitNull(len(xs), min(max(regimeDraws/len(xs), regimeFewest), regimeMany), regimeSeed)
		j.splits[len(xs)] = null
	}
	s, p := null.Test(xs)
	if !(p < regimeChance) || s.Gap < least {
		return r, false
	}
	r.cut = s.Cut
	for _, i := range s.Low {
		r.low = append(r.low, trials[i])
	}
	for _, i := range s.High {
		r.high = append(r.high, trials[i])
	}
	r.term = j.partingTerm(f, r)
	return r, true
}

// regimes finds that the finding's one cell stands in two regimes.
func (j *judge) regimes(c *comparison, out *Finding) bool {
	var trials []int
	var xs []float64
	for _, p := range c.pairs {
		if p.of.exact() && !p.of.bound && p.of.trial > 0 {
			trials, xs = append(trials, int(p.of.trial-1)), append(xs, p.of.low)
		}
	}
	r, ok := j.regimesOf(c.f, trials, xs)
	if !ok {
		return false
	}
	out.say(assay.Void, assay.Regimes, j.describe(c.f, r))
	out.Estimate, out.Low, out.High = math.NaN(), math.NaN(), math.NaN()
	return true
}

// describe says both regimes and what parts them, or what would settle it.
func (j *judge) describe(f *field, r regimeSplit) string {
	median := func(trials []int) float64 {
		var xs []float64
		for _, i := range trials {
			xs = append(xs, f.entries[i].low)
		}
		return stat.Median(xs)
	}
	n, m := len(r.low), len(r.high)
	s := fmt.Sprintf("two regimes: %d trials near %s, %d near %s; no median across them", n, figure(median(r.low), f.Unit.Name), m, figure(median(r.high), f.Unit.Name))
	if r.term != "" {
		return s + "; " + r.term
	}
	rarer := float64(min(n, m)) / float64(n+m)
	return s + fmt.Sprintf("; nothing recorded parts them; make the suspected cause a factor: with %d more trials a level, the rarer regime shows at least once with a chance of 95%%",
		int(math.Ceil(math.Log(alpha)/math.Log(1-rarer))))
}

// partingTerm looks among everything recorded for what parts the trials in the same way: a text that
// no trial of the other regime has, or a number with a threshold between the regimes. Of several the
// first by name is told, and how many more there are; chance alone is excluded by Fisher's exact test,
// divided over all that was tried.
func (j *judge) partingTerm(f *field, r regimeSplit) string {
	names := j.recordedNames(f, append(slices.Clone(r.low), r.high...))
	if p := stat.FisherExact(len(r.low), 0, 0, len(r.high)); p > alpha/float64(max(len(names), 1)) {
		return ""
	}
	var found []string
	for _, name := range names {
		if how := j.parts(name, r); how != "" {
			found = append(found, how)
		}
	}
	if len(found) == 0 {
		return ""
	}
	more := ""
	if len(found) > 1 {
		more = fmt.Sprintf(" (and %d other recorded terms part them too: %s)", len(found)-1, shortList(found[1:]))
	}
	return "they part by " + found[0] + more + "; make it a factor"
}

func shortList(names []string) string {
	const most = 3
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, "; ")
}

// recordedNames are what the trials recorded beside the measure itself, the declared measures first.
func (j *judge) recordedNames(f *field, trials []int) []string {
	seen := map[string]bool{}
	var declared, rest []string
	for _, i := range trials {
		for name := range j.Trials[i].Measures {
			if seen[name] || name == f.Ref.String() {
				continue
			}
			seen[name] = true
			if slices.ContainsFunc(j.Experiment.Measures, func(m assay.Measure) bool { return m.Name == name }) {
				declared = append(declared, name)
			} else {
				rest = append(rest, name)
			}
		}
	}
	slices.Sort(declared)
	slices.Sort(rest)
	return append(append(declared, rest...), "order in time", "position in the block")
}

// recorded is the named record of a trial.
func (j *judge) recorded(name string, trial int) (assay.Value, bool) {
	switch name {
	case "order in time":
		return assay.Num(float64(trial)), true
	case "position in the block":
		return assay.Num(float64(j.Trials[trial].Position)), true
	}
	v, ok := j.Trials[trial].Measures[name]
	return v, ok
}

// parts says how the named record parts the two regimes without an exception; empty if it does not.
func (j *judge) parts(name string, r regimeSplit) string {
	numbers := [2][]float64{}
	texts := [2]map[string]bool{{}, {}}
	for side, trials := range [][]int{r.low, r.high} {
		for _, i := range trials {
			v, ok := j.recorded(name, i)
			switch {
			case !ok:
				return ""
			case v.IsText:
				texts[side][v.Text] = true
			default:
				numbers[side] = append(numbers[side], v.Number)
			}
		}
	}
	a, b := numbers[0], numbers[1]
	switch {
	case len(a) > 0 && len(b) > 0 && len(texts[0])+len(texts[1]) == 0:
		if slices.Max(a) < slices.Min(b) {
			return fmt.Sprintf("%s: at most %s in the low one, at least %s in the high one", name, figure(slices.Max(a), ""), figure(slices.Min(b), ""))
		}
		if slices.Max(b) < slices.Min(a) {
			return fmt.Sprintf("%s: at least %s in the low one, at most %s in the high one", name, figure(slices.Min(a), ""), figure(slices.Max(b), ""))
		}
	case len(a)+len(b) == 0 && len(texts[0]) > 0 && len(texts[1]) > 0:
		for text := range texts[0] {
			if texts[1][text] {
				return ""
			}
		}
		return fmt.Sprintf("%s: %s in the low one, %s in the high one", name, list(sortedSet(texts[0])), list(sortedSet(texts[1])))
	}
	return ""
}
