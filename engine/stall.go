package engine

import (
	"fmt"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
)

// Bounds of the stall guard. At ten readings a second two idle intervals are the least wait that is
// told from one between two readings; a command whose work does not fill half a core while it works
// waits by nature (for a disk, a network, a clock), and its waits are its figure.
const (
	stallLeast = 200 * time.Millisecond
	idleCores  = 0.05 // below this nothing was done: ticks of 10 ms in an interval of 100 ms
	busyCores  = 0.5
)

// waits are what the readings say about when a command worked and when it only waited.
type waits struct {
	span, waited, stalled time.Duration
	stalls                int
	longest, at           time.Duration // of the longest stall: how long, and when it began
	disk                  bool          // a thread waited uninterruptibly in it
	busy                  float64       // cores, mean over what was no wait
}

// share is the part of the span that was waited.
func (w waits) share() float64 {
	if w.span <= 0 {
		return 0
	}
	return float64(w.waited) / float64(w.span)
}

// waitsOf looks for stretches in which an object used no processor and had nothing to run, between
// stretches in which it worked. A thread that is runnable and does not run waits for a core: that is
// the machine, and no stall.
func waitsOf(readings []measure.Reading, object string) waits {
	var w waits
	var work float64 // cores x ns
	var run, began time.Duration
	var last int64
	worked, disk := false, false
	runnable, blocked := beside(readings, "runnable", object), beside(readings, "waiting_disk", object)
	for _, r := range readings {
		if r.Name != "cpu" || r.Object != object {
			continue
		}
		if last == 0 {
			last = r.TNS // the first interval began before the watch
			continue
		}
		took := time.Duration(r.TNS - last)
		w.span += took
		if r.Value < idleCores && runnable(r.TNS) == 0 {
			if run == 0 {
				began, disk = time.Duration(last), false
			}
			run, w.waited = run+took, w.waited+took
			disk = disk || blocked(r.TNS) > 0
			last = r.TNS
			continue
		}
		if run >= stallLeast && worked {
			w.stalls, w.stalled = w.stalls+1, w.stalled+run
			if run > w.longest {
				w.longest, w.at, w.disk = run, began, disk
			}
		}
		run, worked = 0, worked || r.Value >= busyCores
		work += r.Value * float64(took)
		last = r.TNS
	}
	if d := w.span - w.waited; d > 0 {
		w.busy = work / float64(d)
	}
	return w
}

// beside finds an object's reading of a name at about a time; 0 where there is none.
func beside(readings []measure.Reading, name, object string) func(ns int64) float64 {
	var list []measure.Reading
	for _, r := range readings {
		if r.Name == name && r.Object == object {
			list = append(list, r)
		}
	}
	const near = int64(60 * time.Millisecond)
	i := 0
	return func(ns int64) float64 {
		for i < len(list) && list[i].TNS < ns-near {
			i++
		}
		if i < len(list) && list[i].TNS <= ns+near {
			return list[i].Value
		}
		return 0
	}
}

// stalls names waits inside the trial and, where the command works otherwise and nobody expects them,
// voids it: their time is priced as if it were work. Beside a target a wait may be the target's or
// the machine's: there it is only named.
func (t *trial) stalls(readings []measure.Reading) {
	w := waitsOf(readings, commandObject)
	if w.span == 0 {
		return
	}
	t.derived("wait_ratio", w.share())
	if w.stalls == 0 || w.busy < busyCores {
		return
	}
	lever := "what it waits for (a timer, a back-off, a full or an empty queue)"
	if w.disk {
		lever = "the disk or share that it waits for"
	}
	text := fmt.Sprintf("%d waits of %v or more inside the trial, %.0f%% of it; the longest was %v from %v on, with no thread runnable; without waits the command used %.2f cores; lever: %s, or expect_stall: true if it is what you measure",
		w.stalls, stallLeast, 100*float64(w.stalled)/float64(w.span), w.longest.Round(10*time.Millisecond), w.at.Round(10*time.Millisecond), w.busy, lever)
	switch {
	case t.setting.Workload.ExpectStall:
		t.note("stall, as expected: " + text)
	case len(t.setting.Workload.Targets) > 0:
		t.note("stall: " + text)
	default:
		t.void("stall", text)
	}
}

// derived records a figure of Assay's own, unless the experiment has a measure of that name.
func (t *trial) derived(name string, x float64) {
	for _, m := range t.run.Experiment.Measures {
		if m.Name == name {
			return
		}
	}
	t.record.Measures[name] = assay.Num(x)
}
