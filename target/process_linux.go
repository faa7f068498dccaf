package target

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An identity tells processes apart, those too that had the same id one after the other.
type identity struct {
	pid  int
	born uint64 // clock ticks since boot
}

// A process is one line of the process table.
type process struct {
	identity
	parent, session int
	state           byte
	cpu             uint64 // clock ticks used
}

// alive reports whether p still executes: it is neither a zombie nor dead.
func (p process) alive() bool { return p.state != 'Z' && p.state != 'X' }

// lives reports whether p is still there and alive.
func (p process) lives() bool {
	now, ok := readProcess(p.pid)
	return ok && now.identity == p.identity && now.alive()
}

// running counts the threads of p that run, wait for a core, or wait for a device.
func (p process) running() int {
	folder := "/proc/" + strconv.Itoa(p.pid) + "/task/"
	tasks, err := os.ReadDir(folder)
	if err != nil {
		return 0
	}
	n := 0
	for _, task := range tasks {
		if thread, ok := readStat(folder + task.Name() + "/stat"); ok && (thread.state == 'R' || thread.state == 'D') {
			n++
		}
	}
	return n
}

// readProcess is the process with the id. False means that there is none.
func readProcess(pid int) (process, bool) {
	p, ok := readStat("/proc/" + strconv.Itoa(pid) + "/stat")
	p.pid = pid
	return p, ok
}

// readStat reads a stat file of proc(5), all but the id.
func readStat(path string) (process, bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return process{}, false
	}
	// The name in parentheses may hold anything, parentheses too; all other fields are plain.
	end := bytes.LastIndexByte(raw, ')')
	if end < 0 {
		return process{}, false
	}
	fields := strings.Fields(string(raw[end+1:]))
	if len(fields) < 20 {
		return process{}, false
	}
	p := process{state: fields[0][0]}
	p.parent, _ = strconv.Atoi(fields[1])
	p.session, _ = strconv.Atoi(fields[3])
	user, _ := strconv.ParseUint(fields[11], 10, 64)
	system, _ := strconv.ParseUint(fields[12], 10, 64)
	p.cpu = user + system
	p.born, _ = strconv.ParseUint(fields[19], 10, 64)
	return p, true
}

// processes reads the whole process table. It is not one moment's: callers look again until what
// they see agrees with what they want.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

// below are the processes of all that descend from one of the roots, the roots themselves excluded.
func below(all []process, roots ...int) []process {
	children := map[int][]process{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []process
	seen := map[int]bool{}
	for len(roots) > 0 {
		root := roots[0]
		roots = roots[1:]
		if seen[root] {
			continue
		}
		seen[root] = true
		for _, p := range children[root] {
			if !seen[p.pid] {
				found = append(found, p)
				roots = append(roots, p.pid)
			}
		}
	}
	return found
}

// send sends the signals to exactly the process p, and to none that has its id after it: the
// descriptor is opened first and the process looked at again.
func (p process) send(signals ...unix.Signal) bool {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if now, ok := readProcess(p.pid); !ok || now.identity != p.identity {
		return false
	}
	sent := true
	for _, s := range signals {
		sent = unix.PidfdSendSignal(fd, s, nil, 0) == nil && sent
	}
	return sent
}

// environ is the environment that the process was started with; nil if it cannot be read.
func (p process) environ() []string {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "environ"))
	if err != nil || len(raw) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
}
