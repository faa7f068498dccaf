package traps

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lastCPU binds the calling thread, and what it executes, to the last processor that it may use.
func lastCPU() error {
	var allowed, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return err
	}
	for cpu := range 1024 {
		if allowed.IsSet(cpu) {
			one.Zero()
			one.Set(cpu)
		}
	}
	return unix.SchedSetaffinity(0, &one)
}

// inFront gives the calling thread, and what it executes, real-time priority where that is allowed.
func inFront(priority uint32) {
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: priority}, 0)
}

// bound becomes a program on the last processor, before which nobody comes but the neighbour.
func bound(args []string) error {
	runtime.LockOSThread()
	if err := lastCPU(); err != nil {
		return err
	}
	inFront(5)
	env := os.Environ()
	for i, kv := range env {
		if strings.HasPrefix(kv, SubjectVariable+"=") {
			env[i] = SubjectVariable + "="
		}
	}
	return syscall.Exec(args[0], args, env)
}

// neighbour takes the last processor for so long, lets go of it for so long, and so on, until it is
// ended.
func neighbour(args []string) error {
	turns, err := durations(args)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := lastCPU(); err != nil {
		return err
	}
	inFront(10)
	for until := time.Now().Add(patience); time.Now().Before(until); {
		spin(turns[0])
		time.Sleep(turns[1])
	}
	return nil
}
