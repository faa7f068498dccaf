package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Service is a process, or a group of them, that load goes to. Its methods may be called from
// several goroutines.
type Service struct {
	spec  Spec
	grace time.Duration
	logs  []*logFile

	life    sync.Mutex // held while the service is started, stopped or restarted
	stopped bool       // guarded by life
	stop    context.CancelFunc
	watches sync.WaitGroup

	mu    sync.Mutex // guards what follows
	tree  *tree      // nil for an external service
	state State
	seen  sighting
	// fell is closed when the present tree is empty or its command has ended badly, gone when it is empty.
	fell, gone chan struct{}
	ending     bool        // the present tree is being ended by this package
	fault      unix.Signal // the last one sent on purpose to the present tree
	faulty     time.Time   // when the last fault on purpose was there
}

// Start starts a service and waits until it is ready, or, for an external one, until it is found.
// A service that cannot be started, ends, or is not ready within its patience is an error, with the
// end of its output; nothing of it is left then. So is a port on which somebody listens already. The
// service lives until Stop, whatever becomes of ctx.
func Start(ctx context.Context, spec Spec) (*Service, error) {
	s := &Service{spec: spec, grace: spec.Command.Grace}
	if s.grace == 0 {
		s.grace = defaultGrace
	}
	var err error
	if spec.External != nil {
		err = s.find(ctx)
	} else if err = s.openLogs(); err == nil {
		err = s.plant(ctx)
	}
	if err != nil {
		s.closeLogs()
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.watches.Go(func() { s.watch(watching) })
	if spec.Supervise != nil && s.tree != nil {
		s.watches.Go(func() { s.supervise(watching) })
	}
	return s, nil
}

// plant starts the service's tree and waits until it is ready. After an error nothing is left of it.
func (s *Service) plant(ctx context.Context) error {
	if err := s.portIsFree(); err != nil {
		return err
	}
	for _, l := range s.logs {
		l.skip()
	}
	ready, err := s.spec.Ready.check(s.logs)
	if err != nil {
		return err
	}
	if err := s.sprout(); err != nil {
		return err
	}
	if err = ready.await(ctx, s.spec.Ready.Patience, s.fell); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrUnready, err)
	}
	if err == nil {
		err = s.stands()
	}
	if err != nil {
		err = s.epitaph(err)
		s.end()
	}
	return err
}

func (s *Service) portIsFree() error {
	port := s.spec.port()
	if port == 0 {
		return nil
	}
	inodes := sockets(port)
	if len(inodes) == 0 {
		return nil
	}
	who, _ := holder(processes(), inodes)
	return fmt.Errorf("port %d: process %d (%s) listens there already", port, who.pid, who.program())
}

// sprout starts the tree and follows it.
func (s *Service) sprout() error {
	o, err := s.spec.Command.order()
	if err != nil {
		return err
	}
	o.EndAfter = false
	f, closeFiles, err := s.spec.Command.files()
	if err != nil {
		return err
	}
	defer closeFiles()
	t, err := plant(o, f)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tree, s.fell, s.gone = t, make(chan struct{}), make(chan struct{})
	s.ending, s.fault, s.seen = false, 0, sighting{}
	s.state.PID, s.state.Listener = t.pid, 0
	fell, gone := s.fell, s.gone
	s.watches.Go(func() { s.follow(t, fell, gone) })
	return nil
}

// stands notes what stands when the service has just become ready.
func (s *Service) stands() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.ColdStart = clock(unix.CLOCK_MONOTONIC) - s.tree.spawned
	s.seen.since, s.seen.oomKills = time.Now(), oomKills()
	port := s.spec.port()
	if port == 0 {
		return nil
	}
	all := processes()
	inodes := sockets(port)
	listener, own := holder(s.tree.processes(all), inodes)
	if other, found := holder(all, inodes); found && !own {
		return fmt.Errorf("port %d was answered by process %d (%s), which is not its own", port, other.pid, other.program())
	}
	s.seen.inodes, s.seen.listener, s.state.Listener = inodes, listener, listener.pid
	return nil
}

