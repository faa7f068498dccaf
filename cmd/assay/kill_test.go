package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assaybench/assay/store"
)

// built is the program, built as a user would build it.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "assay")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// A stubborn experiment: its trials leave a grandchild, which ignores SIGTERM in the first block, and
// a daemon in a session of its own, both marked by an argument.
const stubborn = `
experiment: stubborn
factors: {n: [1, 2, 3]}
blocks: 8
command:
  - sh
  - -c
  - |
    [ {block} -gt 1 ] || trap '' TERM
    sleep MARK &
    setsid -f env -i PATH="$PATH" sleep MARK
    sleep 0.02
    echo '{"n": {n}}'
measures: {n: {json: n}}
hypotheses:
  H1: {claim: it differs, ratio: n, of: {n: 2}, to: {n: 1}, expect: "> 1.5"}
`

// However often it is killed, at whatever moment: every finished trial is kept, the run goes on to
// its end, no process is left, and the verdicts are those of the trials.
func TestKilledAtAnyMoment(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 10
	}
	assay := built(t)
	dir := t.TempDir()
	mark := fmt.Sprintf("31%d.%09d", os.Getpid(), rand.IntN(1e9)) // a sleep of years: nobody else has it
	file := filepath.Join(dir, "experiment.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(stubborn, "MARK", mark)), 0o666); err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(dir, "stubborn.results")
	rng := rand.New(rand.NewPCG(1, 2))
	done, restarts := false, 0
	for range kills {
		if done {
			// Begin anew: 24 trials are soon executed.
			if err := os.RemoveAll(results); err != nil {
				t.Fatal(err)
			}
			done = false
		}
		before := recordedTrials(t, results)
		done = !killedRun(t, assay, file, time.Duration(rng.IntN(600))*time.Millisecond)
		restarts++
		if after := recordedTrials(t, results); len(after) < len(before) || !bytes.HasPrefix(after, before) {
			t.Fatalf("kill %d: %d bytes of trials, then %d: what was recorded changed", restarts, len(before), len(after))
		}
		noneLeft(t, mark)
	}
	out, err := exec.Command(assay, "run", file).CombinedOutput()
	if err != nil {
		t.Fatalf("run to the end: %v\n%s", err, out)
	}
	noneLeft(t, mark)
	recs, err := store.Read(results)
	if err != nil {
		t.Fatal(err)
	}
	// A block in which the machine spoilt a trial is repeated whole, under a number of its own.
	spoilt := map[int]bool{}
	for _, trial := range recs.Trials {
		spoilt[trial.Block] = spoilt[trial.Block] || !trial.Valid
	}
	counted := 0
	for _, trial := range recs.Trials {
		if trial.Counts() && !spoilt[trial.Block] {
			counted++
		}
	}
	if counted != 24 {
		t.Errorf("%d counted trials in blocks that stand, want 24", counted)
	}
	sameVerdicts(t, assay, results, recs)
}

// killedRun starts a run and kills it after a while; false says that it was done before.
func killedRun(t *testing.T, assay, file string, after time.Duration) bool {
	t.Helper()
	run := exec.Command(assay, "run", file, "--quiet")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	if err := run.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err := run.Wait()
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled()
}

func recordedTrials(t *testing.T, results string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(results, store.TrialsFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return b[:bytes.LastIndexByte(b, '\n')+1] // a torn end is no finished trial
}

// noneLeft waits for every process that has the mark among its arguments to be gone.
func noneLeft(t *testing.T, mark string) {
	t.Helper()
	var left []string
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		left = nil
		paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(mark)) {
				left = append(left, path+" "+string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
			}
		}
		if left == nil {
			return
		}
	}
	t.Fatalf("processes left:\n%s", strings.Join(left, "\n"))
}

// sameVerdicts grades the folder again, and a folder that holds the same trials and was never
// disturbed: all three are the same bytes.
func sameVerdicts(t *testing.T, assay, results string, recs store.Contents) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(results, store.VerdictsFile))
	if err != nil {
		t.Fatal(err)
	}
	calm := filepath.Join(t.TempDir(), "calm.results")
	folder, err := store.Open(calm, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Register(recs.Experiment, recs.Registration); err != nil {
		t.Fatal(err)
	}
	if err := folder.SetHost(recs.Host); err != nil {
		t.Fatal(err)
	}
	for _, trial := range recs.Trials {
		if err := folder.Append(trial); err != nil {
			t.Fatal(err)
		}
	}
	folder.Close()
	for _, dir := range []string{results, calm} {
		if out, err := exec.Command(assay, "grade", dir).CombinedOutput(); err != nil {
			t.Fatalf("grade %s: %v\n%s", dir, err, out)
		}
		if got, err := os.ReadFile(filepath.Join(dir, store.VerdictsFile)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("verdicts of %s differ from the run's (%v):\n%s\nwant:\n%s", dir, err, got, want)
		}
	}
}
