package target

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// marker is an argument that only the processes of one test have.
func marker(t *testing.T) string {
	return t.Name() + "-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
}

func TestNothingIsLeft(t *testing.T) {
	for _, tt := range []struct {
		role     string
		outcome  assay.Outcome
		leftover int
	}{
		{"exit", assay.OK, 2},
		{"stay", assay.Interrupted, 0},
	} {
		t.Run(tt.role, func(t *testing.T) {
			m := marker(t)
			inv, out := invocation(t, os.Args[0], "workload", "stubborn", m, tt.role)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			inv.Started = func(int) {
				for _, role := range []string{tt.role, "child", "daemon"} {
					awaitText(t, out, "up "+role)
				}
				if tt.role == "stay" {
					cancel()
				}
			}
			exit, err := Execute(ctx, inv)
			if err != nil {
				t.Fatal(err)
			}
			if found := left(m); len(found) > 0 {
				t.Errorf("left: %s", strings.Join(found, "; "))
			}
			if exit.Outcome != tt.outcome || exit.Leftover != tt.leftover {
				t.Errorf("got %s with %d left over, want %s with %d", exit.Outcome, exit.Leftover, tt.outcome, tt.leftover)
			}
		})
	}
}

// guardianOf is the guardian that keeps the process.
func guardianOf(t *testing.T, pid int) int {
	t.Helper()
	p, ok := readProcess(pid)
	if !ok {
		t.Fatalf("process %d: not there", pid)
	}
	return p.parent
}

// TestGuardianIsKilled kills the guardian under a standing tree: Execute ends the tree itself.
func TestGuardianIsKilled(t *testing.T) {
	m := marker(t)
	inv, out := invocation(t, os.Args[0], "workload", "stubborn", m, "stay")
	bystander := exec.Command("/bin/sleep", "20")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer bystander.Wait()
	defer bystander.Process.Kill()
	other, _ := invocation(t, "/bin/sleep", "0.5") // another tree, which must not suffer
	survivor := make(chan Exit)
	go func() {
		exit, err := Execute(t.Context(), other)
		if err != nil {
			t.Error(err)
		}
		survivor <- exit
	}()
	inv.Started = func(pid int) {
		awaitText(t, out, "up daemon")
		awaitText(t, out, "up child")
		syscall.Kill(guardianOf(t, pid), syscall.SIGKILL)
	}
	_, err := Execute(t.Context(), inv)
	if err == nil || !strings.Contains(err.Error(), "guardian") {
		t.Errorf("got %v, want an error that names the guardian", err)
	}
	if found := left(m); len(found) > 0 {
		t.Errorf("left: %s", strings.Join(found, "; "))
	}
	if exit := <-survivor; exit.Outcome != assay.OK {
		t.Errorf("the other tree: got %+v, want ok", exit)
	}
	if p, ok := readProcess(bystander.Process.Pid); !ok || !p.alive() {
		t.Error("a process of somebody else was killed")
	}
}

func awaitText(t *testing.T, out func() string, text string) {
	t.Helper()
	await(t, "output "+text, func() bool { return strings.Contains(out(), text) })
}

// await looks until what holds, for at most ten seconds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("waited ten seconds for: %s", what)
		}
	}
}

// TestKilled kills with -9, at random moments, the program that executes trials, or its guardian, or
// both at once, and looks for what is left of a stubborn tree.
func TestKilled(t *testing.T) {
	for _, who := range []string{"program", "guardian", "both"} {
		t.Run(who, func(t *testing.T) {
			stood := 0
			for i := range moments {
				if killed(t, who, i%4 == 0) {
					stood++
				}
			}
			t.Logf("the whole tree stood in %d of %d cases", stood, moments)
		})
	}
}

// killed tries one moment: a random one, or one at which the whole tree stands.
func killed(t *testing.T, who string, standing bool) (stood bool) {
	m := marker(t)
	path := filepath.Join(t.TempDir(), "out")
	program := exec.Command(os.Args[0], "workload", "program", m, path)
	var says strings.Builder
	program.Stdout, program.Stderr = &says, &says
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	out := func() string {
		raw, _ := os.ReadFile(path)
		return string(raw)
	}
	if standing {
		awaitText(t, out, "up daemon")
		awaitText(t, out, "up child")
	} else {
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
	}
	stood = strings.Contains(out(), "up daemon")
	var victims []int
	for _, p := range below(processes(), program.Process.Pid) {
		if who != "program" && p.isGuardian() {
			victims = append(victims, p.pid)
		}
	}
	if who != "guardian" {
		victims = append(victims, program.Process.Pid)
	}
	for _, pid := range victims {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	if who == "guardian" && len(victims) == 0 {
		program.Process.Kill() // no guardian yet
	}
	program.Wait()
	if who == "both" {
		SweepLeftovers(m)
	}
	// A guardian that was still coming up finds the program gone and ends. Nothing must be seen twice,
	// because a look takes time, in which a process can be born behind it.
	gone := func() bool { return len(left(m)) == 0 }
	await(t, "the end of the tree", func() bool {
		first := gone()
		return first && gone()
	})
	if found := left(m); len(found) > 0 {
		t.Errorf("killed %s; left: %s\n%s", who, strings.Join(found, "; "), says.String())
	}
	if who == "guardian" && len(victims) > 0 && !strings.Contains(says.String(), "guardian") {
		t.Errorf("the program did not notice: %q", says.String())
	}
	return stood
}

// TestSweepIsExact leaves alone what carries another mark, a longer one, or none.
func TestSweepIsExact(t *testing.T) {
	m := marker(t)
	for _, env := range []string{Mark + "=" + m + "x", "OTHER=" + m, Mark + "_=" + m} {
		cmd := exec.Command("/bin/sleep", "20")
		cmd.Env = []string{env}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
	}
	if n := SweepLeftovers(m); n != 0 {
		t.Errorf("SweepLeftovers: got %d ended, want 0", n)
	}
	cmd := exec.Command("/bin/sleep", "20")
	cmd.Env = []string{Mark + "=" + m}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if n := SweepLeftovers(m); n != 1 {
		t.Errorf("SweepLeftovers: got %d ended, want 1", n)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the marked process: got %v, want it killed", err)
	}
}
