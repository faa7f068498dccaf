package measure

import (
	"time"

	"github.com/assaybench/assay"
)

// A Pending operation of a probe was sent and has not come back: the age that it has by now is a
// lower bound of what it will take.
type Pending struct {
	Ref    assay.MeasureRef // the probe's measure, such as rtt(share)
	SentNS int64            // since the trial began
}

// Window is the value of a kill rule's measure over its window, which ends at nowNS and is as long
// as the rule's over. Readings are of one trial, in any order; a measure without a statistic is its
// mean, and without a window the last reading. A pending operation counts with its age where that is
// more than what the others gave: a probe that never comes back must not hide the harm. ok is false
// while the window holds nothing, or while the trial is younger than the window: a rule cannot have
// held over a time that has not passed.
func Window(c assay.Condition, readings []Reading, pending []Pending, nowNS int64) (v assay.Value, ok bool) {
	if nowNS < int64(c.Over) {
		return assay.Value{}, false
	}
	how := c.Measure.Stat
	if how == "" {
		how = "mean"
	}
	xs, last := collect(c.Measure, c.Over, readings, nowNS)
	if c.Over == 0 && c.Measure.Stat == "" && len(xs) > 0 {
		xs = []float64{last}
	}
	x, ok := 0.0, false
	if len(xs) > 0 {
		x, ok = statistic(xs, how)
	}
	late := xs
	for _, p := range pending {
		age := float64(nowNS - p.SentNS)
		if p.Ref.Name == c.Measure.Name && p.Ref.Object == c.Measure.Object && age >= 0 && (!ok || age > x) {
			late = append(late, age)
		}
	}
	if len(late) > len(xs) {
		x, ok = statistic(late, how)
	}
	return assay.Num(x), ok
}

// collect is the values within the window (all of them with over 0), and the newest of them.
func collect(ref assay.MeasureRef, over time.Duration, readings []Reading, nowNS int64) (xs []float64, last float64) {
	newest := int64(-1)
	for _, r := range readings {
		if !r.Of(ref) || r.TNS > nowNS || over > 0 && r.TNS <= nowNS-int64(over) {
			continue
		}
		xs = append(xs, r.Value)
		if r.TNS >= newest {
			newest, last = r.TNS, r.Value
		}
	}
	return xs, last
}
