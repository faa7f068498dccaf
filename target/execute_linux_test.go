package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// sh is an invocation of a shell script whose output goes to the returned file.
func sh(t *testing.T, script string) (Invocation, func() string) {
	t.Helper()
	return invocation(t, "/bin/sh", "-c", script)
}

func invocation(t *testing.T, args ...string) (Invocation, func() string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	inv := Invocation{Args: args, Stdout: out, Stderr: out, Progress: path, Grace: 50 * time.Millisecond}
	return inv, func() string {
		raw, _ := os.ReadFile(path)
		return string(raw)
	}
}

func execute(t *testing.T, inv Invocation) Exit {
	t.Helper()
	exit, err := Execute(t.Context(), inv)
	if err != nil {
		t.Fatal(err)
	}
	return exit
}

func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script string
		with   func(*Invocation)
		want   Exit
	}{
		{"ends with 0", "exit 0", nil, Exit{Outcome: assay.OK}},
		{"ends with 3", "exit 3", nil, Exit{Outcome: assay.Failed, Code: 3}},
		{"falls over", "kill -SEGV $$", nil, Exit{Outcome: assay.Crashed, Code: 139, Signal: "SIGSEGV"}},
		{"is killed by somebody else", "kill -KILL $$", nil, Exit{Outcome: assay.Crashed, Code: 137, Signal: "SIGKILL"}},
		{"reaches the cap", "exec sleep 30", func(i *Invocation) { i.Cap = 30 * time.Millisecond },
			Exit{Outcome: assay.Capped, Code: 143, Signal: "SIGTERM"}},
		{"reaches the cap and ignores SIGTERM", "trap '' TERM; while :; do sleep 0.01; done",
			func(i *Invocation) { i.Cap = 30 * time.Millisecond },
			Exit{Outcome: assay.Capped, Code: 137, Signal: "SIGKILL"}},
		{"makes no progress", "echo one; exec sleep 30", func(i *Invocation) { i.HungAfter = 60 * time.Millisecond },
			Exit{Outcome: assay.Hung, Code: 143, Signal: "SIGTERM"}},
		{"is stopped and makes no progress", "kill -STOP $$; exec sleep 30",
			func(i *Invocation) { i.HungAfter = 60 * time.Millisecond },
			Exit{Outcome: assay.Hung, Code: 143, Signal: "SIGTERM"}},
		{"is slow and makes progress", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.03; done",
			func(i *Invocation) { i.HungAfter = 500 * time.Millisecond }, Exit{Outcome: assay.OK}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inv, _ := sh(t, tt.script)
			if tt.with != nil {
				tt.with(&inv)
			}
			got := execute(t, inv)
			if got.Outcome != tt.want.Outcome || got.Code != tt.want.Code || got.Signal != tt.want.Signal {
				t.Errorf("got %s, exit %d, signal %q; want %s, exit %d, signal %q", got.Outcome, got.Code, got.Signal,
					tt.want.Outcome, tt.want.Code, tt.want.Signal)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	inv, _ := sh(t, "exec sleep 30")
	ctx, cancel := context.WithCancel(t.Context())
	inv.Started = func(pid int) {
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("Started(%d): got no such process: %v", pid, err)
		}
		cancel()
	}
	exit, err := Execute(ctx, inv)
	if err != nil || exit.Outcome != assay.Interrupted {
		t.Errorf("got %v, %v; want interrupted", exit.Outcome, err)
	}
	if _, err := Execute(ctx, inv); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: got %v, want %v", err, context.Canceled)
	}
}

func TestAccount(t *testing.T) {
	inv, _ := sh(t, "sleep 0.1")
	exit := execute(t, inv)
	if exit.Wall < 100*time.Millisecond || exit.Wall > 5*time.Second {
		t.Errorf("wall: got %v, want 100ms and a little", exit.Wall)
	}
	if d := exit.Wall - exit.WallSecond; d.Abs() > 10*time.Millisecond {
		t.Errorf("the two clocks differ by %v, want next to nothing", d)
	}
	if exit.User+exit.System == 0 || exit.PageFaults == 0 || exit.CtxSwitches == 0 {
		t.Errorf("got an empty account: %+v", exit)
	}

	inv, _ = invocation(t, os.Args[0], "workload", "allocate")
	if exit := execute(t, inv); exit.RSSPeakBytes < 64<<20 || exit.RSSPeakBytes > 200<<20 {
		t.Errorf("rss peak of a process that touches 64 MiB: got %d MiB", exit.RSSPeakBytes>>20)
	}
}

// TestPeakIsTheCommands makes this process large: the peak of a small command must not show it.
func TestPeakIsTheCommands(t *testing.T) {
	block := make([]byte, 100<<20)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	inv, _ := invocation(t, "true")
	if exit := execute(t, inv); exit.RSSPeakBytes > 50<<20 {
		t.Errorf("rss peak of true beside a process of %d MiB: got %d MiB", len(block)>>20, exit.RSSPeakBytes>>20)
	}
}

