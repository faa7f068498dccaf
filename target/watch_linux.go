package target

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// watchPause is between two looks at a service. The end of its command is reported at once.
	watchPause = 100 * time.Millisecond
	// portPause is between two looks at a port whose listener lives: the kernel walks its whole table
	// of connections for one, which takes milliseconds.
	portPause = time.Second
	// heedFor bounds the wait for a guardian's report of a death, which takes microseconds.
	heedFor = time.Second
	// standWithin is how long after readiness the expected processes may take to stand.
	standWithin = 5 * time.Second
)

// A sighting is what the last look at a service saw.
type sighting struct {
	since    time.Time // the service has been ready
	oomKills int64
	looked   time.Time // at the port
	inodes   []string  // sockets that listen on the port
	listener process   // the oldest process that holds one of them; zero: none
	workers  map[identity]process
	missing  bool // fewer workers than expected were reported
	ended    []process
	standIn  process // of the process that stands for an external service
}

// watch looks at the service until ctx is done.
func (s *Service) watch(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	<-next.C
	for {
		// At multiples of the pause, as telemetry does: what wakes up at one moment wakes the processor once.
		now := time.Now()
		next.Reset(now.Truncate(watchPause).Add(watchPause).Sub(now))
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		s.mu.Lock()
		s.look()
		s.mu.Unlock()
	}
}

// look compares the service with what was last seen of it. The caller holds mu.
func (s *Service) look() {
	if s.ending || s.seen.since.IsZero() {
		return
	}
	s.lookAtPort()
	if s.tree != nil {
		s.lookAtWorkers()
	} else {
		s.lookAtExternal()
	}
}

// note records an incident, now.
func (s *Service) note(i Incident) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.incident(i)
}

// incident is note for a caller that holds mu.
func (s *Service) incident(i Incident) {
	i.At = time.Now()
	s.state.Incidents = append(s.state.Incidents, i)
}

// noteEnd records how the command ended, unless this package ended it, and reports whether the
// service goes on without it.
func (s *Service) noteEnd(t *tree, r report) (goesOn bool) {
	left := t.processes(processes())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.PID = 0
	if s.ending {
		return false
	}
	kind, how := r.Account.end()
	switch {
	case s.fault != 0:
		how += " on purpose"
	case kind == Killed:
		how += " from somebody else"
	}
	if kind == Exited && unix.WaitStatus(r.Account.Status).ExitStatus() == 0 && len(left) > 0 {
		s.state.Notes = append(s.state.Notes, fmt.Sprintf("%s: process %d %s and left %d processes in the background",
			s.spec.Name, r.PID, how, len(left)))
		return true
	}
	s.incident(Incident{
		Kind: kind, PID: r.PID, OnPurpose: s.fault != 0,
		Text: fmt.Sprintf("%s: process %d %s after %s", s.spec.Name, r.PID, how, r.Account.Wall.Round(time.Millisecond)),
	})
	return false
}

// end classifies the end of a service's command.
func (a account) end() (Kind, string) {
	status := unix.WaitStatus(a.Status)
	if !status.Signaled() {
		return Exited, fmt.Sprintf("ended with exit %d", status.ExitStatus())
	}
	how := "was ended by " + unix.SignalName(status.Signal())
	switch status.Signal() {
	case unix.SIGKILL:
		if a.OOMKills > 0 {
			return OOM, "was killed by the kernel for want of memory"
		}
		return Killed, how
	case unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2:
		return Killed, how
	}
	return Crashed, how
}

// lookAtPort records that another process, or none, listens on the port.
func (s *Service) lookAtPort() {
	port := s.spec.port()
	if port == 0 {
		return
	}
	before := s.seen.listener
	if before.lives() && time.Since(s.seen.looked) < portPause {
		return
	}
	s.seen.looked = time.Now()
	inodes := sockets(port)
	if before.lives() && slices.Equal(inodes, s.seen.inodes) {
		return
	}
	all := processes()
	listener, found := holder(all, inodes)
	s.seen.inodes = inodes
	if found && listener.identity == before.identity {
		return
	}
	s.seen.listener, s.state.Listener = listener, listener.pid
	switch {
	case !found && len(inodes) > 0:
		// Somebody between fork and exec, or of another user: the next look will tell.
		s.seen.inodes = nil
		s.seen.listener, s.state.Listener = before, before.pid
	case !found && s.tree != nil && before.pid == s.tree.pid && !before.lives():
		// The guardian reports it, and knows more.
	case !found && before.pid != 0:
		s.incident(Incident{Kind: Silent, PID: before.pid, OnPurpose: s.fault != 0,
			Text: fmt.Sprintf("%s: nobody listens on port %d any more; process %d did", s.spec.Name, port, before.pid)})
	case found:
		whose := "somebody else's"
		if slices.ContainsFunc(s.standing(all), func(p process) bool { return p.identity == listener.identity }) {
			whose = "its own"
		}
		last := "nobody"
		if before.pid != 0 {
			last = fmt.Sprintf("process %d", before.pid)
		}
		s.incident(Incident{Kind: Replaced, PID: listener.pid,
			Text: fmt.Sprintf("%s: process %d (%s, %s) listens on port %d, where %s did", s.spec.Name, listener.pid,
				listener.program(), whose, port, last)})
	}
}

