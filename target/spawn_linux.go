package target

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A start is what was noted just before a spawn.
type start struct {
	monotonic time.Duration
	ahead     time.Duration // of CLOCK_REALTIME before CLOCK_MONOTONIC
	oomKills  int64
	peak      int64
}

// spawn starts the order's command. On the way its CPUs and its nice value are given to the thread
// that forks, and its soft limits to this process, because a child has from its first instruction
// what its parent has: setting them on the child afterwards would be a race.
func (g *guardian) spawn() (pid int, began start, refused report) {
	if g.order.Nice == 0 && len(g.order.CPUs) == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return g.fork()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with what was set on it
		if refused = g.dress(); refused.Stage == 0 {
			pid, began, refused = g.fork()
		}
	}()
	<-done
	return pid, began, refused
}

// dress gives the calling thread the command's CPUs and nice value.
func (g *guardian) dress() report {
	if len(g.order.CPUs) > 0 {
		var set unix.CPUSet
		for _, cpu := range g.order.CPUs {
			set.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return refusal("pin to cpus", err)
		}
		var got unix.CPUSet
		if err := unix.SchedGetaffinity(0, &got); err != nil || got != set {
			return refusal("pin to cpus", unix.EINVAL) // the kernel leaves out those that are not there
		}
	}
	if g.order.Nice != 0 {
		if err := unix.Setpriority(unix.PRIO_PROCESS, 0, g.order.Nice); err != nil {
			return refusal("set nice", err)
		}
	}
	return report{}
}

// fork starts the command on the calling thread.
func (g *guardian) fork() (pid int, began start, refused report) {
	attr := &syscall.ProcAttr{
		Dir: g.order.Dir, Env: g.order.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true},
	}
	began = begin()
	go g.listen()
	time.Sleep(restFor)
	// From here to the undoing as little as possible may be allocated: the limits may forbid it.
	undo, failed, err := impose(g.order.Limits)
	defer undo()
	if err != nil {
		return 0, began, refusal("set limit "+failed.Name, err)
	}
	if g.abandoned() {
		return 0, began, refusal("start", unix.ECANCELED)
	}
	began.now()
	pid, err = syscall.ForkExec(g.order.Path, g.order.Args, attr)
	if err != nil {
		return 0, began, refusal("start", err)
	}
	g.mainPID.Store(int64(pid))
	undo()
	harden(pid, g.order.Limits)
	return pid, began, report{}
}

func refusal(doing string, err error) report {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		errno = syscall.EINVAL
	}
	return report{Stage: stageRefused, Doing: doing, Errno: int(errno)}
}

// begin makes this process small and notes what the account of a command starts from, all but the
// moment.
func begin() start {
	s := start{oomKills: oomKills()}
	slim()
	s.peak = ownPeak()
	return s
}

// now notes the moment just before the spawn.
func (s *start) now() {
	s.ahead = realtimeAhead()
	s.monotonic = clock(unix.CLOCK_MONOTONIC)
}

// account is the kernel's account of a command that was just reaped.
func (s start) account(status unix.WaitStatus, u *unix.Rusage) account {
	wall := clock(unix.CLOCK_MONOTONIC) - s.monotonic
	return account{
		Status: uint32(status),
		Wall:   wall, WallSecond: wall + realtimeAhead() - s.ahead,
		User: time.Duration(u.Utime.Nano()), System: time.Duration(u.Stime.Nano()),
		RSSPeakBytes: u.Maxrss << 10, FloorBytes: s.peak,
		CtxSwitches: u.Nvcsw + u.Nivcsw, PageFaults: u.Minflt + u.Majflt,
		OOMKills: oomKills() - s.oomKills,
	}
}

// realtimeAhead is by how much CLOCK_REALTIME is ahead of CLOCK_MONOTONIC. Of a few attempts the one
// counts in which the least time went by, so that a process that is descheduled between two readings
// does not see a clock that was set.
func realtimeAhead() time.Duration {
	const atOnce = 2 * time.Microsecond
	var ahead time.Duration
	least := time.Duration(1<<63 - 1)
	for range 8 {
		before, realtime := clock(unix.CLOCK_MONOTONIC), clock(unix.CLOCK_REALTIME)
		if took := clock(unix.CLOCK_MONOTONIC) - before; took < least {
			least, ahead = took, realtime-before
		}
		if least < atOnce {
			break
		}
	}
	return ahead
}

func clock(id int32) time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(id, &ts) // both clocks exist on every Linux
	return time.Duration(ts.Nano())
}

// rename calls this process by guardianName in the process table.
func rename() {
	name, _ := unix.BytePtrFromString(guardianName)                          // holds no zero byte
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0) // only a name
}

// quieten takes the command's files from the guardian, so that it does not keep a pipe open.
func quieten() {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(null)
	for fd := range 3 {
		_ = unix.Dup3(null, fd, 0)
	}
}
