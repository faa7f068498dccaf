package telemetry

import (
	"bytes"
	"context"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Threads reads, of each object's process tree: runnable (threads that run or wait for a core),
// waiting_disk (threads in uninterruptible sleep), and ctx_switches with its two parts
// ctx_voluntary and ctx_involuntary since the watch began. It reads a file a thread.
type Threads struct {
	Trees *Trees

	state map[string]*switchState
}

// switchState keeps what ended threads had counted, which leaves /proc with them.
type switchState struct {
	last map[int]switches
	gone switches
}

type switches struct{ voluntary, involuntary uint64 }

func (a switches) plus(b switches) switches {
	return switches{a.voluntary + b.voluntary, a.involuntary + b.involuntary}
}

// Source names the interface.
func (p *Threads) Source() string { return "threads: /proc/PID/task" }

// Close does nothing.
func (p *Threads) Close() error { return nil }

// Read emits the readings of every tree that has a living process.
func (p *Threads) Read(_ context.Context, emit Emit) error {
	trees, err := p.Trees.processes()
	if err != nil {
		return err
	}
	if p.state == nil {
		p.state = map[string]*switchState{}
	}
	for _, t := range trees {
		if len(t.pids) > 0 {
			p.tree(t, emit)
		}
	}
	return nil
}

func (p *Threads) tree(t tree, emit Emit) {
	s := p.state[t.object]
	first := s == nil
	if first {
		s = &switchState{}
		p.state[t.object] = s
	}
	runnable, disk := 0, 0
	now := map[int]switches{}
	for _, pid := range t.pids {
		for _, tid := range p.tasks(pid) {
			state, count, ok := p.task(pid, tid)
			if !ok {
				continue
			}
			switch state {
			case 'R':
				runnable++
			case 'D':
				disk++
			}
			now[tid] = count
		}
	}
	total := s.count(now, first)
	emit("runnable", t.object, float64(runnable))
	emit("waiting_disk", t.object, float64(disk))
	emit("ctx_voluntary", t.object, float64(total.voluntary))
	emit("ctx_involuntary", t.object, float64(total.involuntary))
	emit("ctx_switches", t.object, float64(total.voluntary+total.involuntary))
}

// count is the switches since the watch began. Those of threads that lived then do not count up to
// then; those of threads that started later all do.
func (s *switchState) count(now map[int]switches, first bool) switches {
	total := s.gone
	for _, c := range now {
		if first {
			// The base is taken off once and for all; unsigned numbers wrap and come back.
			s.gone.voluntary -= c.voluntary
			s.gone.involuntary -= c.involuntary
			continue
		}
		total = total.plus(c)
	}
	for tid, c := range s.last {
		if _, alive := now[tid]; !alive {
			s.gone = s.gone.plus(c)
			total = total.plus(c)
		}
	}
	s.last = now
	if first {
		return switches{}
	}
	return total
}

func (p *Threads) tasks(pid int) []int {
	dir, err := os.Open(p.Trees.root.path("proc", strconv.Itoa(pid), "task"))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	tids := make([]int, 0, len(names))
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// task reads one thread from its status, which has its state and its switches.
func (p *Threads) task(pid, tid int) (state byte, count switches, ok bool) {
	b, err := p.Trees.root.read("proc", strconv.Itoa(pid), "task", strconv.Itoa(tid), "status")
	if err != nil {
		return 0, switches{}, false
	}
	return parseTaskStatus(b)
}

// parseTaskStatus reads the state letter and the switches of /proc/PID/task/TID/status.
func parseTaskStatus(b []byte) (state byte, count switches, ok bool) {
	for line := range bytes.Lines(b) {
		key, rest, _ := bytes.Cut(line, []byte(":"))
		switch string(key) {
		case "State":
			if rest = bytes.TrimSpace(rest); len(rest) > 0 {
				state = rest[0]
			}
		case "voluntary_ctxt_switches":
			count.voluntary, ok = leadingUint(rest), true
		case "nonvoluntary_ctxt_switches":
			count.involuntary = leadingUint(rest)
		}
	}
	return state, count, ok && state != 0
}

// Descriptors reads, of each object's process tree, files: how many descriptors are open. Of
// processes of other users that needs privileges.
type Descriptors struct {
	Trees *Trees
}

// Source names the interface.
func (p *Descriptors) Source() string { return "descriptors: /proc/PID/fd" }

// Close does nothing.
func (p *Descriptors) Close() error { return nil }

// Read emits the readings of every tree of which something could be read.
func (p *Descriptors) Read(_ context.Context, emit Emit) error {
	trees, err := p.Trees.processes()
	if err != nil {
		return err
	}
	for _, t := range trees {
		n, known := 0, false
		for _, pid := range t.pids {
			dir := p.Trees.root.path("proc", strconv.Itoa(pid), "fd")
			// Since 6.2 the size of the folder is the number of descriptors; before, it was 0.
			var stat unix.Stat_t
			if err := unix.Stat(dir, &stat); err != nil {
				continue
			}
			if size := int(stat.Size); size > 0 {
				n, known = n+size, true
				continue
			}
			if open, err := os.ReadDir(dir); err == nil {
				n, known = n+len(open), true
			}
		}
		if known {
			emit("files", t.object, float64(n))
		}
	}
	return nil
}

// SharedMemory reads, of each object's process tree, pss: resident memory in which a page that k
// processes share counts as a k-th. The kernel walks all page tables for it, so that it is the
// dearest reading; of processes of other users it needs privileges.
type SharedMemory struct {
	Trees *Trees
}

// Source names the interface.
func (p *SharedMemory) Source() string { return "shared memory: /proc/PID/smaps_rollup" }

// Close does nothing.
func (p *SharedMemory) Close() error { return nil }

// Read emits the readings of every tree of which all processes could be read.
func (p *SharedMemory) Read(_ context.Context, emit Emit) error {
	trees, err := p.Trees.processes()
	if err != nil {
		return err
	}
	for _, t := range trees {
		var pss int64
		known := len(t.pids) > 0
		for _, pid := range t.pids {
			b, err := p.Trees.root.read("proc", strconv.Itoa(pid), "smaps_rollup")
			if err != nil {
				known = false // a part of the sum would look like less memory
				break
			}
			pss += statusBytes(b, "Pss:")
		}
		if known {
			emit("pss", t.object, float64(pss))
		}
	}
	return nil
}
