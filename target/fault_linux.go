package target

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// actsWithin bounds the wait for a signal to have taken hold.
const actsWithin = 5 * time.Second

// Signal sends a signal, such as STOP, CONT, KILL or TERM, to every process of the service, and
// returns when it has taken hold: the killed are dead, the stopped stand still. What it causes is
// recorded as on purpose. An external service is not touched: that is an error.
func (s *Service) Signal(name string) error {
	signal, err := signalOf(name)
	if err != nil {
		return fmt.Errorf("signal %s: %w", s.spec.Name, err)
	}
	if s.spec.External != nil {
		return fmt.Errorf("signal %s: it is external, and only watched", s.spec.Name)
	}
	s.life.Lock()
	defer s.life.Unlock()
	if s.stopped {
		return fmt.Errorf("signal %s: %w", s.spec.Name, errStopped)
	}
	s.mu.Lock()
	t := s.tree
	s.faulty = time.Now()
	if signal != unix.SIGCONT && signal != unix.SIGSTOP { // these do not end it
		s.fault = signal
	}
	s.mu.Unlock()
	if err := strike(t.processes(processes()), signal); err != nil {
		return fmt.Errorf("signal %s: %w", s.spec.Name, err)
	}
	return nil
}

// Strike sends a signal to the process and to all that descends from it, and returns when it has
// taken hold, as Service.Signal does. It is for the command of a trial, whose id Started tells.
func Strike(pid int, name string) error {
	signal, err := signalOf(name)
	if err != nil {
		return err
	}
	all := processes()
	var struck []process
	if p, ok := readProcess(pid); ok {
		struck = append(struck, p) // first: a parent must not see its child die and go on
	}
	struck = append(struck, below(all, pid)...)
	if err := strike(struck, signal); err != nil {
		return fmt.Errorf("signal process %d: %w", pid, err)
	}
	return nil
}

// signalOf is the signal of that name, with or without SIG, in letters of either case.
func signalOf(name string) (unix.Signal, error) {
	signal := unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG"))
	if signal == 0 {
		return 0, fmt.Errorf("signal: got %q, want a name such as STOP, CONT, KILL or TERM", name)
	}
	return signal, nil
}

func strike(struck []process, signal unix.Signal) error {
	sent := false
	for _, p := range struck {
		sent = p.alive() && p.send(signal) || sent
	}
	if !sent {
		return errors.New("no process of it lives")
	}
	for until := time.Now().Add(actsWithin); time.Now().Before(until); time.Sleep(killPause) {
		if tookHold(struck, signal) {
			return nil
		}
	}
	return fmt.Errorf("%s has not taken hold within %s", unix.SignalName(signal), actsWithin)
}

// tookHold reports whether the signal shows on the processes, where one can show.
func tookHold(struck []process, signal unix.Signal) bool {
	for _, before := range struck {
		p, ok := readProcess(before.pid)
		if !ok || p.identity != before.identity || !p.alive() {
			continue // whatever the signal, it can show no more
		}
		stopped := p.state == 'T' || p.state == 't'
		// A parent whose child was stopped between vfork and exec waits, and cannot be stopped itself.
		still := stopped || p.state == 'D'
		if signal == unix.SIGKILL || signal == unix.SIGSTOP && !still || signal == unix.SIGCONT && stopped {
			return false
		}
	}
	return true
}

// Restart ends the service and starts it again, on purpose. It returns the time from the call until
// the service was ready again.
func (s *Service) Restart(ctx context.Context) (time.Duration, error) {
	if s.spec.External != nil {
		return 0, fmt.Errorf("restart %s: it is external, and only watched", s.spec.Name)
	}
	s.life.Lock()
	defer s.life.Unlock()
	if s.stopped {
		return 0, fmt.Errorf("restart %s: %w", s.spec.Name, errStopped)
	}
	began := time.Now()
	s.mu.Lock()
	old := s.tree.pid
	s.faulty = began
	s.mu.Unlock()
	s.end()
	if err := s.plant(ctx); err != nil {
		return 0, fmt.Errorf("restart %s: %w", s.spec.Name, err)
	}
	took := time.Since(began)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Restarts++
	s.incident(Incident{Kind: Restarted, PID: old, OnPurpose: true,
		Text: fmt.Sprintf("%s: process %d was restarted as %d on purpose, ready after %s", s.spec.Name, old, s.tree.pid, took.Round(time.Millisecond))})
	return took, nil
}

// Recovered waits until the service is ready again after the last fault on purpose and returns the
// time since that fault. It waits for the service's patience. A line in the log cannot be waited
// for, because a service that goes on writes none: its port is looked at instead.
func (s *Service) Recovered(ctx context.Context) (time.Duration, error) {
	s.mu.Lock()
	faulty, gone := s.faulty, s.gone
	s.mu.Unlock()
	if faulty.IsZero() {
		return 0, fmt.Errorf("await %s: nothing was done to it", s.spec.Name)
	}
	how := s.spec.Ready
	if how.Log != "" || how == (Ready{Patience: how.Patience}) {
		if s.spec.port() == 0 {
			return 0, fmt.Errorf("await %s: it has neither a check that can be repeated nor a port", s.spec.Name)
		}
		how = Ready{TCP: fmt.Sprintf("127.0.0.1:%d", s.spec.port())}
	}
	ready, err := how.check(nil)
	if err == nil {
		if s.spec.Supervise != nil {
			gone = nil // somebody starts it again
		}
		err = ready.await(ctx, s.spec.Ready.Patience, gone)
	}
	if errors.Is(err, errEnded) {
		err = errors.New("it has ended, and nobody starts it again")
	}
	if err != nil {
		return 0, fmt.Errorf("await %s: %w", s.spec.Name, err)
	}
	return time.Since(faulty), nil
}
