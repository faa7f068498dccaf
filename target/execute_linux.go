package target

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assaybench/assay"
)

// Execute carries an invocation out and returns when nothing of it is left. A command that ends
// badly is no error: the Exit says how it ended. An error is a command that could not be started
// (the message names the path and the cause), or a guardian that was killed under it.
//
// When ctx is done the outcome is interrupted; the caller who ended ctx may know better.
func Execute(ctx context.Context, inv Invocation) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, fmt.Errorf("start %s: %w", strings.Join(inv.Args, " "), err)
	}
	o, err := inv.order()
	if err != nil {
		return Exit{}, err
	}
	f, closeFiles, err := inv.files()
	if err != nil {
		return Exit{}, err
	}
	defer closeFiles()
	t, err := plant(o, f)
	if err != nil {
		return Exit{}, err
	}
	w := watch{inv: inv, tree: t, grace: o.Grace}
	return w.follow(ctx)
}

// order is the invocation as a guardian wants it.
func (inv Invocation) order() (order, error) {
	o := order{
		Args: inv.Args, Env: inv.Env, Dir: inv.Dir, CPUs: inv.CPUs, Nice: inv.Nice,
		Grace: inv.Grace, EndAfter: true,
	}
	if len(inv.Args) == 0 {
		return o, fmt.Errorf("start command: it has no program")
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return o, fmt.Errorf("start %s: %w", inv.Args[0], err)
		}
		o.Dir = dir
	}
	o.Mark = markOf(o.Env)
	var err error
	if o.Limits, err = limitsOf(inv.Limits); err != nil {
		return o, fmt.Errorf("start %s: %w", inv.Args[0], err)
	}
	o.Path, err = lookUp(inv.Args[0], o.Dir, o.Env)
	return o, err
}

// files opens what the invocation did not bring along.
func (inv Invocation) files() (f files, closeAll func(), err error) {
	var opened []*os.File
	closeAll = func() {
		for _, file := range opened {
			file.Close()
		}
	}
	open := func(path string, flag int) *os.File {
		if err != nil {
			return nil
		}
		var file *os.File
		if file, err = os.OpenFile(path, flag, 0); err == nil {
			opened = append(opened, file)
		}
		return file
	}
	stdin := inv.Stdin
	if stdin == "" {
		stdin = os.DevNull
	}
	f = files{in: open(stdin, os.O_RDONLY), out: inv.Stdout, err: inv.Stderr}
	if f.out == nil {
		f.out = open(os.DevNull, os.O_WRONLY)
	}
	if f.err == nil {
		f.err = open(os.DevNull, os.O_WRONLY)
	}
	if err != nil {
		closeAll()
		return f, nil, fmt.Errorf("start %s: standard files: %w", inv.Args[0], err)
	}
	return f, closeAll, nil
}

// A watch follows one tree to its end and stops it when it must.
type watch struct {
	inv   Invocation
	tree  *tree
	grace time.Duration
	exit  Exit
	// stopped is why the watch ended the tree; empty if it did not.
	stopped assay.Outcome
	size    int64 // of the progress file when it last grew
	grown   time.Time
}

func (w *watch) follow(ctx context.Context) (Exit, error) {
	if w.inv.Started != nil {
		w.inv.Started(w.tree.pid)
	}
	var capped, looks <-chan time.Time
	if w.inv.Cap > 0 {
		timer := time.NewTimer(w.inv.Cap - w.tree.age())
		defer timer.Stop()
		capped = timer.C
	}
	if w.inv.HungAfter > 0 {
		w.grew()
		ticker := time.NewTicker(max(w.inv.HungAfter/20, time.Millisecond))
		defer ticker.Stop()
		looks = ticker.C
	}
	interrupted := ctx.Done()
	for {
		select {
		case r, more := <-w.tree.reports:
			if !more {
				return w.exit, w.tree.lost
			}
			if r.Stage == stageDone { // nothing to wait for any more but the leftovers
				w.record(r.Account)
				capped, looks = nil, nil
			}
			w.exit.Leftover = r.Leftover
		case <-interrupted:
			interrupted, capped, looks = nil, nil, nil
			w.stop(assay.Interrupted)
		case <-capped:
			capped, looks = nil, nil
			w.stop(assay.Capped)
		case <-looks:
			if !w.grew() && time.Since(w.grown) >= w.inv.HungAfter {
				capped, looks = nil, nil
				if w.inv.Stuck != nil {
					w.inv.Stuck(w.tree.pid)
				}
				w.stop(assay.Hung)
			}
		}
	}
}

// stop ends the tree for a reason. A command that is done by then keeps its own outcome.
func (w *watch) stop(why assay.Outcome) {
	if w.exit.Outcome == "" && w.stopped == "" {
		w.stopped = why
	}
	w.tree.end(w.grace)
}

// grew reports whether the progress file is larger than it was at the last look.
func (w *watch) grew() bool {
	var size int64
	if info, err := os.Stat(w.inv.Progress); err == nil {
		size = info.Size()
	}
	if size == w.size && !w.grown.IsZero() {
		return false
	}
	w.size, w.grown = size, time.Now()
	return true
}

// record turns the kernel's account into the exit.
func (w *watch) record(a account) {
	e := &w.exit
	status := unix.WaitStatus(a.Status)
	e.Wall, e.WallSecond, e.User, e.System = a.Wall, a.WallSecond, a.User, a.System
	e.RSSPeakBytes, e.CtxSwitches, e.PageFaults = a.RSSPeakBytes, a.CtxSwitches, a.PageFaults
	e.Code = status.ExitStatus()
	if status.Signaled() {
		e.Code = 128 + int(status.Signal())
		e.Signal = unix.SignalName(status.Signal())
	}
	e.Outcome = outcome(status, w.stopped, a.OOMKills)
	e.Notes = append(e.Notes, a.notes(e.Outcome)...)
}

// outcome classifies the end of a command.
func outcome(status unix.WaitStatus, stopped assay.Outcome, oomKills int64) assay.Outcome {
	switch {
	case stopped != "":
		return stopped
	case status.Signaled() && status.Signal() == unix.SIGKILL && oomKills > 0:
		return assay.OOM
	case status.Signaled():
		return assay.Crashed
	case status.ExitStatus() != 0:
		return assay.Failed
	}
	return assay.OK
}

// notes say what is weak about an account.
func (a account) notes(o assay.Outcome) []string {
	var notes []string
	if a.OOMKills > 0 && o != assay.OOM {
		notes = append(notes, fmt.Sprintf("the kernel killed %d processes on this machine for want of memory meanwhile", a.OOMKills))
	}
	if a.RSSPeakBytes <= a.FloorBytes {
		notes = append(notes, fmt.Sprintf("rss_peak: below %d bytes, the size of what started it", a.FloorBytes))
	}
	return notes
}
