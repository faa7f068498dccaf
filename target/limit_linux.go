package target

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// resources are the names of resource limits as prlimit(1) has them.
func resources() map[string]int {
	return map[string]int{
		"as": unix.RLIMIT_AS, "core": unix.RLIMIT_CORE, "cpu": unix.RLIMIT_CPU, "data": unix.RLIMIT_DATA,
		"fsize": unix.RLIMIT_FSIZE, "locks": unix.RLIMIT_LOCKS, "memlock": unix.RLIMIT_MEMLOCK,
		"msgqueue": unix.RLIMIT_MSGQUEUE, "nice": unix.RLIMIT_NICE, "nofile": unix.RLIMIT_NOFILE,
		"nproc": unix.RLIMIT_NPROC, "rss": unix.RLIMIT_RSS, "rtprio": unix.RLIMIT_RTPRIO,
		"rttime": unix.RLIMIT_RTTIME, "sigpending": unix.RLIMIT_SIGPENDING, "stack": unix.RLIMIT_STACK,
	}
}

// limitsOf turns named limits into the kernel's numbers, in order of name.
func limitsOf(named map[string]uint64) ([]limit, error) {
	known := resources()
	var limits []limit
	for _, name := range slices.Sorted(maps.Keys(named)) {
		resource, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("limit %s: got no such limit, want one of %s", name,
				strings.Join(slices.Sorted(maps.Keys(known)), " "))
		}
		limits = append(limits, limit{Name: name, Resource: resource, Value: named[name]})
	}
	return limits, nil
}

// impose sets the limits of this process, so that a child has them from its first instruction, and
// returns what undoes that as far as it can and must be undone: a guardian starts one command.
func impose(limits []limit) (undo func(), failed limit, err error) {
	var before []unix.Rlimit
	undo = func() {
		for i, lim := range before {
			l := limits[i]
			if l.keepable() {
				lim = unix.Rlimit{Cur: l.Value, Max: l.Value}
			}
			_ = syscall.Setrlimit(l.Resource, &syscall.Rlimit{Cur: lim.Cur, Max: lim.Max})
		}
	}
	for _, l := range limits {
		var lim unix.Rlimit
		if err := unix.Getrlimit(l.Resource, &lim); err != nil {
			return undo, l, err
		}
		// Package syscall's own Setrlimit, because it also stops the fork from restoring nofile.
		now := syscall.Rlimit{Cur: l.Value, Max: max(lim.Max, l.Value)}
		if l.keepable() {
			now.Max = l.Value
		}
		if err := syscall.Setrlimit(l.Resource, &now); err != nil {
			return undo, l, err
		}
		before = append(before, lim)
	}
	return undo, limit{}, nil
}

// keepable reports whether a guardian can live under the limit itself. A hard limit that was lowered
// stays so, unless one has the right to raise it.
func (l limit) keepable() bool {
	switch l.Resource {
	case unix.RLIMIT_AS, unix.RLIMIT_DATA, unix.RLIMIT_NPROC, unix.RLIMIT_CPU, unix.RLIMIT_RTTIME:
		return false
	case unix.RLIMIT_NOFILE:
		return l.Value >= 64
	}
	return true
}

// harden lowers the hard limits of a child where impose could not. Its soft limits hold already, so
// that only a child that raises one at once gains from the moment between.
func harden(pid int, limits []limit) {
	for _, l := range limits {
		if !l.keepable() {
			_ = unix.Prlimit(pid, l.Resource, &unix.Rlimit{Cur: l.Value, Max: l.Value}, nil)
		}
	}
}
