package target

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// address is one of this machine that nobody listens on.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// server is a spec of the web server among the workloads.
func server(t *testing.T, at string, options ...string) Spec {
	t.Helper()
	inv, _ := invocation(t, append([]string{os.Args[0], "workload", "serve", at}, options...)...)
	inv.Env = append(os.Environ(), "GOTRACEBACK=crash") // SIGABRT really ends it
	inv.Limits = map[string]uint64{"core": 0}
	return Spec{Name: "api", Command: inv, Ready: Ready{HTTP: "http://" + at + "/healthz", Patience: 10 * time.Second}}
}

func startService(t *testing.T, spec Spec) *Service {
	t.Helper()
	s, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func ask(at, path string) {
	client := http.Client{Timeout: 100 * time.Millisecond}
	if response, err := client.Get("http://" + at + path); err == nil {
		response.Body.Close()
	}
}

func TestReadiness(t *testing.T) {
	for name, ready := range map[string]func(at string) Ready{
		"http": func(at string) Ready { return Ready{HTTP: "http://" + at + "/"} },
		"tcp":  func(at string) Ready { return Ready{TCP: at} },
		"log":  func(at string) Ready { return Ready{Log: `^listening on [\d.:]+$`} },
		"command": func(at string) Ready {
			return Ready{Command: &Invocation{Args: []string{os.Args[0], "workload", "connect", at}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := address(t)
			spec := server(t, at, "slow")
			spec.Ready, spec.Port = ready(at), portOf(at)
			s := startService(t, spec)
			state := s.State()
			if state.ColdStart < 30*time.Millisecond || state.ColdStart > 5*time.Second {
				t.Errorf("cold start: got %v, want 30ms and a little", state.ColdStart)
			}
			if state.PID == 0 || state.Listener != state.PID || !slices.Equal(state.PIDs, []int{state.PID}) {
				t.Errorf("got pid %d, listener %d, all %v; want one process that listens", state.PID, state.Listener, state.PIDs)
			}
			s.Stop()
			if _, err := net.Dial("tcp", at); err == nil {
				t.Error("it listens after Stop")
			}
			if after := s.State(); len(after.PIDs) > 0 || len(after.Incidents) > 0 {
				t.Errorf("after Stop: %+v, want no process and no incident", after)
			}
		})
	}
}

func TestStartFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	at := address(t)
	for _, tt := range []struct {
		name string
		spec func() Spec
		says []string
	}{
		{"ends", func() Spec { return server(t, at, "fail") }, []string{"api", "exit 3", "no such model: tiny.bin"}},
		{"is never ready", func() Spec {
			s := server(t, at)
			s.Ready = Ready{Log: "never", Patience: 500 * time.Millisecond}
			return s
		}, []string{"500ms", "never", "listening on"}},
		{"port is taken", func() Spec { return server(t, taken.Addr().String()) },
			[]string{"listens there already", fmt.Sprint(os.Getpid())}},
		{"is not there", func() Spec {
			s := server(t, at)
			s.Command.Args = []string{"/no/such/server"}
			return s
		}, []string{"/no/such/server", "no such file"}},
		{"fails and leaves a child", func() Spec {
			inv, _ := sh(t, "sleep 30 & echo oops; exit 1")
			return Spec{Name: "api", Command: inv, Ready: Ready{TCP: at, Patience: 20 * time.Second}}
		}, []string{"exit 1", "oops"}},
		{"bad expression", func() Spec {
			s := server(t, at)
			s.Ready = Ready{Log: "("}
			return s
		}, []string{"ready log"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Start(t.Context(), tt.spec())
			if err == nil {
				s.Stop()
				t.Fatal("got no error")
			}
			for _, word := range tt.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("got %q, want it to say %q", err, word)
				}
			}
			t.Log(err)
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	spec := server(t, at)
	spec.Ready = Ready{Log: "never"}
	if _, err := Start(ctx, spec); err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
		t.Errorf("with a context that ends: got %v", err)
	}
}

func TestIncidents(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, s *Service, at string)
		want Kind
		says string
	}{
		{"exits", func(_ *testing.T, _ *Service, at string) { ask(at, "/exit") }, Exited, "exit 4"},
		{"crashes", func(_ *testing.T, _ *Service, at string) { ask(at, "/crash") }, Crashed, "SIGABRT"},
		{"is killed", func(_ *testing.T, s *Service, _ string) { syscall.Kill(s.State().PID, syscall.SIGKILL) }, Killed, "SIGKILL"},
		{"closes its port", func(_ *testing.T, _ *Service, at string) { ask(at, "/close") }, Silent, "nobody listens"},
		{"is replaced", func(t *testing.T, _ *Service, at string) {
			ask(at, "/close")
			cmd := exec.Command(os.Args[0], "workload", "serve", at)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		}, Replaced, "somebody else's"},
		{"loses its guardian", func(t *testing.T, s *Service, _ string) {
			syscall.Kill(guardianOf(t, s.State().PID), syscall.SIGKILL)
		}, Lost, "guardian"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := address(t)
			s := startService(t, server(t, at))
			pid := s.State().PID
			began := time.Now()
			time.Sleep(2 * watchPause) // a watch that cries without a reason would do so now
			if state := s.State(); len(state.Incidents) > 0 {
				t.Fatalf("before anything happened: %+v", state.Incidents)
			}
			tt.do(t, s, at)
			is := func(i Incident) bool { return i.Kind == tt.want }
			await(t, string(tt.want), func() bool { return slices.ContainsFunc(s.State().Since(began), is) })
			state := s.State()
			got := state.Incidents[slices.IndexFunc(state.Incidents, is)]
			names := func(i Incident) bool { return strings.Contains(i.Text, fmt.Sprint(pid)) }
			if !strings.Contains(got.Text, tt.says) || !slices.ContainsFunc(state.Incidents, names) || got.OnPurpose {
				t.Errorf("got %+v, want it to say %q and %d", got, tt.says, pid)
			}
			t.Log(got.Text)
		})
	}
}

