package target

import (
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A process of a results folder is known by two marks. One is the environment variable Mark. A
// process that clears its environment keeps the other: the soft limit on real-time CPU time
// (RLIMIT_RTTIME), which every descendant inherits, which nobody but real-time audio sets, and which
// at this height, some hundred thousand years of microseconds, limits nothing.

// rttime is the limit that stands for a mark.
func rttime(mark string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(mark))
	return 1<<62 | h.Sum64()>>2
}

// setMark gives this process, and so all that it starts, the limit that stands for mark.
func setMark(mark string) {
	var lim unix.Rlimit
	if mark == "" || unix.Getrlimit(unix.RLIMIT_RTTIME, &lim) != nil || lim.Max != unix.RLIM_INFINITY {
		return
	}
	lim.Cur = rttime(mark)
	_ = unix.Setrlimit(unix.RLIMIT_RTTIME, &lim) // the environment is the other mark
}

// markOf is the value of Mark in an environment.
func markOf(env []string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, Mark+"="); ok {
			return value
		}
	}
	return ""
}

// carries reports whether p has exactly this mark.
func (p process) carries(mark string) bool {
	if slices.Contains(p.environ(), Mark+"="+mark) {
		return true
	}
	var lim unix.Rlimit
	return unix.Prlimit(p.pid, unix.RLIMIT_RTTIME, nil, &lim) == nil && lim.Cur == rttime(mark)
}

// sweepFor bounds SweepLeftovers: a process that a kill does not end within it waits for a device.
const sweepFor = 5 * time.Second

// SweepLeftovers kills every process that carries the mark of the results folder id, and returns how
// many it found. Such processes exist only if this program and a guardian were killed at the same
// moment. It spares this process and those above it.
func SweepLeftovers(id string) int {
	if id == "" {
		return 0
	}
	spared := lineage()
	ended := map[identity]bool{}
	for until := time.Now().Add(sweepFor); time.Now().Before(until); time.Sleep(time.Millisecond) {
		again := false
		for _, p := range processes() {
			if spared[p.pid] || !p.alive() || !p.carries(id) {
				continue
			}
			p.send(unix.SIGKILL)
			ended[p.identity] = true
			again = true
		}
		if !again {
			break
		}
	}
	return len(ended)
}

// lineage is this process and all above it.
func lineage() map[int]bool {
	line := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !line[pid]; {
		line[pid] = true
		p, ok := readProcess(pid)
		if !ok {
			break
		}
		pid = p.parent
	}
	return line
}
