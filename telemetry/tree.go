package telemetry

import (
	"bytes"
	"fmt"
	"os"
	"slices"
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
	field := 2
	for f := range bytes.FieldsSeq(b[end+1:]) {
		field++
		if field == 3 {
			s.State = f[0]
			continue
		}
		to := s.field(field)
		if to == nil && field != 4 && field != 20 && field != 24 {
			continue
		}
		n, ok := wholeUint(f)
		if !ok || n > 1<<63-1 {
			return s, fmt.Errorf("parse /proc/PID/stat: field %d: got %q, want a number", field, f)
		}
		switch field {
		case 4:
			s.Parent = int(n)
		case 20:
			s.Threads = int(n)
		case 24:
			s.RSSPages = int64(n)
			return s, nil
		default:
			*to = n
		}
	}
	return s, fmt.Errorf("parse /proc/PID/stat: got %d fields, want at least 24", field)
}

// field is where a counter goes, by its place in the line; nil for none.
func (s *pidStat) field(n int) *uint64 {
	switch n {
	case 10:
		return &s.MinorFaults
	case 11:
		return &s.ChildMinor
	case 12:
		return &s.MajorFaults
	case 13:
		return &s.ChildMajor
	case 14:
		return &s.User
	case 15:
		return &s.System
	case 16:
		return &s.ChildUser
	case 17:
		return &s.ChildSystem
	case 22:
		return &s.Started
	}
	return nil
}

// Trees knows which processes belong to which object. It is shared by the samplers of one watch, so
// that /proc is listed once a tick.
type Trees struct {
	// Objects are asked for again at every tick: a target that is started again has another process.
	Objects func() []Object

	root    root
	held    held
	parents map[int]int    // of every process on the machine, read once
	owners  map[int]string // object that a process belongs to
	objects []Object
	now     []tree
	at      time.Time // of the last look
	listed  time.Time // of the last listing
	born    string    // the newest process or thread then
}

// A tree is an object with its living processes.
type tree struct {
	object string
	pids   []int
}

// How long a listing stands. treeAge is much less than a tick and longer than reading all samplers.
// Listing all processes of the machine is dear, so that it is done again only when the kernel has given
// out a number since, and then only so often; what ended in between fails to be read.
const (
	treeAge = 20 * time.Millisecond
	forkAge = 90 * time.Millisecond
	listAge = 500 * time.Millisecond
)

// processes lists the objects with their living processes. A process belongs to the nearest object
// above it, so that what a generator starts as a target is not the generator's; and it stays with it
// when its parent ends and it is handed to another.
func (t *Trees) processes() ([]tree, error) {
	if t.now != nil && time.Since(t.at) < treeAge {
		return t.now, nil
	}
	if t.root == "" {
		t.root = "/"
	}
	objects, born := t.Objects(), t.newest()
	if t.now != nil && t.stands(objects, born) {
		t.at = time.Now()
		return t.now, nil
	}
	pids, err := t.list()
	if err != nil {
		return nil, err
	}
	if t.owners == nil {
		t.parents, t.owners = map[int]int{}, map[int]string{}
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
			delete(t.owners, pid)
		}
	}
	t.own(objects, pids)
	t.now = t.now[:0]
	for _, o := range objects {
		t.now = append(t.now, t.of(o, pids, alive))
	}
	t.at = time.Now()
	t.objects, t.listed, t.born = slices.Clone(objects), t.at, born
	return t.now, nil
}

// stands reports whether the last listing is still good.
func (t *Trees) stands(objects []Object, born string) bool {
	if !slices.Equal(objects, t.objects) || slices.ContainsFunc(objects, func(o Object) bool { return o.Cgroup != "" }) {
		return false
	}
	age := time.Since(t.listed)
	return age < forkAge || age < listAge && born != "" && born == t.born
}

// close closes what is kept open between two looks.
func (t *Trees) close() error { return t.held.Close() }

// newest is the number that was given to a process or thread last, the end of /proc/loadavg.
func (t *Trees) newest() string {
	t.held.root = t.root
	b, err := t.held.record("proc/loadavg")
	if err != nil {
		return ""
	}
	b = bytes.TrimSpace(b)
	return string(b[bytes.LastIndexByte(b, ' ')+1:])
}

// own finds the owner of every process: the object whose root it is, else its parent's, else the one
// it had while its parent lived.
func (t *Trees) own(objects []Object, pids []int) {
	known := make(map[int]string, len(pids))
	for _, o := range objects {
		if _, taken := known[o.PID]; o.PID > 0 && !taken {
			known[o.PID] = o.Name
		}
	}
	var owner func(pid, depth int) string
	owner = func(pid, depth int) string {
		if name, ok := known[pid]; ok {
			return name
		}
		name := ""
		// A cycle can only come of a number that was used again between two listings.
		if parent, alive := t.parents[pid]; alive && depth < 1000 {
			name = owner(parent, depth+1)
		}
		if name == "" {
			name = t.owners[pid]
		}
		known[pid] = name
		return name
	}
	for _, pid := range pids {
		if name := owner(pid, 0); name != "" {
			t.owners[pid] = name
		}
	}
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

// of is an object's processes: those that it owns, and those in the control group that it names.
func (t *Trees) of(o Object, pids []int, alive map[int]bool) tree {
	one := tree{object: o.Name}
	for _, pid := range pids {
		if t.owners[pid] == o.Name {
			one.pids = append(one.pids, pid)
		}
	}
	if o.Cgroup == "" {
		return one
	}
	for _, pid := range t.inGroup(o.Cgroup) {
		if alive[pid] && !slices.Contains(one.pids, pid) {
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