// lookAtWorkers compares the processes of one kind with the number that is expected. Starts within
// that number are the service's way to stand up; each beyond it is a restart.
func (s *Service) lookAtWorkers() {
	if s.spec.Starts < 1 || s.main() == 0 {
		return
	}
	if s.seen.workers == nil {
		s.seen.workers = s.firstWorkers()
		return
	}
	gone := false
	for id, p := range s.seen.workers {
		if p.lives() {
			continue
		}
		delete(s.seen.workers, id)
		s.seen.ended = append(s.seen.ended, p)
		gone = true
		if p.pid == s.tree.pid {
			continue // the guardian reports it, and knows more
		}
		i := Incident{Kind: Exited, PID: p.pid, OnPurpose: s.fault != 0,
			Text: fmt.Sprintf("%s: process %d, one of %d expected, ended; how is known to its parent %d alone", s.spec.Name, p.pid, s.spec.Starts, p.parent)}
		if now := oomKills(); now > s.seen.oomKills {
			s.seen.oomKills, i.Kind = now, OOM
			i.Text = fmt.Sprintf("%s: process %d, one of %d expected, ended when the kernel killed for want of memory", s.spec.Name, p.pid, s.spec.Starts)
		}
		s.incident(i)
	}
	if gone || len(s.seen.ended) > 0 {
		s.lookForSuccessors()
	}
}

// firstWorkers are the expected processes once they all stand; nil before.
func (s *Service) firstWorkers() map[identity]process {
	kinds := kindsOf(s.tree.processes(processes()))
	for _, kind := range kinds {
		if len(kind) != s.spec.Starts || s.spec.Starts == 1 && kind[0].pid != s.main() {
			continue
		}
		workers := map[identity]process{}
		for _, p := range kind {
			workers[p.identity] = p
		}
		return workers
	}
	if !s.seen.missing && time.Since(s.seen.since) > standWithin {
		s.seen.missing = true
		var stand []string
		for kind, members := range kinds {
			stand = append(stand, fmt.Sprintf("%d of %s", len(members), strings.ReplaceAll(kind, "\x00", " ")))
		}
		slices.Sort(stand)
		s.incident(Incident{Kind: Missing, PID: s.main(),
			Text: fmt.Sprintf("%s: expected %d processes of one kind, but there are %s", s.spec.Name, s.spec.Starts, strings.Join(stand, ", "))})
	}
	return nil
}

// main is the process that stands for the service: the one that was started or, when that has put
// itself into the background, the one that listens.
func (s *Service) main() int {
	if s.state.PID != 0 {
		return s.state.PID
	}
	return s.state.Listener
}

// lookForSuccessors records which processes took the place of those that ended.
func (s *Service) lookForSuccessors() {
	for _, kind := range kindsOf(s.tree.processes(processes())) {
		for _, p := range kind {
			if _, known := s.seen.workers[p.identity]; known {
				continue
			}
			i := slices.IndexFunc(s.seen.ended, func(old process) bool { return old.parent == p.parent && old.born <= p.born })
			if i < 0 || len(s.seen.workers) >= s.spec.Starts {
				continue
			}
			old := s.seen.ended[i]
			s.seen.ended = slices.Delete(s.seen.ended, i, i+1)
			s.seen.workers[p.identity] = p
			s.state.Restarts++
			s.incident(Incident{Kind: Restarted, PID: p.pid, OnPurpose: s.fault != 0,
				Text: fmt.Sprintf("%s: process %d took the place of %d: start %d where %d are expected", s.spec.Name, p.pid,
					old.pid, s.spec.Starts+s.state.Restarts, s.spec.Starts)})
		}
	}
}

// kindsOf groups processes by parent and command line, digits aside: workers of one master often
// carry their number or a descriptor among their arguments.
func kindsOf(all []process) map[string][]process {
	kinds := map[string][]process{}
	for _, p := range all {
		raw, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/cmdline")
		line := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return '#'
			}
			return r
		}, string(raw))
		key := strings.TrimSuffix(line, "\x00") + " below " + strconv.Itoa(p.parent)
		kinds[key] = append(kinds[key], p)
	}
	return kinds
}
