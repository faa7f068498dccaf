package target

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is also every process that the tests need: a guardian, and the workloads below,
// which are asked for by argument, so that they need no environment.
func TestMain(m *testing.M) {
	if code, inner := Keep(); !inner {
		os.Exit(code)
	}
	if len(os.Args) > 2 && os.Args[1] == "workload" {
		workload(os.Args[2], os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

func workload(name string, args []string) {
	switch name {
	case "stubborn":
		stubborn(args[0], args[1])
	case "program":
		program(args[0], args[1])
	case "allocate":
		block := make([]byte, 64<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		fmt.Println(len(block))
	default:
		fmt.Fprintln(os.Stderr, "no such workload:", name)
		os.Exit(2)
	}
}

// stubborn is a tree that does not want to end: it ignores SIGTERM; so does its child; and a third
// process has forked twice, left the session and has an empty environment. Each says so with a line.
// With end "exit" the first process ends itself once the others stand.
func stubborn(marker, role string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	again := func(role string, attr *syscall.SysProcAttr) *exec.Cmd {
		cmd := exec.Command("/proc/self/exe", "workload", "stubborn", marker, role)
		cmd.Env = []string{}
		cmd.Stdout = os.Stdout
		cmd.SysProcAttr = attr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		return cmd
	}
	switch role {
	case "exit", "stay":
		again("child", nil)
		again("between", nil).Wait()
		fmt.Println("up", role)
		if role == "exit" {
			time.Sleep(20 * time.Millisecond) // lets the child and the daemon come up
			return
		}
	case "between":
		again("daemon", &syscall.SysProcAttr{Setsid: true})
		return
	default:
		fmt.Println("up", role)
	}
	time.Sleep(time.Minute) // an upper bound, should a test lose it
}

// program is one that executes a stubborn tree as a trial.
func program(marker, path string) {
	out, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	_, err = Execute(context.Background(), Invocation{
		Args: []string{os.Args[0], "workload", "stubborn", marker, "stay"}, Stdout: out,
		Env: append(os.Environ(), Mark+"="+marker),
	})
	fmt.Println("program:", err)
}

// left are the living processes with the marker among their arguments, this one excluded.
func left(marker string) []string {
	var found []string
	for _, p := range processes() {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		if line := strings.ReplaceAll(string(raw), "\x00", " "); strings.Contains(line, marker) && p.alive() && p.pid != os.Getpid() {
			found = append(found, fmt.Sprintf("%d %s", p.pid, line))
		}
	}
	return found
}
