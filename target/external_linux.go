package target

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// find waits until an external service is there and, where it has a readiness check, ready.
func (s *Service) find(ctx context.Context) error {
	ready, err := s.spec.Ready.check(nil)
	if err != nil {
		return err
	}
	here := check(func(ctx context.Context) error {
		if len(s.spec.external(processes())) == 0 {
			return fmt.Errorf("nothing found by %s", s.spec.externalName())
		}
		return ready(ctx)
	})
	patience := s.spec.Ready.Patience
	if patience == 0 {
		patience = time.Second // it is somebody else's, and is expected to be there
	}
	if err := here.await(ctx, patience, nil); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := processes()
	found := s.standing(all)
	s.seen.since, s.seen.oomKills = time.Now(), oomKills()
	if len(found) > 0 {
		s.state.PID, s.seen.standIn = found[0].pid, found[0]
	}
	if port := s.spec.port(); port != 0 {
		s.seen.inodes = sockets(port)
		s.seen.listener, _ = holder(all, s.seen.inodes)
		s.state.Listener = s.seen.listener.pid
	}
	return nil
}

func (s Spec) externalName() string {
	switch e := s.External; {
	case e.PID != 0:
		return fmt.Sprintf("pid %d", e.PID)
	case e.Port != 0:
		return fmt.Sprintf("port %d", e.Port)
	default:
		return "cgroup " + e.Cgroup
	}
}

// external are the living processes of an external service; the first one stands for it.
func (s Spec) external(all []process) []process {
	var roots []process
	switch e := s.External; {
	case e == nil:
		return nil
	case e.PID != 0:
		roots = slices.DeleteFunc(slices.Clone(all), func(p process) bool { return p.pid != e.PID })
	case e.Port != 0:
		if p, ok := holder(all, sockets(e.Port)); ok {
			roots = []process{p}
		}
	case e.Cgroup != "":
		pids := members(e.Cgroup)
		return slices.DeleteFunc(slices.Clone(all), func(p process) bool { return !p.alive() || !slices.Contains(pids, p.pid) })
	}
	found := roots
	for _, root := range roots {
		found = append(found, below(all, root.pid)...)
	}
	return slices.DeleteFunc(found, func(p process) bool { return !p.alive() })
}

// members are the processes of a control group: a folder, or a path below one of the hierarchies.
func members(group string) []int {
	folders := []string{group}
	if hierarchies, err := filepath.Glob("/sys/fs/cgroup/*"); err == nil && !strings.HasPrefix(group, "/sys/") {
		folders = []string{filepath.Join("/sys/fs/cgroup", group)}
		for _, h := range hierarchies {
			folders = append(folders, filepath.Join(h, group))
		}
	}
	for _, folder := range folders {
		raw, err := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
		if err != nil {
			continue
		}
		var pids []int
		for _, line := range strings.Fields(string(raw)) {
			if pid, err := strconv.Atoi(line); err == nil {
				pids = append(pids, pid)
			}
		}
		if len(pids) > 0 {
			return pids
		}
	}
	return nil
}

// lookAtExternal records that the process that stands for an external service has ended. The
// caller holds mu.
func (s *Service) lookAtExternal() {
	if s.state.PID == 0 {
		return
	}
	if s.seen.standIn.lives() {
		return
	}
	s.incident(Incident{Kind: Exited, PID: s.state.PID,
		Text: fmt.Sprintf("%s: process %d, found by %s, ended; how is known to its parent alone", s.spec.Name, s.state.PID, s.spec.externalName())})
	s.state.PID = 0
}
