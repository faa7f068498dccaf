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
// returns what undoes it. Without the right to raise a hard limit again, it sets the soft ones only.
func impose(limits []limit) (undo func(), failed limit, err error) {
	var before []unix.Rlimit
	undo = func() {
		for i, lim := range before {
			old := syscall.Rlimit{Cur: lim.Cur, Max: lim.Max}
			_ = syscall.Setrlimit(limits[i].Resource, &old)
		}
	}
	hard := mayRaise()
	for _, l := range limits {
		var lim unix.Rlimit
		if err := unix.Getrlimit(l.Resource, &lim); err != nil {
			return undo, l, err
		}
		// Package syscall's own Setrlimit, because it also stops the fork from restoring nofile.
		now := syscall.Rlimit{Cur: l.Value, Max: max(lim.Max, l.Value)}
		if hard {
			now.Max = l.Value
		}
		if err := syscall.Setrlimit(l.Resource, &now); err != nil {
			return undo, l, err
		}
		before = append(before, lim)
	}
	return undo, limit{}, nil
}

// mayRaise reports whether this process may raise hard limits.
func mayRaise() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	return unix.Capget(&header, &sets[0]) == nil && sets[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}

// harden lowers the hard limits of a child to its soft ones, where impose could not. Its soft limits
// hold already, so that only a child that raises one at once gains from the moment between.
func harden(pid int, limits []limit) {
	for _, l := range limits {
		_ = unix.Prlimit(pid, l.Resource, &unix.Rlimit{Cur: l.Value, Max: l.Value}, nil)
	}
}
