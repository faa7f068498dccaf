package target

import (
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A tree is a command with all that descends from it, seen from the program. Its methods may be
// called from several goroutines.
type tree struct {
	guardian *exec.Cmd
	socket   *os.File
	saying   sync.Mutex
	enc      *gob.Encoder
	dec      *gob.Decoder
	// reports are what the guardian says after the command has started; closed after the last.
	reports chan report
	pid     int
	spawned time.Duration // CLOCK_MONOTONIC
	// lost is why the guardian ended before its tree did; to be read when reports is closed.
	lost error
}

// files are what a command reads and writes.
type files struct{ in, out, err *os.File }

// readyFor is how long a guardian may take to stand. It takes milliseconds; this is for a machine
// that swaps.
const readyFor = 30 * time.Second

// plant starts a guardian and has it start the command. The caller receives from reports until it
// is closed.
func plant(o order, f files) (*tree, error) {
	if os.Getenv(guardianVar) != "" {
		return nil, fmt.Errorf("start %s: %w", o.Path, ErrGuardian)
	}
	// Orphans of a guardian that dies come here.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	t, err := startGuardian(f, o.Mark)
	if err != nil {
		return nil, fmt.Errorf("start the guardian of %s: %w", o.Path, err)
	}
	if err := t.begin(o); err != nil {
		t.socket.Close() // at which a guardian that stands ends
		_ = t.guardian.Process.Kill()
		_ = t.guardian.Wait()
		endOrphans() // it may have died between the fork and its report
		return nil, err
	}
	go t.hear()
	return t, nil
}

func startGuardian(f files, mark string) (*tree, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "guardian")
	defer theirs.Close()
	if err := unix.SetNonblock(pair[0], true); err != nil {
		unix.Close(pair[0])
		return nil, err
	}
	ours := os.NewFile(uintptr(pair[0]), "guardian")
	cmd := &exec.Cmd{
		Path: "/proc/self/exe",
		// A test binary without Keep would otherwise execute its tests again. The mark tells people
		// whose guardian it is.
		Args: []string{guardianName, "-test.run=^$", mark},
		Env:  []string{guardianEnv}, Dir: "/",
		Stdin: f.in, Stdout: f.out, Stderr: f.err,
		ExtraFiles:  []*os.File{theirs},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	return &tree{
		guardian: cmd, socket: ours, enc: gob.NewEncoder(ours), dec: gob.NewDecoder(ours),
		reports: make(chan report, 4),
	}, nil
}

// begin hands the order over and waits until the command executes.
func (t *tree) begin(o order) error {
	if err := t.socket.SetReadDeadline(time.Now().Add(readyFor)); err != nil {
		return fmt.Errorf("start the guardian of %s: %w", o.Path, err)
	}
	var r report
	if err := t.dec.Decode(&r); err != nil || r.Stage != stageReady {
		return fmt.Errorf("start %s: %w", o.Path, t.noGuardian(err))
	}
	if err := t.enc.Encode(o); err != nil {
		return fmt.Errorf("start %s: %w", o.Path, err)
	}
	r = report{}
	if err := t.dec.Decode(&r); err != nil {
		return fmt.Errorf("start %s: %w", o.Path, lostErr(err))
	}
	if r.Stage == stageRefused {
		return startErr(o, r.Doing, syscall.Errno(r.Errno))
	}
	t.pid, t.spawned = r.PID, r.Spawned
	return t.socket.SetReadDeadline(time.Time{})
}

// noGuardian says why the process that was to be a guardian did not say that it is one.
func (t *tree) noGuardian(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: or it took longer than %s", ErrGuardian, readyFor)
	}
	_ = t.guardian.Wait() // it closed its socket, so it has ended
	if status, ok := t.guardian.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return fmt.Errorf("its guardian is gone: %s", t.guardian.ProcessState)
	}
	return ErrGuardian
}

// hear passes on what the guardian says, until its end.
func (t *tree) hear() {
	defer close(t.reports)
	empty := false
	var cause error
	for {
		var r report
		if cause = t.dec.Decode(&r); cause != nil {
			break
		}
		empty = empty || r.Stage == stageEmpty
		t.reports <- r
	}
	t.socket.Close()
	err := t.guardian.Wait() // only then are its orphans this process's
	if !empty {
		t.lost = fmt.Errorf("watch process %d: its guardian ended before it, and so it was ended: %w", t.pid, cmp.Or(err, cause))
		endOrphans()
	}
}

func lostErr(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("guardian is gone")
	}
	return err
}

// end asks for the end of the whole tree: SIGTERM now, SIGKILL after the grace. Where the guardian is
// gone, hear sees to the tree.
func (t *tree) end(grace time.Duration) {
	t.saying.Lock()
	defer t.saying.Unlock()
	_ = t.enc.Encode(ending{Grace: grace})
}

// age is the time since the spawn.
func (t *tree) age() time.Duration { return clock(unix.CLOCK_MONOTONIC) - t.spawned }

// processes are those below the guardian that live.
func (t *tree) processes(all []process) []process {
	return slices.DeleteFunc(below(all, t.guardian.Process.Pid), func(p process) bool { return !p.alive() })
}

// endOrphans kills what a dead guardian has left to this process: its children in other sessions
// that are no guardians, and all below them. This process's own other children are in its session.
func endOrphans() {
	self := os.Getpid()
	own, _ := readProcess(self)
	for {
		// No child may be between its fork and its exec: it would look like this process.
		syscall.ForkLock.RLock()
		all := processes()
		var roots []process
		for _, p := range all {
			if p.parent == self && p.session != own.session && !p.isGuardian() {
				roots = append(roots, p)
			}
		}
		syscall.ForkLock.RUnlock()
		if len(roots) == 0 {
			return
		}
		for _, root := range roots {
			root.send(unix.SIGKILL)
			for _, p := range below(all, root.pid) {
				p.send(unix.SIGKILL)
			}
			var status unix.WaitStatus
			_, _ = unix.Wait4(root.pid, &status, unix.WNOHANG, nil)
		}
		time.Sleep(killPause)
	}
}

// isGuardian reports whether p is one of this program's guardians.
func (p process) isGuardian() bool {
	env := p.environ()
	return len(env) == 1 && strings.HasPrefix(env[0], guardianVar+"=")
}