func TestWorkers(t *testing.T) {
	at := address(t)
	inv, _ := invocation(t, os.Args[0], "workload", "master", at, "3")
	spec := Spec{Name: "api", Command: inv, Ready: Ready{TCP: at}, Starts: 3}
	s := startService(t, spec)
	await(t, "4 processes", func() bool { return len(s.State().PIDs) == 4 })
	time.Sleep(3 * watchPause)
	state := s.State()
	if len(state.Incidents) > 0 {
		t.Fatalf("three starts where three are expected: got %+v", state.Incidents)
	}
	worker := state.PIDs[slices.IndexFunc(state.PIDs, func(pid int) bool { return pid != state.PID })]
	syscall.Kill(worker, syscall.SIGKILL)
	await(t, "restart", func() bool { return s.State().Restarts == 1 })
	after := s.State()
	if len(after.Incidents) != 2 || after.Incidents[0].PID != worker || after.Incidents[1].Kind != Restarted {
		t.Errorf("got %+v, want the end of %d and a restart", after.Incidents, worker)
	}
	for _, i := range after.Incidents {
		t.Log(i.Text)
	}
}

func TestFaults(t *testing.T) {
	at := address(t)
	s := startService(t, server(t, at))
	if err := s.Signal("STOP"); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(80*time.Millisecond, func() { s.Signal("cont") })
	client := http.Client{Timeout: 20 * time.Millisecond}
	if _, err := client.Get("http://" + at); err == nil {
		t.Error("a stopped service answered")
	}
	took, err := s.Recovered(t.Context())
	if err != nil || took > 5*time.Second {
		t.Errorf("recovery from STOP: got %v, %v", took, err)
	}
	if state := s.State(); len(state.Incidents) > 0 {
		t.Errorf("STOP and CONT: got %+v, want no incident", state.Incidents)
	}
	before := s.State().PID
	if took, err := s.Restart(t.Context()); err != nil || took <= 0 {
		t.Fatalf("restart: got %v, %v", took, err)
	}
	state := s.State()
	if state.PID == before || state.Restarts != 1 || len(state.Incidents) != 1 || !state.Incidents[0].OnPurpose {
		t.Errorf("restart: got %+v, want another process and one incident on purpose", state)
	}
	if err := s.Signal("KILL"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recovered(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody starts it again") {
		t.Errorf("recovery of what nobody restarts: got %v", err)
	}
	await(t, "the end", func() bool { return len(s.State().Incidents) == 2 })
	if last := s.State().Incidents[1]; last.Kind != Killed || !last.OnPurpose {
		t.Errorf("got %+v, want killed on purpose", last)
	}
	if err := s.Signal("NONSENSE"); err == nil {
		t.Error("signal NONSENSE: got no error")
	}
}

func TestSupervise(t *testing.T) {
	at := address(t)
	spec := server(t, at)
	spec.Supervise = &assay.Supervise{HTTP: "http://" + at + "/healthz", Timeout: 50 * time.Millisecond,
		Period: 20 * time.Millisecond, Failures: 3, Do: "restart"}
	s := startService(t, spec)
	ask(at, "/spin")
	await(t, "restart", func() bool { return s.State().Restarts == 1 })
	got := s.State().Incidents
	if len(got) != 1 || !strings.Contains(got[0].Text, "killed by probe while busy") {
		t.Errorf("got %+v, want one restart of a busy worker", got)
	}
	t.Log(got[0].Text)
	if err := s.Signal("KILL"); err != nil {
		t.Fatal(err)
	}
	if took, err := s.Recovered(t.Context()); err != nil || took <= 0 {
		t.Errorf("recovery from KILL: got %v, %v", took, err)
	}
	await(t, "second restart", func() bool { return s.State().Restarts == 2 })
	for _, i := range s.State().Incidents[1:] {
		t.Log(i.Text)
		if !i.OnPurpose {
			t.Errorf("got %+v, want on purpose", i)
		}
	}
}

func TestBackground(t *testing.T) {
	at := address(t)
	inv, _ := invocation(t, os.Args[0], "workload", "background", at)
	s := startService(t, Spec{Name: "api", Command: inv, Ready: Ready{TCP: at}})
	await(t, "note", func() bool { return len(s.State().Notes) == 1 })
	state := s.State()
	if state.PID == 0 || state.PID != state.Listener || len(state.Incidents) > 0 {
		t.Errorf("got %+v, want the listener to stand for the service, and no incident", state)
	}
	s.Stop()
	if _, err := net.Dial("tcp", at); err == nil {
		t.Error("it listens after Stop")
	}
}

func TestExternal(t *testing.T) {
	at := address(t)
	cmd := exec.Command(os.Args[0], "workload", "serve", at)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	byPort := startService(t, Spec{Name: "port", External: &assay.External{Port: portOf(at)}})
	byPID := startService(t, Spec{Name: "pid", External: &assay.External{PID: cmd.Process.Pid}})
	for _, s := range []*Service{byPort, byPID} {
		if state := s.State(); state.PID != cmd.Process.Pid || len(state.PIDs) != 1 {
			t.Errorf("got %+v, want process %d", state, cmd.Process.Pid)
		}
		if err := s.Signal("KILL"); err == nil {
			t.Error("an external service was signalled")
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	for _, s := range []*Service{byPort, byPID} {
		await(t, "its end", func() bool { return len(s.State().Incidents) > 0 })
		t.Log(s.State().Incidents[0].Text)
	}
	if _, err := Start(t.Context(), Spec{Name: "none", External: &assay.External{PID: cmd.Process.Pid},
		Ready: Ready{Patience: 10 * time.Millisecond}}); err == nil {
		t.Error("what is gone was found")
	}
}
