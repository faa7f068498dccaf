package telemetry

import (
	"context"
	"os"
	"strconv"
	"strings"
)

// Connections reads TCP sockets: of each object, of sockets that its processes hold, established,
// close_wait, syn_sent and listening; of the network namespace ports_free. An object's Port, if given, is looked at instead of its
// processes: sockets of which either end has it, also in time_wait.
//
// A socket in CLOSE_WAIT is one whose peer has closed and whose owner has not: a leak if it grows.
//
// The kernel walks its whole table of connections for it, twice, which takes 20 ms where that table
// is sized for much memory; the watch then reads it at the start, at the end and seldom in between.
type Connections struct {
	Trees *Trees
	Ports map[string]int // object to port
}

// Source names the interface.
func (c *Connections) Source() string { return "sockets: /proc/net/tcp, tcp6" }

// Close does nothing.
func (c *Connections) Close() error { return nil }

// socketCount is how many sockets are in each state.
type socketCount [states]int

// Read emits the counts.
func (c *Connections) Read(_ context.Context, emit Emit) error {
	trees, err := c.Trees.processes()
	if err != nil {
		return err
	}
	owner := map[uint64]string{}
	counts := map[string]*socketCount{}
	for _, t := range trees {
		counts[t.object] = &socketCount{}
		if c.Ports[t.object] == 0 {
			for _, pid := range t.pids {
				c.inodes(pid, t.object, owner)
			}
		}
	}
	ephemeral, err := portRange(c.Trees.root)
	if err != nil {
		return err
	}
	err = eachSocket(c.Trees.root, func(s socket) {
		ephemeral.take(s.local)
		if object, ok := owner[s.inode]; ok && s.inode != 0 {
			counts[object][s.state]++
		}
		for object, port := range c.Ports {
			if n := counts[object]; n != nil && (int(s.local) == port || int(s.remote) == port) {
				n[s.state]++
			}
		}
	})
	if err != nil {
		return err
	}
	for object, n := range counts {
		emit("established", object, float64(n[established]))
		emit("close_wait", object, float64(n[closeWait]))
		emit("syn_sent", object, float64(n[synSent]))
		emit("listening", object, float64(n[listen]))
		if c.Ports[object] != 0 {
			emit("time_wait", object, float64(n[timeWait]))
		}
	}
	emit("ports_free", "", float64(ephemeral.free()))
	return nil
}

// inodes notes the sockets that a process holds. Those of a process that ended meanwhile, or that
// belongs to another user, are not known.
func (c *Connections) inodes(pid int, object string, owner map[uint64]string) {
	eachDescriptor(c.Trees.root, pid, func(link string) {
		if inode, ok := socketInode(link); ok {
			owner[inode] = object
		}
	})
}

// eachDescriptor hands what each open descriptor of a process refers to.
func eachDescriptor(r root, pid int, each func(link string)) {
	dir := r.path("proc", strconv.Itoa(pid), "fd")
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		if link, err := os.Readlink(dir + "/" + name); err == nil {
			each(link)
		}
	}
}

// socketInode is the number of "socket:[27182]".
func socketInode(link string) (uint64, bool) {
	rest, ok := strings.CutPrefix(link, "socket:[")
	if !ok {
		return 0, false
	}
	inode, err := strconv.ParseUint(strings.TrimSuffix(rest, "]"), 10, 64)
	return inode, err == nil
}
