package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/telemetry"
)

// Bounds of the stall guard. At ten readings a second two idle intervals are the least wait that is
// told from one between two readings. A command that has or wants no core in half of the rest waits
// by nature (for a disk, a network, a clock), and its waits are its figure.
const (
	stallLeast = 200 * time.Millisecond
	idleShare  = 0.05
	busyShare  = 0.5
	// stallAfter spares short commands the look at them.
	stallAfter = 100 * time.Millisecond
	// stallKeep is how much of a trial is looked at: its end.
	stallKeep = 2 * time.Hour
)

// A lookout notes when the trial's command works and when it only waits.
type lookout struct {
	series *telemetry.Series
	began  time.Duration // of the first reading, since the command was started
}

// lookForWaits begins to look at the trial's command, once it has executed for a moment. stop ends
// that and judges what was seen.
func (t *trial) lookForWaits(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	start := time.Now()
	var began sync.WaitGroup
	var l *lookout
	began.Go(func() {
		if pause(ctx, stallAfter); ctx.Err() != nil {
			return
		}
		work := &telemetry.Work{PID: func() int { return int(t.pid.Load()) }, Object: commandObject}
		series, err := telemetry.Watch{Samplers: []telemetry.Sampler{work}, Keep: stallKeep}.Start(context.WithoutCancel(ctx))
		if err != nil {
			t.later(err.Error())
			return
		}
		l = &lookout{series, time.Since(start)}
	})
	return func() {
		cancel()
		began.Wait()
		if l == nil {
			return
		}
		if _, err := l.series.Stop(); err != nil {
			t.note(err.Error())
		}
		t.stalls(l.waits())
		t.findings(l.series)
		t.crowd(commandObject, telemetry.Values(l.series.Window("runnable", commandObject, stallKeep)))
	}
}

// waits are what was seen of a command.
type waits struct {
	span, waited, stalled time.Duration
	stalls                int
	longest, at           time.Duration // of the longest stall: how long, and when it began
	disk                  bool          // a thread waited uninterruptibly in it
	busy                  float64       // share of the rest in which a core was had or wanted
}

// waits looks for stretches in which the command neither had a core nor wanted one, between stretches
// in which it worked.
func (l *lookout) waits() waits {
	ran := l.series.Window("ran", commandObject, stallKeep)
	queued := l.series.Window("queued", commandObject, stallKeep)
	blocked := l.series.Window("waiting_disk", commandObject, stallKeep)
	var w waits
	var work, run, from time.Duration
	worked, disk := false, false
	for i := 1; i < len(ran) && i < len(queued) && i < len(blocked); i++ {
		took := ran[i].At - ran[i-1].At
		active := time.Duration(ran[i].Value + queued[i].Value)
		w.span += took
		if float64(active) < idleShare*float64(took) {
			if run == 0 {
				from, disk = ran[i-1].At, false
			}
			run, w.waited = run+took, w.waited+took
			disk = disk || blocked[i].Value > 0
			continue
		}
		if run >= stallLeast && worked {
			w.stalls, w.stalled = w.stalls+1, w.stalled+run
			if run > w.longest {
				w.longest, w.at, w.disk = run, l.began+from, disk
			}
		}
		run, worked = 0, true
		work += min(active, took)
	}
	if rest := w.span - w.waited; rest > 0 {
		w.busy = float64(work) / float64(rest)
	}
	return w
}

// stalls records what share of the trial its command waited, and names waits inside it. Where the
// command works otherwise and nobody expects them, they void the trial: their time is priced as if it
// were work.
func (t *trial) stalls(w waits) {
	if w.span == 0 {
		return
	}
	t.derived("wait_ratio", float64(w.waited)/float64(w.span))
	if w.stalls == 0 || w.busy < busyShare {
		return
	}
	lever := "what it waits for (a timer, a back-off, a queue that is full or empty)"
	if w.disk {
		lever = "the disk or share that it waits for"
	}
	text := fmt.Sprintf("%d waits of %v or more inside the trial, %.0f%% of it; the longest was %v from %v on, and no thread wanted a core; in %.0f%% of the rest one did; lever: %s, or expect_stall: true if it is what you measure",
		w.stalls, stallLeast, 100*float64(w.stalled)/float64(w.span), w.longest.Round(10*time.Millisecond), w.at.Round(10*time.Millisecond), 100*w.busy, lever)
	if t.setting.Workload.ExpectStall {
		t.note("stall, as expected: " + text)
		return
	}
	t.void("stall", text)
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
