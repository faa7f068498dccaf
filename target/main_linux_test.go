package target

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	case "serve":
		serve(args[0], args[1:])
	case "master":
		master(args[0], args[1])
	case "worker":
		time.Sleep(time.Minute)
	case "connect":
		if _, err := net.Dial("tcp", args[0]); err != nil {
			os.Exit(1)
		}
	case "background":
		cmd := exec.Command("/proc/self/exe", "workload", "serve", args[0])
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
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
			time.Sleep(200 * time.Millisecond) // lets the child and the daemon come up
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

// serve is a web server on the address. It is ready a while after its start, serves one request at
// a time, and does what it is asked to: /exit, /crash, /spin (busy for ever), /close (the listener).
func serve(address string, options []string) {
	fmt.Println("starting")
	if slices.Contains(options, "slow") {
		time.Sleep(30 * time.Millisecond)
	}
	if slices.Contains(options, "fail") {
		fmt.Println("no such model: tiny.bin")
		os.Exit(3)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("listening on", listener.Addr())
	var one sync.Mutex
	server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		switch r.URL.Path {
		case "/exit":
			os.Exit(4)
		case "/crash":
			syscall.Kill(os.Getpid(), syscall.SIGABRT)
			time.Sleep(time.Second)
		case "/close":
			listener.Close()
		case "/spin":
			for n := 0; n >= 0; n++ {
			}
		}
	})}
	server.Serve(listener)
	time.Sleep(time.Minute)
}

// master keeps as many workers as it is told and serves on the address.
func master(address, number string) {
	n, _ := strconv.Atoi(number)
	for i := range n {
		go func() {
			for {
				exec.Command("/proc/self/exe", "workload", "worker", strconv.Itoa(i), "x").Run()
			}
		}()
	}
	serve(address, nil)
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
