package telemetry

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Dump describes in words what an object's processes are doing now: for a target that hangs, before
// it is ended. Of each process it has the threads by state and by the function of the kernel in
// which they wait, open descriptors by kind, and sockets by state with what is unsent and unread.
// What cannot be seen without privileges is left out.
func Dump(o Object) string {
	trees := &Trees{Objects: func() []Object { return []Object{o} }}
	list, err := trees.processes()
	if err != nil {
		return fmt.Sprintf("%s: %v", o.Name, err)
	}
	var b strings.Builder
	for _, t := range list {
		if len(t.pids) == 0 {
			fmt.Fprintf(&b, "%s: no process is left\n", o.Name)
		}
		for _, pid := range t.pids {
			dumpProcess(&b, trees, o.Name, pid)
		}
	}
	return b.String()
}

func dumpProcess(b *strings.Builder, trees *Trees, object string, pid int) {
	r := trees.root
	name, err := r.read("proc", strconv.Itoa(pid), "comm")
	if err != nil {
		return // ended meanwhile
	}
	fmt.Fprintf(b, "%s: process %d (%s)\n", object, pid, bytes.TrimSpace(name))
	threads := map[string]int{}
	watch := Threads{Trees: trees}
	for _, tid := range watch.tasks(pid) {
		state, _, ok := watch.task(pid, tid)
		if !ok {
			continue
		}
		where := ""
		if wait, err := r.read("proc", strconv.Itoa(pid), "task", strconv.Itoa(tid), "wchan"); err == nil && len(wait) > 1 {
			where = " in " + string(bytes.TrimSpace(wait))
		}
		threads[stateName(state)+where]++
	}
	tally(b, "threads", threads)
	kinds := map[string]int{}
	inodes := map[uint64]bool{}
	eachDescriptor(r, pid, func(link string) {
		kind, _, special := strings.Cut(link, ":")
		if !special || strings.HasPrefix(link, "/") {
			kind = "file"
		}
		kinds[kind]++
		if inode, ok := socketInode(link); ok {
			inodes[inode] = true
		}
	})
	tally(b, "descriptors", kinds)
	sockets := map[string]int{}
	var unsent, unread uint64
	// What cannot be parsed is only not described.
	_ = eachSocket(r, func(s socket) {
		if !inodes[s.inode] {
			return
		}
		if s.state == listen {
			sockets[fmt.Sprintf("listening at %d with %d not accepted", s.local, s.unread)]++
			return
		}
		sockets[s.state.String()]++
		unsent += s.unsent
		unread += s.unread
	})
	tally(b, "TCP sockets", sockets)
	if unsent+unread > 0 {
		fmt.Fprintf(b, "  %d bytes unsent, %d bytes unread\n", unsent, unread)
	}
}

// tally writes counts, the largest first.
func tally(b *strings.Builder, what string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	var parts []string
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
	}
	fmt.Fprintf(b, "  %s: %s\n", what, strings.Join(parts, ", "))
}

// stateName is a state letter of proc_pid_stat(5) in words.
func stateName(state byte) string {
	switch state {
	case 'R':
		return "runnable"
	case 'S':
		return "sleeping"
	case 'D':
		return "waiting uninterruptibly"
	case 'T', 't':
		return "stopped"
	case 'Z':
		return "ended and not collected"
	}
	return "in state " + string(state)
}
