package engine

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/target"
	"github.com/assaybench/assay/telemetry"
)

// stateFile holds, of a trial that hung, what its processes were doing.
const stateFile = "hung.txt"

// errHung says that a load was ended because nothing was answered any more.
var errHung = errors.New("no progress")

// goroutinesWithin is how long a Go program may take to write its goroutines down.
const goroutinesWithin = 2 * time.Second

// stuck writes down what the trial's processes wait for, before a hung trial is ended. A Go program
// is asked for its goroutines (SIGQUIT), which go to where it writes its errors.
func (t *trial) stuck(pid int) {
	var b strings.Builder
	objects := t.run.services.objects()
	if pid != 0 {
		objects = append([]telemetry.Object{{Name: commandObject, PID: pid}}, objects...)
	}
	for _, o := range objects {
		b.WriteString(telemetry.Dump(o))
	}
	if err := os.WriteFile(filepath.Join(t.dir, stateFile), []byte(b.String()), 0o666); err != nil {
		t.later("hung: " + err.Error())
	}
	t.later(fmt.Sprintf("hung: no progress for %s; what it was doing stands in %s: %s",
		assay.FormatDuration(t.setting.Workload.Hung.After), stateFile, oneLine(b.String())))
	if pid != 0 && goProgram(pid) && target.Strike(pid, "QUIT") == nil {
		t.later("hung: its goroutines stand in " + stderrFile)
		gone := func() bool { _, err := os.Stat(fmt.Sprintf("/proc/%d/fd/0", pid)); return err != nil }
		for until := time.Now().Add(goroutinesWithin); time.Now().Before(until) && !gone(); {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// goProgram reports whether a process is a Go program, which SIGQUIT makes write its goroutines down.
func goProgram(pid int) bool {
	_, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil
}

// oneLine is the beginning of a dump for a note.
func oneLine(dump string) string {
	const most = 600
	s := strings.Join(strings.FieldsFunc(dump, func(r rune) bool { return r == '\n' }), ";")
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}

// progressing watches a load's account and ends the load when nothing was answered for as long as the
// file allows; never where the file does not say.
func (t *trial) progressing(after time.Duration, end context.CancelCauseFunc) func(load.Progress) {
	if after <= 0 {
		return func(load.Progress) {}
	}
	var answered int64
	moved := time.Now()
	return func(p load.Progress) {
		n := p.Ledger.OK + p.Ledger.TimedOut
		for _, failed := range p.Ledger.Errors {
			n += failed
		}
		// A timeout is an end, but no progress of the target's.
		if n-p.Ledger.TimedOut != answered || p.InFlight == 0 {
			answered, moved = n-p.Ledger.TimedOut, time.Now()
		}
		if time.Since(moved) >= after {
			moved = time.Now()
			t.stuck(0)
			end(errHung)
		}
	}
}

// passes executes the workload again in the same processes: what is fine once and not twice has
// accumulated something, and what it ran into is no limit of the first pass.
func (t *trial) passes(ctx context.Context, w *assay.Workload) {
	for pass := 2; pass <= t.run.Experiment.Passes && t.record.Outcome == assay.OK && ctx.Err() == nil; pass++ {
		again := &trial{run: t.run, setting: t.setting, step: t.step, values: t.values,
			dir: filepath.Join(t.dir, fmt.Sprintf("pass%d", pass)), record: fresh(t.record)}
		if err := os.MkdirAll(again.dir, 0o777); err != nil {
			t.note(fmt.Sprintf("pass %d: %v", pass, err))
			return
		}
		again.work(ctx, w)
		t.afterPass(pass, again)
	}
}

// afterPass takes into the record what came of a later pass. The figures stay those of the first.
func (t *trial) afterPass(pass int, again *trial) {
	for _, note := range again.record.Notes {
		t.note(fmt.Sprintf("pass %d: %s", pass, note))
	}
	if v, ok := again.record.Measures[assay.MeasureKey(assay.MeasureRef{Name: "wall"})]; ok {
		t.derived(fmt.Sprintf("pass%d_wall_ns", pass), v.Number)
	}
	t.record.Valid = t.record.Valid && again.record.Valid
	t.record.VoidBy = append(t.record.VoidBy, again.record.VoidBy...)
	t.record.RefusedBy = append(t.record.RefusedBy, again.record.RefusedBy...)
	t.killed = again.killed
	if again.record.Outcome == assay.OK {
		return
	}
	t.record.Outcome = again.record.Outcome
	t.note(fmt.Sprintf("accumulation: pass %d was ok, pass %d in the same processes was %s: something is left over from pass to pass, and what it ran into is no ceiling",
		pass-1, pass, again.record.Outcome))
}

// fresh is a record of the same trial with nothing in it yet.
func fresh(r assay.Trial) assay.Trial {
	r.Outcome, r.Valid, r.Exit, r.Signal = "", true, 0, ""
	r.VoidBy, r.RefusedBy, r.Notes = []string{}, []string{}, []string{}
	r.Measures, r.Achieved = map[string]assay.Value{}, map[string]assay.Value{}
	return r
}
