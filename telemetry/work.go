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
// network, each other. Beside them it reads runnable, and the counts of [Quotas]. It asks for
// descendants by name, and not all processes of the machine, and so costs next to nothing.
type Work struct {
	// PID is the process; 0 while there is none.
	PID func() int
	// Object is what the readings are of.
	Object string

	root   root
	before map[int]threadWork // by thread; of processes that ended by what their parent took over
	primed bool
	quotas Quotas
}

// threadTally is what one look finds.
type threadTally struct {
	threads           map[int]threadWork
	pids              []int
	runnable, blocked int
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
	now := threadTally{threads: map[int]threadWork{}}
	if pid := w.PID(); pid != 0 {
		w.process(pid, &now, 0)
	}
	if w.quotas.Trees == nil {
		w.quotas.Trees = &Trees{root: w.root}
	}
	// Also when nothing lives any more: the groups have their last word then.
	if err := w.quotas.count(w.Object, now.pids, emit); err != nil {
		return err
	}
	first := !w.primed
	before := w.before
	w.before, w.primed = now.threads, w.primed || len(now.pids) > 0
	if len(now.pids) == 0 || first {
		return nil
	}
	var ran, queued time.Duration
	for _, id := range slices.Sorted(maps.Keys(now.threads)) {
		// A thread that is new began at zero.
		ran += max(0, now.threads[id].ran-before[id].ran)
		queued += max(0, now.threads[id].queued-before[id].queued)
	}
	emit("ran", w.Object, float64(ran))
	emit("queued", w.Object, float64(queued))
	emit("runnable", w.Object, float64(now.runnable))
	emit("waiting_disk", w.Object, float64(now.blocked))
	return nil
}

// process adds the threads of a process and of its descendants. What ended children had used stands
// under the negative number of the parent that waited for them.
func (w *Work) process(pid int, now *threadTally, depth int) {
	dir := strconv.Itoa(pid)
	if b, err := w.root.read("proc", dir, "stat"); err == nil {
		if s, err := parsePIDStat(b); err == nil && s.State != 'Z' {
			now.threads[-pid] = threadWork{ran: time.Duration(s.ChildUser+s.ChildSystem) * tick}
			now.pids = append(now.pids, pid)
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
			now.threads[tid] = threadWork{time.Duration(leadingUint(fields[0])), time.Duration(leadingUint(fields[1]))}
		}
		if b, err := w.root.read("proc", dir, "task", task, "stat"); err == nil {
			switch s, _ := parsePIDStat(b); s.State {
			case 'D':
				now.blocked++
			case 'R':
				now.runnable++
			}
		}
		children, err := w.root.read("proc", dir, "task", task, "children")
		if err != nil || depth > 50 {
			continue
		}
		for field := range bytes.FieldsSeq(children) {
			w.process(int(leadingUint(field)), now, depth+1)
		}
	}
}
