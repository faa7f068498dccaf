package telemetry

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// A pidStat is what readings need of /proc/PID/stat (proc_pid_stat(5)).
type pidStat struct {
	State        byte // R running, S sleeping, D waiting for a disk, Z ended and not yet collected, …
	Parent       int
	MinorFaults  uint64
	MajorFaults  uint64
	User, System uint64 // ticks
	// Of children that have ended and were waited for.
	ChildMinor, ChildMajor uint64
	ChildUser, ChildSystem uint64
	Threads                int
	Started                uint64 // ticks after boot
	RSSPages               int64
}

// parsePIDStat reads /proc/PID/stat. The name in parentheses may hold anything, also parentheses
// and blanks, so that the last closing one ends it.
func parsePIDStat(b []byte) (pidStat, error) {
	var s pidStat
	end := bytes.LastIndexByte(b, ')')
	if end < 0 || end+2 >= len(b) {
		return s, fmt.Errorf("parse /proc/PID/stat: no name in parentheses in %q", b)
	}
	into := map[int]*uint64{10: &s.MinorFaults, 11: &s.ChildMinor, 12: &s.MajorFaults, 13: &s.ChildMajor,
		14: &s.User, 15: &s.System, 16: &s.ChildUser, 17: &s.ChildSystem, 22: &s.Started}
	field := 2
	for f := range bytes.FieldsSeq(b[end+1:]) {
		field++
		if field == 3 {
			s.State = f[0]
			continue
		}
		to, known := into[field]
		if !known && field != 4 && field != 20 && field != 24 {
			continue
		}
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil || n < 0 {
			return s, fmt.Errorf("parse /proc/PID/stat: field %d: got %q, want a number", field, f)
		}
		switch field {
		case 4:
			s.Parent = int(n)
		case 20:
			s.Threads = int(n)
		case 24:
			s.RSSPages = n
			return s, nil
		default:
			*to = uint64(n)
		}
	}
	return s, fmt.Errorf("parse /proc/PID/stat: got %d fields, want at least 24", field)
}

// Trees knows which processes belong to which object. It is shared by the samplers of one watch, so
// that /proc is listed once a tick.
type Trees struct {
	// Objects are asked for again at every tick: a target that is started again has another process.
	Objects func() []Object

	root    root
	parents map[int]int // of every process on the machine, read once
	belongs map[string]map[int]bool
	now     []tree
	at      time.Time
}

// A tree is an object with its living processes.
type tree struct {
	object string
	root   int
	pids   []int
}

// treeAge is how long a listing stands: much less than a tick, longer than reading all samplers.
const treeAge = 20 * time.Millisecond

// processes lists the objects with their living processes. A process that was once in a tree stays
// in it, also when its parent ends and it is handed to another.
func (t *Trees) processes() ([]tree, error) {
	if t.now != nil && time.Since(t.at) < treeAge {
		return t.now, nil
	}
	if t.root == "" {
		t.root = "/"
	}
	pids, err := t.list()
	if err != nil {
		return nil, err
	}
	if t.belongs == nil {
		t.parents, t.belongs = map[int]int{}, map[string]map[int]bool{}
	}
	alive := make(map[int]bool, len(pids))
	for _, pid := range pids {
		alive[pid] = true
		if _, known := t.parents[pid]; !known {
			if b, err := t.root.read("proc", strconv.Itoa(pid), "stat"); err == nil {
				if s, err := parsePIDStat(b); err == nil {
					t.parents[pid] = s.Parent
				}
			}
		}
	}
	for pid := range t.parents {
		if !alive[pid] {
			delete(t.parents, pid)
		}
	}
	t.now = t.now[:0]
	for _, o := range t.Objects() {
		t.now = append(t.now, t.grow(o, pids, alive))
	}
	t.at = time.Now()
	return t.now, nil
}

// list is all process numbers.
func (t *Trees) list() ([]int, error) {
	dir, err := os.Open(t.root.path("proc"))
	if err != nil {
		return nil, fmt.Errorf("list processes: %w: %w", ErrAbsent, err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// grow is an object's tree: those who were in it and live, and the descendants of its root.
func (t *Trees) grow(o Object, pids []int, alive map[int]bool) tree {
	members := t.belongs[o.Name]
	if members == nil {
		members = map[int]bool{}
		t.belongs[o.Name] = members
	}
	for pid := range members {
		if !alive[pid] {
			delete(members, pid)
		}
	}
	if o.PID > 0 && alive[o.PID] {
		members[o.PID] = true
	}
	if o.Cgroup != "" {
		for _, pid := range t.inGroup(o.Cgroup) {
			members[pid] = alive[pid]
		}
	}
	// A child's number is mostly above its parent's, so that one pass finds nearly all; numbers wrap,
	// so that passes go on until none is found.
	for found := true; found; {
		found = false
		for _, pid := range pids {
			if !members[pid] && members[t.parents[pid]] {
				members[pid], found = true, true
			}
		}
	}
	one := tree{object: o.Name, root: o.PID}
	for _, pid := range pids {
		if members[pid] {
			one.pids = append(one.pids, pid)
		}
	}
	return one
}

// inGroup is the processes of a control group that was named.
func (t *Trees) inGroup(name string) []int {
	mountinfo, err := t.root.read("proc/self/mountinfo")
	if err != nil {
		return nil
	}
	g := namedGroup(t.root, parseGroupMounts(mountinfo), name)
	var pids []int
	for _, dir := range g.dirs {
		b, err := root("").read(dir, "cgroup.procs")
		if err != nil {
			continue
		}
		for field := range bytes.FieldsSeq(b) {
			if pid, err := strconv.Atoi(string(field)); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
