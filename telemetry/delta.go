package telemetry

import (
	"fmt"
	"time"

	"github.com/assaybench/assay"
)

// A Delta is what happened on the machine between two snapshots.
type Delta struct {
	Wall time.Duration // by CLOCK_MONOTONIC, which stands still while the machine is suspended
	CPU  CPUTicks      // of all cores
	// Steal and Idle are shares of the time of all cores, 0 to 1; Idle includes waiting for disks.
	Steal, Idle float64
	// ClockStep is by how much CLOCK_REALTIME was set forward (or back) against CLOCK_MONOTONIC.
	// Both are slewed alike, so that a disciplined clock shows nothing here.
	ClockStep time.Duration
	Suspended time.Duration
	// SwapIn and SwapOut are bytes, of the whole machine.
	SwapIn, SwapOut int64
	OOMKills        int // of the whole machine
	// Heat counts slowings for heat. It means nothing unless HeatKnown.
	Heat      int
	HeatKnown bool
	Throttled []Throttling
}

// A Throttling is a control group that ran out of its processor quota.
type Throttling struct {
	Object    string // those that share the group are joined by " and "
	Group     string // folder
	Periods   int    // in which it was runnable
	Throttled int    // in which it was stopped
	Time      time.Duration
}

// A Finding is a default guard that did not hold: which, and in words mechanism, place and lever.
type Finding struct {
	Guard string // as in void_by, without "guard:"
	Text  string
}

// Bounds of the default guards. A step of less than a millisecond is within what reading two clocks
// one after the other can show; a swapped-in megabyte is the least that a figure would notice.
const (
	stealBound = 0.10
	// stealTicks is how long a trial must be, in ticks of all cores together (10 ms each), for a share of
	// it to be told: stolen time is booked late and in whole ticks. Half a second on two cores.
	stealTicks  = 100
	stepBound   = time.Millisecond
	swapInBound = 1 << 20
)

// Findings are the default guards that the delta breaks, none when all was well. None of it is the
// doing of a cell, but for throttling in a group that the cell itself declares.
func (d Delta) Findings() []Finding {
	var list []Finding
	add := func(guard, format string, args ...any) {
		list = append(list, Finding{guard, fmt.Sprintf(format, args...)})
	}
	// Times come in whole ticks: one tick less is what was stolen at the least.
	if total := d.CPU.Total(); d.CPU.Steal > 1 && total >= stealTicks && share(d.CPU.Steal-1, total) > stealBound {
		add("steal", "/proc/stat shows %.1f%% of all CPU time stolen by the hypervisor (%v of %v), more than %.0f%%: use a quieter or a dedicated host, or more blocks",
			100*d.Steal, ticks(d.CPU.Steal), ticks(total), 100*stealBound)
	}
	if step := d.ClockStep; step > stepBound || step < -stepBound {
		add("clock-step", "CLOCK_REALTIME was set by %v against CLOCK_MONOTONIC during the trial: stop the time daemon from stepping (chrony: makestep 0) or wait until it has settled", step)
	}
	if d.Suspended > stepBound {
		add("clock-step", "the machine was suspended for %v during the trial: inhibit sleep (systemd-inhibit)", d.Suspended)
	}
	if d.SwapIn > swapInBound {
		add("swap", "/proc/vmstat shows %.1f MiB swapped in during the trial: free memory, lower what the target keeps, or swapoff", float64(d.SwapIn)/(1<<20))
	}
	for _, t := range d.Throttled {
		add("throttled", "cpu.stat shows %d throttled periods of %d (%v) in %s (%s): raise its quota or lower its workers or threads",
			t.Throttled, t.Periods, t.Time.Round(time.Microsecond), t.Object, t.Group)
	}
	if d.HeatKnown && d.Heat > 0 {
		add("throttled", "thermal_throttle shows %d slowings for heat during the trial: cool the machine, pause between trials (gate on temp) or lower the clock rate for all cells", d.Heat)
	}
	return list
}

func ticks(n uint64) time.Duration { return time.Duration(n) * tick }

// Measures are what the delta contributes to a trial's measures, under their keys on disk.
func (d Delta) Measures() map[string]assay.Value {
	m := map[string]assay.Value{}
	if d.CPU.Total() > 0 {
		m[assay.MeasureKey(assay.MeasureRef{Name: "cpu_steal"})] = assay.Num(d.Steal)
		m[assay.MeasureKey(assay.MeasureRef{Name: "cpu_idle"})] = assay.Num(d.Idle)
	}
	return m
}
