package study

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// exitUsage is assay's exit status for a file or an environment that cannot be used, exitInterrupted
// that of a run that was ended.
const (
	exitUsage       = 2
	exitInterrupted = 4
)

// Command does the whole study, or a part of it.
func Command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("study", flag.ContinueOnError)
	folder := flags.String("folder", "object-ends", "the study's `folder`")
	session := flags.String("session", "1", "`name` of the session: results go to results/NAME; 2 executes again what must agree")
	only := flags.String("only", "", "`experiments`, separated by commas; without it, all of the session")
	objects := flags.Int("objects", 300, "`objects` of each tier; 10000 is the campaign's number and takes 12 GB")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(*folder, experimentsFolder)); err != nil {
		return fmt.Errorf("find experiments: %w; execute go run ./object-ends in the folder studies, or name the folder with --folder", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("study: what is %q?", flags.Arg(0))
	}
	chosen, err := choose(*session, *only)
	if err != nil {
		return err
	}
	into := filepath.Join(*folder, resultsFolder, *session)
	if err := os.MkdirAll(into, 0o755); err != nil {
		return fmt.Errorf("make results folder: %w", err)
	}
	if err := build(ctx, *folder, stderr); err != nil {
		return err
	}
	if err := prepare(ctx, *folder, *objects, into, stderr); err != nil {
		return err
	}
	failures := executeAll(ctx, *folder, into, chosen, stdout, stderr)
	return errors.Join(failures, WriteResults(*folder))
}

// choose is what a session executes.
func choose(session, only string) ([]Entry, error) {
	all := Entries()
	if only == "" {
		if session == "1" {
			return all, nil
		}
		return slices.DeleteFunc(all, func(e Entry) bool { return !e.Again }), nil
	}
	var chosen []Entry
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("--only: no experiment is named %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// executeAll executes the experiments one after the other. One that fails does not keep the others.
func executeAll(ctx context.Context, folder, into string, chosen []Entry, stdout, stderr io.Writer) error {
	var failures error
	for _, e := range chosen {
		if ctx.Err() != nil {
			return errors.Join(failures, context.Cause(ctx))
		}
		start := time.Now()
		fmt.Fprintf(stdout, "\n%s (%s)\n", e.Name, e.Asks)
		if err := execute(ctx, folder, filepath.Join(into, e.Name), e.Name, stdout, stderr); err != nil {
			failures = errors.Join(failures, err)
		}
		fmt.Fprintf(stderr, "%s took %v\n", e.Name, time.Since(start).Round(time.Second))
	}
	return errors.Join(failures, refuse(ctx, folder, into))
}

// execute lets assay run one experiment anew and keeps its scorecard beside the results folder.
func execute(ctx context.Context, folder, out, name string, stdout, stderr io.Writer) error {
	if err := os.RemoveAll(out); err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	status, err := call(ctx, folder, stdout, stderr, "run", filepath.Join(folder, experimentsFolder, name+".yaml"), "--out", out, "--quiet")
	if err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	if status == exitUsage || status == exitInterrupted {
		return fmt.Errorf("run %s: assay ended with %d", name, status)
	}
	if err := trim(out); err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	var card bytes.Buffer
	if status, err = call(ctx, folder, &card, stderr, "grade", out); err != nil || status == exitUsage {
		return fmt.Errorf("grade %s: ended with %d: %w", name, status, err)
	}
	if _, err := call(ctx, folder, io.Discard, stderr, "report", out); err != nil {
		return fmt.Errorf("report %s: %w", name, err)
	}
	return os.WriteFile(out+".txt", card.Bytes(), 0o644)
}

// refuse keeps what check says of the experiment that compares what cannot be compared.
func refuse(ctx context.Context, folder, into string) error {
	var said bytes.Buffer
	status, err := call(ctx, folder, &said, &said, "check", filepath.Join(folder, experimentsFolder, Refused+".yaml"))
	if err != nil {
		return fmt.Errorf("check %s: %w", Refused, err)
	}
	if status != exitUsage {
		return fmt.Errorf("check %s: ended with %d, want %d: it compares several terms at once", Refused, status, exitUsage)
	}
	return os.WriteFile(filepath.Join(into, Refused+".txt"), said.Bytes(), 0o644)
}

// call executes the built assay; an exit status is no error.
func call(ctx context.Context, folder string, stdout, stderr io.Writer, args ...string) (status int, err error) {
	c := exec.CommandContext(ctx, filepath.Join(folder, workFolder, "assay"), args...)
	c.Stdout, c.Stderr = stdout, stderr
	// A second session asks every question again on purpose, beside the first: no list of the user's
	// registrations is needed to tell, and none is written.
	state, err := filepath.Abs(filepath.Join(folder, workFolder, "state", strconv.Itoa(os.Getpid())))
	if err != nil {
		return 0, fmt.Errorf("start assay: %w", err)
	}
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	err = c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// trim leaves in a finished folder what grading and the report read. Telemetry by the 100 ms is not
// among it: what follows from it stands in the trial's line. Output is kept of every trial.
func trim(folder string) error {
	return filepath.WalkDir(filepath.Join(folder, "trials"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() == 0 || d.Name() == "readings.csv" || strings.HasSuffix(d.Name(), ".log") {
			return os.Remove(path)
		}
		return nil
	})
}