// epitaph adds to the error of a service that did not come up how it ended, and the end of its output.
func (s *Service) epitaph(err error) error {
	s.mu.Lock()
	incidents, dead := s.state.Incidents, s.state.PID == 0
	s.mu.Unlock()
	if n := len(incidents); n > 0 && dead {
		err = fmt.Errorf("%w: %s", err, incidents[n-1].Text)
	}
	var tails []string
	for _, l := range s.logs {
		if tail := l.tail(); strings.TrimSpace(tail) != "" {
			tails = append(tails, tail)
		}
	}
	if len(tails) > 0 {
		err = fmt.Errorf("%w; the end of its output:\n%s", err, strings.Join(tails, "\n"))
	}
	return err
}

// follow notes the end of the command and of its tree.
func (s *Service) follow(t *tree, fell, gone chan struct{}) {
	defer close(gone)
	fallen := false
	for r := range t.reports {
		if r.Stage != stageDone {
			continue
		}
		// A command that ends well while others live below it has put itself into the background.
		if !s.noteEnd(t, r) {
			fallen = true
			close(fell)
		}
	}
	if t.lost != nil {
		s.note(Incident{Kind: Lost, PID: t.pid, Text: fmt.Sprintf("%s: %v", s.spec.Name, t.lost)})
	}
	s.mu.Lock()
	s.state.PID = 0
	s.mu.Unlock()
	if !fallen {
		close(fell)
	}
}

// end ends the present tree and waits until nothing is left.
func (s *Service) end() {
	s.mu.Lock()
	t, gone := s.tree, s.gone
	s.ending = true
	s.mu.Unlock()
	if t == nil {
		return
	}
	t.end(s.grace)
	<-gone
}

// Stop ends the service with all that descends from it. An external service is left alone. A
// stopped service keeps its last State.
func (s *Service) Stop() {
	s.stop()
	s.life.Lock()
	s.stopped = true
	s.end()
	s.life.Unlock()
	s.watches.Wait() // outside the lock: a supervision may be waiting for it
	s.closeLogs()
}

func (s *Service) openLogs() error {
	for _, f := range []*os.File{s.spec.Command.Stdout, s.spec.Command.Stderr} {
		l, err := openLog(f)
		if err != nil {
			return fmt.Errorf("read its output: %w", err)
		}
		if l == nil {
			continue
		}
		if len(s.logs) > 0 && s.logs[0].same(l) { // one file for both
			l.file.Close()
			continue
		}
		s.logs = append(s.logs, l)
	}
	return nil
}

func (s *Service) closeLogs() {
	for _, l := range s.logs {
		l.file.Close()
	}
	s.logs = nil
}

// PID is the process that stands for the service: the one that was started or, when that has put
// itself into the background, the one that listens; 0 when it has ended. It costs next to nothing.
func (s *Service) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.main()
}

// State is what is known of the service now. It looks at the whole process table, which takes
// milliseconds: where the process alone is wanted, PID is.
func (s *Service) State() State {
	s.heed()
	all := processes()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.looked = time.Time{} // whoever asks wants the present state
	s.look()
	state := s.state
	state.PID = s.main()
	state.Incidents, state.Notes = slices.Clone(state.Incidents), slices.Clone(state.Notes)
	for _, p := range s.standing(all) {
		state.PIDs = append(state.PIDs, p.pid)
	}
	slices.Sort(state.PIDs)
	return state
}

// heed waits for the report of a death that shows in the process table already.
func (s *Service) heed() {
	s.mu.Lock()
	pid, t := s.state.PID, s.tree
	s.mu.Unlock()
	if t == nil || pid == 0 {
		return
	}
	for until := time.Now().Add(heedFor); time.Now().Before(until); time.Sleep(killPause) {
		if p, ok := readProcess(pid); ok && p.alive() {
			return
		}
		s.mu.Lock()
		noted := s.state.PID != pid
		s.mu.Unlock()
		if noted {
			return
		}
	}
}

// standing are the living processes of the service. The caller holds mu.
func (s *Service) standing(all []process) []process {
	if s.tree != nil {
		return s.tree.processes(all)
	}
	return s.spec.external(all)
}

// errStopped says that a service was stopped before.
var errStopped = errors.New("it was stopped")

// errEnded says that a service ended while it was waited for.
var errEnded = errors.New("it ended before it was ready")
