package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/target"
)

// Names of a trial's output files.
const (
	stdoutFile = "stdout"
	stderrFile = "stderr"
)

// command executes the trial's command and records how it ended and what it used.
func (t *trial) command(ctx context.Context, w *assay.Workload) {
	inv, err := t.run.invocation(w.Command, t.values)
	if err != nil {
		t.refuse(ctx, err)
		return
	}
	stdout, err := os.Create(filepath.Join(t.dir, stdoutFile))
	if err != nil {
		t.refuse(ctx, err)
		return
	}
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(t.dir, stderrFile))
	if err != nil {
		t.refuse(ctx, err)
		return
	}
	defer stderr.Close()
	inv.Stdout, inv.Stderr = stdout, stderr
	inv.Started = func(pid int) { t.pid.Store(int64(pid)) }
	inv.Stuck = t.stuck
	inv.Cap, inv.HungAfter, inv.Progress = w.Cap, w.Hung.After, t.progressFile(w)
	judgeWaits := func() {}
	if len(w.Targets) == 0 { // beside a target a wait may be the target's, or the machine's
		judgeWaits = t.lookForWaits(ctx)
	}
	exit, err := target.Execute(ctx, inv)
	judgeWaits()
	if err != nil {
		t.refuse(ctx, err)
		return
	}
	t.pid.Store(0)
	if exit.Outcome == assay.Interrupted && errors.Is(context.Cause(ctx), errCap) {
		exit.Outcome = assay.Capped
	}
	t.recordExit(exit)
}

func (t *trial) progressFile(w *assay.Workload) string {
	switch p := w.Hung.Progress; p {
	case "", stdoutFile, stderrFile:
		if p == "" {
			p = stdoutFile
		}
		return filepath.Join(t.dir, p)
	default:
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(w.Command.Dir, p)
	}
}

func (t *trial) recordExit(e target.Exit) {
	t.record.Outcome, t.record.Exit, t.record.Signal = e.Outcome, e.Code, e.Signal
	t.record.Notes = append(t.record.Notes, e.Notes...)
	for name, x := range map[string]float64{
		"wall":         float64(e.Wall),
		"user":         float64(e.User),
		"system":       float64(e.System),
		"rss_peak":     float64(e.RSSPeakBytes),
		"ctx_switches": float64(e.CtxSwitches),
		"page_faults":  float64(e.PageFaults),
		"exit":         float64(e.Code),
	} {
		t.record.Measures[assay.MeasureKey(assay.MeasureRef{Name: name})] = assay.Num(x)
	}
	if e.Wall > 0 {
		t.derived("cpu_per_wall", float64(e.User+e.System)/float64(e.Wall))
	}
	if e.Leftover > 0 {
		t.note(fmt.Sprintf("leftover: %d processes outlived the command and were ended", e.Leftover))
	}
	t.clocks(e)
}

// invocation is the command with everything filled in.
func (r *Run) invocation(c *assay.Command, values map[string]string) (target.Invocation, error) {
	inv := target.Invocation{Dir: c.Dir, Stdin: c.Stdin, CPUs: c.CPUs, Nice: c.Nice, Limits: c.Limits}
	for _, arg := range c.Args {
		s, err := arg.Expand(values)
		if err != nil {
			return inv, err
		}
		inv.Args = append(inv.Args, s)
	}
	if c.Shell {
		inv.Args = append([]string{"/bin/sh", "-c"}, inv.Args...)
	}
	env, err := r.environ(c, values)
	inv.Env = env
	return inv, err
}

// environ is Assay's own environment with the command's changes and the marks by which a process
// knows its trial and Assay its processes.
func (r *Run) environ(c *assay.Command, values map[string]string) ([]string, error) {
	changed := map[string]bool{}
	var env []string
	for _, v := range c.Env {
		changed[v.Name] = true
		if v.Unset {
			continue
		}
		s, err := v.Value.Expand(values)
		if err != nil {
			return nil, fmt.Errorf("environment variable %s: %w", v.Name, err)
		}
		env = append(env, v.Name+"="+s)
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !changed[name] && !strings.HasPrefix(name, "ASSAY_") {
			env = append(env, kv)
		}
	}
	return append(env, "ASSAY_RUN="+r.Mark, "ASSAY_TRIAL="+values["trial"], "ASSAY_BLOCK="+values["block"]), nil
}

// executable is the path of the program that the command names.
func (t *trial) executable(c *assay.Command) (string, error) {
	name, err := c.Args[0].Expand(t.values)
	if err != nil {
		return "", err
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("find program: %w", err)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	return filepath.EvalSymlinks(path)
}

// open opens what a source names: the trial's output, or a file in the command's folder.
func (t *trial) open(src assay.Source) func(name string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) {
		switch name {
		case "", stdoutFile, stderrFile:
			if name == "" {
				name = stdoutFile
			}
			return os.Open(filepath.Join(t.dir, name))
		}
		if !filepath.IsAbs(name) && t.setting.Workload.Command != nil {
			name = filepath.Join(t.setting.Workload.Command.Dir, name)
		}
		return os.Open(name)
	}
}
