package grade

import (
	"fmt"
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
	"github.com/assaybench/assay/stat"
)

// Whether a load's window was steady is asked of the medians of its seconds. The rule may veto the
// window and never moves it, and it is slow to do so, since near saturation the queue of a sane server
// wanders for longer than a window lasts: a trial is unsteady only if a change point stands in it, or
// MSER-5 would leave out all that it may, and its last quarter differs from its first by a quarter; a
// cell only if two in three of its trials are, in the same direction. Wandering goes up as often as down.
const (
	steadySeconds = 18  // seconds of a window below which nothing is asked
	steadyLong    = 100 // and below which MSER-5 is not: in shorter ones chance alone stops it at its limit
	// steadyPenalty, times ln n, is the price of a change point: less than PELT's usual one, by which a
	// window of 30 s hardly ever shows a warm-up, since trials must agree as well.
	steadyPenalty = 3
	steadyDrift   = 1.25
	steadyShare   = 0.85
)

// A drift is what the seconds of one trial's window show.
type drift struct {
	asked bool
	times float64 // the last quarter's median over the first's; 1 for a steady trial
}

// driftOf judges a series of medians, one a second.
func driftOf(seconds []float64) drift {
	n := len(seconds)
	if n < steadySeconds || slices.Min(seconds) <= 0 {
		return drift{}
	}
	logs := make([]float64, n)
	for i, x := range seconds {
		logs[i] = math.Log(x)
	}
	moved := len(stat.ChangePoints(logs, steadyPenalty*math.Log(float64(n)))) > 0
	if n >= steadyLong && !moved {
		s, ok := stat.MSER5(logs)
		moved = ok && s.AtLimit
	}
	times := math.Exp(stat.Median(logs[n-n/4:]) - stat.Median(logs[:n/4]))
	if !moved || times < steadyDrift && times > 1/steadyDrift {
		times = 1
	}
	return drift{true, times}
}

// unsteady says why a cell's times have no steady state; empty if they have, or nobody can tell. A time
// that grows under an open loop is the target's falling behind, which is a finding: it is noted and
// voids nothing.
func (j *judge) unsteady(f *field, cell int, out *Finding) string {
	if f.Ref.Name != "response_time" && f.Ref.Name != "service_time" {
		return ""
	}
	asked, short := 0, 0
	var faster, slower []float64
	for _, i := range j.trialsOf(f, cell) {
		load := j.loadOf(int(j.schedule.cell[i]))
		t := &j.Trials[i]
		if load == nil || t.Outcome != assay.OK || len(load.Steps) > 0 || slices.Contains(t.Notes, "overload") {
			continue
		}
		d := j.drift(f.Ref, i, load)
		switch {
		case !d.asked:
			short++
		case d.times < 1:
			faster = append(faster, d.times)
		case d.times > 1:
			slower = append(slower, d.times)
		}
		if d.asked {
			asked++
		}
	}
	need := steadyNeed(asked)
	where := f.cells[cell]
	switch {
	case asked == 0 && short > 0:
		text := fmt.Sprintf("whether %s was steady was not asked: that takes a median for each of %d s or more", f.Ref.Name, steadySeconds)
		if !slices.Contains(out.Notes, text) {
			out.note("%s", text)
		}
	case len(faster) >= need:
		return fmt.Sprintf("%s: no steady state: in %d of %d trials the operations of the last quarter of the window took %s times as long as those of the first; lever: a longer warmup",
			where, len(faster), asked, figure(stat.Median(faster), ""))
	case len(slower) >= need:
		text := fmt.Sprintf("%s: in %d of %d trials the operations of the last quarter of the window took %s times as long as those of the first",
			where, len(slower), asked, figure(stat.Median(slower), ""))
		if load := j.loadOf(f.members[cell][0]); load != nil && load.Clients > 0 {
			return text + ", and there is no steady state: something fills up or wears out"
		}
		out.note("%s: the target falls behind, or something fills up", text)
	}
	return ""
}

// steadyNeed is how many of so many trials must drift in one direction.
func steadyNeed(asked int) int { return max(2, int(math.Ceil(steadyShare*float64(asked)))) }

// drift is that of one trial; a log that cannot be read is none.
func (j *judge) drift(ref assay.MeasureRef, trial int, load *assay.Load) drift {
	key := fmt.Sprint(ref.Name, " ", trial)
	if d, ok := j.drifts[key]; ok {
		return d
	}
	var d drift
	if seconds, err := measure.Seconds(j.files(trial), ref, load.For); err == nil {
		d = driftOf(seconds)
	}
	j.drifts[key] = d
	return d
}
