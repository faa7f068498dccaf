package target

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// userHz is the unit of CPU time in /proc/PID/stat: clock ticks a second, 100 on every Linux.
const userHz = 100

// busyCores is the CPU use from which a service counts as busy: well above what an idle one uses, and
// low enough for a busy one that shares its core with others.
const busyCores = 0.2

// supervise checks the service's health and restarts it when the check fails, or when it has ended.
func (s *Service) supervise(ctx context.Context) {
	rule := s.spec.Supervise
	ticker := time.NewTicker(max(rule.Period, time.Millisecond))
	defer ticker.Stop()
	failures := 0
	var first time.Time
	var cpu uint64
	for {
		s.mu.Lock()
		gone := s.gone
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-gone:
			s.revive(ctx, gone, "it had ended")
			failures = 0
			continue
		case <-ticker.C:
		}
		began, used := time.Now(), s.cpuTicks()
		err := healthy(ctx, rule.HTTP, rule.Timeout)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
			continue
		}
		if failures++; failures == 1 {
			first, cpu = began, used
		}
		if failures < max(rule.Failures, 1) {
			continue
		}
		s.revive(ctx, gone, s.diagnosis(failures, time.Since(first), cpu, err))
		failures = 0
	}
}

func healthy(ctx context.Context, url string, timeout time.Duration) error {
	if timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		ctx = bounded
	}
	err := answers(ctx, url)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer from %s within %s", url, timeout)
	}
	return err
}

// cpuTicks is the CPU time that the service's living processes have used.
func (s *Service) cpuTicks() uint64 {
	all := processes()
	s.mu.Lock()
	defer s.mu.Unlock()
	var ticks uint64
	for _, p := range s.standing(all) {
		ticks += p.cpu
	}
	return ticks
}

// diagnosis says in which state the health check found the service that it is about to kill: a probe
// that fails because a worker is busy is the probe's mistake, not the worker's.
func (s *Service) diagnosis(failures int, span time.Duration, cpu uint64, err error) string {
	all := processes()
	s.mu.Lock()
	defer s.mu.Unlock()
	standing := s.standing(all)
	var ticks uint64
	stopped, running := true, 0
	for _, p := range standing {
		ticks += p.cpu
		stopped = stopped && (p.state == 'T' || p.state == 't')
		running += p.running()
	}
	var cores float64
	if ticks > cpu && span > 0 {
		cores = float64(ticks-cpu) / userHz / span.Seconds()
	}
	how := "idle"
	switch {
	case len(standing) == 0:
		return fmt.Sprintf("found dead by probe: %d checks failed, the last one: %v", failures, err)
	case stopped:
		how = "stopped"
	case cores >= busyCores || running > 0:
		how = "busy"
	}
	return fmt.Sprintf("killed by probe while %s: worker alive, %.1f cores used over %s, %d threads running or waiting for a disk; %d checks failed, the last one: %v",
		how, cores, span.Round(time.Millisecond), running, failures, err)
}

// revive restarts the tree that has, or had, this gone channel, unless somebody else has done so
// meanwhile, and records the cause. A restart that fails is tried again a period later.
func (s *Service) revive(ctx context.Context, gone chan struct{}, cause string) {
	s.life.Lock()
	defer s.life.Unlock()
	s.mu.Lock()
	old, purpose, present := s.main(), s.fault != 0, s.gone == gone
	if old == 0 {
		old = s.tree.pid
	}
	s.mu.Unlock()
	if ctx.Err() != nil || !present {
		return
	}
	s.end()
	if err := s.plant(ctx); err != nil {
		if ctx.Err() != nil {
			return
		}
		s.note(Incident{Kind: Restarted, PID: old, OnPurpose: purpose,
			Text: fmt.Sprintf("%s: process %d was to be restarted: %s; the restart failed: %v", s.spec.Name, old, cause, err)})
		select {
		case <-ctx.Done():
		case <-time.After(max(s.spec.Supervise.Period, watchPause)):
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Restarts++
	s.incident(Incident{Kind: Restarted, PID: old, OnPurpose: purpose,
		Text: fmt.Sprintf("%s: process %d was restarted as %d: %s", s.spec.Name, old, s.tree.pid, cause)})
}