func TestDress(t *testing.T) {
	inv, out := sh(t, `ulimit -Sn; ulimit -Hn; ulimit -c; ulimit -v; nice; grep Cpus_allowed_list /proc/self/status; pwd; cat; echo $A; env | grep ASSAY`)
	dir := t.TempDir()
	stdin := filepath.Join(dir, "in")
	if err := os.WriteFile(stdin, []byte("read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inv.Limits = map[string]uint64{"nofile": 77, "core": 0, "as": 1 << 30}
	inv.CPUs, inv.Nice, inv.Dir, inv.Stdin = []int{0}, 5, dir, stdin
	inv.Env = []string{"PATH=/bin:/usr/bin", "A=b", Mark + "=x"}
	execute(t, inv)
	want := fmt.Sprintf("77\n77\n0\n1048576\n5\nCpus_allowed_list:\t0\n%s\nread\nb\n%s=x\n", dir, Mark)
	if out() != want {
		t.Errorf("got\n%s\nwant\n%s", out(), want)
	}
	inv, out = sh(t, `nice; ulimit -n`)
	execute(t, inv)
	own, err := exec.Command("nice").Output()
	if err != nil || strings.Contains(out(), "77") || !strings.HasPrefix(out(), string(own)) {
		t.Errorf("the next command inherited: %s", out())
	}
}

func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := write("text", "hello\n", 0o755)
	script := write("script", "#!/no/such/interpreter -x\n", 0o755)
	plain := write("plain", "#!/bin/sh\n", 0o644)
	for _, tt := range []struct {
		name string
		inv  Invocation
		want error
		says []string
	}{
		{"nothing", Invocation{}, nil, []string{"no program"}},
		{"not there", Invocation{Args: []string{dir + "/none"}}, fs.ErrNotExist, []string{dir + "/none"}},
		{"not in the path", Invocation{Args: []string{"none"}, Env: []string{"PATH=/bin"}}, fs.ErrNotExist, []string{"none", "PATH=/bin"}},
		{"not executable", Invocation{Args: []string{plain}}, fs.ErrPermission, []string{plain}},
		{"not executable, in the path", Invocation{Args: []string{"plain"}, Env: []string{"PATH=" + dir}}, fs.ErrPermission, []string{plain}},
		{"a folder", Invocation{Args: []string{dir}}, fs.ErrPermission, []string{dir, "folder"}},
		{"no format", Invocation{Args: []string{text}}, ErrNotExecutable, []string{text, "#!"}},
		{"no interpreter", Invocation{Args: []string{script}}, ErrInterpreter, []string{script, "/no/such/interpreter"}},
		{"no directory", Invocation{Args: []string{"/bin/true"}, Dir: dir + "/none"}, fs.ErrNotExist, []string{dir + "/none"}},
		{"relative to the directory", Invocation{Args: []string{"./none"}, Dir: dir}, fs.ErrNotExist, []string{dir + "/none"}},
		{"no such limit", Invocation{Args: []string{"/bin/true"}, Limits: map[string]uint64{"files": 1}}, nil, []string{"files", "nofile"}},
		{"no such cpu", Invocation{Args: []string{"/bin/true"}, CPUs: []int{1000}}, syscall.EINVAL, []string{"1000"}},
		{"no stdin", Invocation{Args: []string{"/bin/true"}, Stdin: dir + "/none"}, fs.ErrNotExist, []string{dir + "/none"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Execute(t.Context(), tt.inv)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			for _, word := range tt.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("got %q, want it to name %q", err, word)
				}
			}
			t.Log(err)
		})
	}
	write("there", "#!/bin/sh\nexit 7\n", 0o755)
	if exit := execute(t, Invocation{Args: []string{"./there"}, Dir: dir}); exit.Code != 7 {
		t.Errorf("./there: got exit %d, want 7", exit.Code)
	}
}

// TestOOM puts a command into a memory cgroup that is too small for it.
func TestOOM(t *testing.T) {
	group, err := os.MkdirTemp("/sys/fs/cgroup/memory", "target-test-")
	limit := "memory.limit_in_bytes"
	if err != nil {
		group, err = os.MkdirTemp("/sys/fs/cgroup", "target-test-")
		limit = "memory.max"
	}
	if err == nil {
		t.Cleanup(func() { os.Remove(group) })
		err = os.WriteFile(filepath.Join(group, limit), []byte("33554432"), 0)
	}
	if err != nil {
		t.Skipf("no memory cgroup can be made here: %v", err)
	}
	inv, _ := sh(t, "echo $$ > "+group+"/cgroup.procs; exec "+os.Args[0]+" workload allocate")
	if exit := execute(t, inv); exit.Outcome != assay.OOM || exit.Signal != "SIGKILL" {
		t.Errorf("got %+v, want oom", exit)
	}
	// The shell lives, its child does not.
	inv, _ = sh(t, "sh -c 'echo $$ > "+group+"/cgroup.procs; exec "+os.Args[0]+" workload allocate'; exit 1")
	exit := execute(t, inv)
	if exit.Outcome != assay.Failed || !slices.ContainsFunc(exit.Notes, func(n string) bool { return strings.Contains(n, "want of memory") }) {
		t.Errorf("got %+v, want failed with a note on memory", exit)
	}
}

func TestStrike(t *testing.T) {
	inv, _ := sh(t, "sleep 30; exit 1")
	inv.Started = func(pid int) {
		await(t, "the child", func() bool { return len(below(processes(), pid)) == 1 })
		for _, name := range []string{"STOP", "SIGCONT", "kill"} {
			if err := Strike(pid, name); err != nil {
				t.Error(err)
			}
		}
		if err := Strike(pid, "KILL"); err == nil {
			t.Error("what is dead was struck without an error")
		}
	}
	if exit := execute(t, inv); exit.Outcome != assay.Crashed {
		t.Errorf("got %+v, want crashed", exit)
	}
}
