package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Work reads, of a process with its descendants, what its threads did since the read before, in ns:
// ran (they had a core), queued (they wanted one and waited for it), and waiting_disk, how many wait
// uninterruptibly now. Where both are nothing, the processes waited for something else: a clock, a
// network, each other. It asks for descendants by name and so costs next to nothing.
type Work struct {
	// PID is the process; 0 while there is none.
	PID func() int
	// Object is what the readings are of.
	Object string

	root   root
	before map[int]threadWork // by thread; of processes that ended by what their parent took over
	primed bool
}

type threadWork struct{ ran, queued time.Duration }

// Source names the interface.
func (w *Work) Source() string { return "work: /proc/PID/task/TID/schedstat" }

// Close does nothing.
func (w *Work) Close() error { return nil }

// Read emits the readings while the process lives.
func (w *Work) Read(_ context.Context, emit Emit) error {
	if w.root == "" {
		w.root = "/"
	}
	if _, err := w.root.read("proc/self/schedstat"); err != nil {
		return fmt.Errorf("work: %w: %w", ErrAbsent, err)
	}
	pid := w.PID()
	if pid == 0 {
		return nil
	}
	now, blocked := map[int]threadWork{}, 0
	w.process(pid, now, &blocked, 0)
	var ran, queued time.Duration
	for _, id := range slices.Sorted(maps.Keys(now)) {
		// A thread that is new began at zero.
		ran += max(0, now[id].ran-w.before[id].ran)
		queued += max(0, now[id].queued-w.before[id].queued)
	}
	first := !w.primed
	w.before, w.primed = now, true
	if len(now) == 0 || first {
		return nil
	}
	emit("ran", w.Object, float64(ran))
	emit("queued", w.Object, float64(queued))
	emit("waiting_disk", w.Object, float64(blocked))
	return nil
}

// process adds the threads of a process and of its descendants. What ended children had used stands
// under the negative number of the parent that waited for them.
func (w *Work) process(pid int, now map[int]threadWork, blocked *int, depth int) {
	dir := strconv.Itoa(pid)
	if b, err := w.root.read("proc", dir, "stat"); err == nil {
		if s, err := parsePIDStat(b); err == nil {
			now[-pid] = threadWork{ran: time.Duration(s.ChildUser+s.ChildSystem) * tick}
		}
	}
	threads := Threads{Trees: &Trees{root: w.root}}
	for _, tid := range threads.tasks(pid) {
		task := strconv.Itoa(tid)
		b, err := w.root.read("proc", dir, "task", task, "schedstat")
		if err != nil {
			continue
		}
		if fields := bytes.Fields(b); len(fields) >= 2 {
			now[tid] = threadWork{time.Duration(leadingUint(fields[0])), time.Duration(leadingUint(fields[1]))}
		}
		if b, err := w.root.read("proc", dir, "task", task, "stat"); err == nil {
			if s, err := parsePIDStat(b); err == nil && s.State == 'D' {
				*blocked++
			}
		}
		children, err := w.root.read("proc", dir, "task", task, "children")
		if err != nil || depth > 50 {
			continue
		}
		for field := range bytes.FieldsSeq(children) {
			w.process(int(leadingUint(field)), now, blocked, depth+1)
		}
	}
}
