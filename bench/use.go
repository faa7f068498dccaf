//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/target"
)

// The two processors of a benchmark: servers have the first to themselves, generators the second.
const (
	serverCPU    = 0
	generatorCPU = 1
)

// longest is how long any one command may take before it is ended.
const longest = 3 * time.Minute

// A use is what one execution of a program took, by the kernel's account.
type use struct {
	wall, cpu time.Duration
	rss       int64 // peak, bytes
	out       []byte
	said      string // standard error
	code      int
}

// execute executes a command to its end; on a processor of its own if pinned.
func execute(ctx context.Context, pinned bool, args ...string) (use, error) {
	out, err := os.CreateTemp("", "bench-*.out")
	if err != nil {
		return use{}, fmt.Errorf("execute %s: %w", args[0], err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	said, err := os.CreateTemp("", "bench-*.err")
	if err != nil {
		return use{}, fmt.Errorf("execute %s: %w", args[0], err)
	}
	defer os.Remove(said.Name())
	defer said.Close()
	inv := target.Invocation{Args: args, Stdout: out, Stderr: said, Cap: longest}
	if pinned {
		inv.CPUs = []int{generatorCPU}
	}
	exit, err := target.Execute(ctx, inv)
	if err != nil {
		return use{}, err
	}
	u := use{wall: exit.Wall, cpu: exit.User + exit.System, rss: exit.RSSPeakBytes, code: exit.Code}
	if u.out, err = os.ReadFile(out.Name()); err != nil {
		return use{}, fmt.Errorf("read what %s printed: %w", args[0], err)
	}
	text, err := os.ReadFile(said.Name())
	if err != nil {
		return use{}, fmt.Errorf("read what %s printed: %w", args[0], err)
	}
	u.said = string(text)
	if exit.Outcome != assay.OK && exit.Outcome != assay.Failed {
		return u, fmt.Errorf("execute %s: %s: %s", strings.Join(args, " "), exit.Outcome, u.said)
	}
	return u, nil
}

// A testServer is this program serving in a process of its own.
type testServer struct {
	url    string
	cmd    *exec.Cmd
	hangUp io.Closer
	out    io.Reader
}

// startServer starts one with the flags of serve, on its processor.
func startServer(flags ...string) (*testServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	args := append([]string{"-c", fmt.Sprint(serverCPU), self, "serve"}, flags...)
	s := &testServer{cmd: exec.Command("taskset", args...)}
	s.cmd.Stderr = os.Stderr
	if s.hangUp, err = s.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	if s.out, err = s.cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	for !strings.HasSuffix(s.url, "\n") { // byte by byte: what follows is the truth's
		var b [1]byte
		if _, err := s.out.Read(b[:]); err != nil {
			s.hangUp.Close()
			return nil, fmt.Errorf("start server: %w", s.cmd.Wait())
		}
		s.url += string(b[:])
	}
	s.url = strings.TrimSpace(s.url)
	return s, nil
}

// stop ends the server and gives its truth.
func (s *testServer) stop() (Truth, error) {
	s.hangUp.Close()
	all, err := io.ReadAll(s.out)
	if err != nil {
		return Truth{}, fmt.Errorf("read truth: %w", err)
	}
	if err := s.cmd.Wait(); err != nil {
		return Truth{}, fmt.Errorf("serve: %w", err)
	}
	return parseTruth(all)
}

func parseTruth(all []byte) (t Truth, err error) {
	head, log, _ := strings.Cut(string(all), "\n")
	if err := json.Unmarshal([]byte(head), &t); err != nil {
		return t, fmt.Errorf("read truth: %w", err)
	}
	t.Log = make([]event, len(log)/binary.Size(event{}))
	if err := binary.Read(strings.NewReader(log), binary.LittleEndian, t.Log); err != nil {
		return t, fmt.Errorf("read log of arrivals: %w", err)
	}
	return t, nil
}

// loaded executes a generator against a fresh server and gives both sides' accounts.
func loaded(ctx context.Context, p peer, w want, flags ...string) (use, Truth, error) {
	s, err := startServer(flags...)
	if err != nil {
		return use{}, Truth{}, err
	}
	u, err := execute(ctx, true, p.command(s.url, w)...)
	t, stopErr := s.stop()
	if err == nil {
		err = stopErr
	}
	if err != nil {
		return u, t, fmt.Errorf("%s: %w", p.name, err)
	}
	return u, t, nil
}
