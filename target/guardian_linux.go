package target

import (
	"encoding/gob"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// guardianVar is the whole environment of a guardian.
	guardianVar = "ASSAY_GUARDIAN"
	guardianEnv = guardianVar + "=1"
	// guardianName is what a guardian is called in the process table: not by the program's name, so
	// that whoever kills all processes of that name leaves somebody to clean up.
	guardianName = "trial-guard"
	// restFor is a pause before the spawn. Coming up costs a guardian processor time, which the
	// scheduler holds against it and its child wherever processors are scarce: without the pause,
	// short commands are timed up to three times as long on a busy machine.
	restFor = 2 * time.Millisecond
	// announceAfter keeps the news of the start, at which the program wakes up, out of the way of
	// commands that are shorter than that.
	announceAfter = 4 * time.Millisecond
	// guardianSocket is the descriptor of a guardian's socket to the program.
	guardianSocket = 3
)

// Keep is called by main before anything else: it turns a process that was started as a guardian
// into one. Then, when its tree has ended, inner is false and code is what to exit with; in any
// other process inner is true at once.
func Keep() (code int, inner bool) {
	if os.Getenv(guardianVar) == "" {
		return 0, true
	}
	if err := guard(); err != nil {
		return 1, false
	}
	return 0, false
}

// A guardian is the parent of a command and, as a subreaper, of all that the command leaves behind.
type guardian struct {
	socket *os.File
	saying sync.Mutex
	enc    *gob.Encoder
	dec    *gob.Decoder
	order  order
	// mainPID is the command's id until it is reaped, then 0.
	mainPID atomic.Int64
	// done is closed when the command is reaped.
	done chan struct{}
	// spawned is closed when pid and start are known.
	spawned chan struct{}
	pid     int
	start   start
	// started is closed when the program has been told that the command executes.
	started chan struct{}
	// ends takes the moments by which the tree is to have ended; empty is closed when it has.
	ends  chan time.Time
	empty chan struct{}
	// ended counts the processes that had to be ended after the command itself; ender is closed
	// when nobody counts any more.
	ended int
	ender chan struct{}
}

// guard is the life of a guardian.
func guard() error {
	debug.SetGCPercent(-1) // it allocates next to nothing, and must be quiet while the command executes
	// With one processor of the runtime's no thread of it looks for work, and its monitor sleeps soon
	// after the wait for the command has begun; with two it would look around every 20 us for
	// milliseconds, beside the command.
	runtime.GOMAXPROCS(1)
	unix.CloseOnExec(guardianSocket)
	rename()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	g := &guardian{
		socket: os.NewFile(guardianSocket, "guardian"),
		done:   make(chan struct{}), spawned: make(chan struct{}), started: make(chan struct{}),
		ends: make(chan time.Time), empty: make(chan struct{}), ender: make(chan struct{}),
	}
	g.enc, g.dec = gob.NewEncoder(g.socket), gob.NewDecoder(g.socket)
	g.say(report{Stage: stageReady})
	if err := g.dec.Decode(&g.order); err != nil {
		return err
	}
	setMark(g.order.Mark)
	go g.end()
	var refused report
	if g.pid, g.start, refused = g.spawn(); refused.Stage == stageRefused {
		g.say(refused)
		return nil
	}
	close(g.spawned)
	g.reap()
	return nil
}

// abandoned reports whether the program is gone. Before the command executes it has nothing to say,
// so that anything to read is the end.
func (g *guardian) abandoned() bool {
	fds := []unix.PollFd{{Fd: guardianSocket, Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}

// say sends a report. Where the program is gone, listen sees it too.
func (g *guardian) say(r report) {
	g.saying.Lock()
	defer g.saying.Unlock()
	_ = g.enc.Encode(r)
}

// listen does what the program says. When the program is gone, everything ends at once. It is called
// before the rest, and not after the spawn: a goroutine that starts, and a timer that is set, wake up
// threads of the runtime's, and a short command would share the processors with them.
func (g *guardian) listen() {
	select {
	case <-g.done:
	case <-time.After(restFor + announceAfter):
	}
	<-g.spawned
	g.say(report{Stage: stageStarted, PID: g.pid, Spawned: g.start.monotonic})
	close(g.started)
	quieten()
	for {
		var e ending
		if err := g.dec.Decode(&e); err != nil {
			g.endBy(time.Time{})
			return
		}
		g.endBy(time.Now().Add(e.Grace))
	}
}

// endBy asks for the end of the tree: politely until the moment, then by SIGKILL.
func (g *guardian) endBy(moment time.Time) {
	select {
	case g.ends <- moment:
	case <-g.empty:
	}
}

// reap waits for every child, the command's orphans among them, until there is none.
func (g *guardian) reap() {
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		reaped, err := unix.Wait4(-1, &status, 0, &usage)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD: nothing that descends from the command is left
			close(g.empty)
			<-g.ender
			g.say(report{Stage: stageEmpty, Leftover: g.ended})
			return
		case reaped == g.pid:
			done := g.start.account(status, &usage)
			g.mainPID.Store(0)
			close(g.done)
			<-g.started
			g.say(report{Stage: stageDone, PID: g.pid, Account: done})
			if g.order.EndAfter && !childless() {
				go g.endBy(time.Now().Add(g.order.Grace))
			}
		}
	}
}

// childless reports whether this process has no child, dead or alive.
func childless() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return errors.Is(err, unix.ECHILD)
}

const (
	// Between two looks at a tree that was asked to end, and at one that is being killed.
	politePause = 5 * time.Millisecond
	killPause   = time.Millisecond
)

// end waits until the end of the tree is asked for and brings it about.
func (g *guardian) end() {
	defer close(g.ender)
	var until time.Time
	select {
	case until = <-g.ends:
	case <-g.empty:
		return
	}
	debug.SetGCPercent(100) // looking at the process table again and again is not next to nothing
	seen, asked := map[identity]bool{}, map[identity]bool{}
	for {
		polite := time.Now().Before(until)
		for _, p := range below(processes(), os.Getpid()) {
			if !p.alive() {
				continue
			}
			id := p.identity
			if !seen[id] && g.mainPID.Load() == 0 {
				g.ended++ // the command itself was done before anybody turned to this process
			}
			seen[id] = true
			switch {
			case !polite:
				p.send(unix.SIGKILL)
			case !asked[id]:
				asked[id] = true
				p.send(unix.SIGTERM, unix.SIGCONT) // a stopped process cannot end
			}
		}
		pause := killPause
		if polite {
			pause = min(politePause, time.Until(until))
		}
		select {
		case <-g.empty:
			return
		case sooner := <-g.ends:
			if sooner.Before(until) {
				until = sooner
			}
		case <-time.After(pause):
		}
	}
}
