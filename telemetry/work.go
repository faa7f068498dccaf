package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

	root    root
	held    held
	known   map[int]*workProcess
	before  map[int]threadWork // by thread; of processes that ended by what their parent took over
	primed  bool
	quotas  Quotas
	newborn Trees // whose number of the newest process tells whether there can be new ones
}

// A workProcess is what is kept of a process from read to read.
type workProcess struct {
	stat     string // its file
	threads  []workThread
	children []int
	counted  int    // threads that it had when they were listed
	born     string // the newest process or thread of the machine then
	seen     bool
}

// A workThread is the files of one thread.
type workThread struct {
	id                        int
	schedstat, stat, children string
}

// threadTally is what one look finds.
type threadTally struct {
	threads           map[int]threadWork
	pids              []int
	runnable, blocked int
	born              string
}

type threadWork struct{ ran, queued time.Duration }

// Source names the interface.
func (w *Work) Source() string { return "work: /proc/PID/task/TID/schedstat" }

// Close closes the files that were read.
func (w *Work) Close() error { return errors.Join(w.held.Close(), w.quotas.Close(), w.newborn.close()) }

// Read emits the readings while the process lives.
func (w *Work) Read(_ context.Context, emit Emit) error {
	if w.known == nil {
		if w.root == "" {
			w.root = "/"
		}
		if _, err := w.root.read("proc/self/schedstat"); err != nil {
			return fmt.Errorf("work: %w: %w", ErrAbsent, err)
		}
		w.known, w.held.root, w.newborn.root, w.quotas.Trees = map[int]*workProcess{}, w.root, w.root, &Trees{root: w.root}
	}
	now := threadTally{threads: make(map[int]threadWork, len(w.before)), born: w.newborn.newest()}
	if pid := w.PID(); pid != 0 {
		w.process(pid, &now, 0)
	}
	w.tidy()
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
	for id, t := range now.threads {
		// A thread that is new began at zero.
		ran += max(0, t.ran-before[id].ran)
		queued += max(0, t.queued-before[id].queued)
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
	one := w.known[pid]
	if one == nil {
		one = &workProcess{stat: "proc/" + strconv.Itoa(pid) + "/stat"}
		w.known[pid] = one
	}
	one.seen = true
	b, err := w.held.record(one.stat)
	if err != nil {
		return
	}
	s, err := parsePIDStat(b)
	if err != nil || s.State == 'Z' {
		return
	}
	now.threads[-pid] = threadWork{ran: time.Duration(s.ChildUser+s.ChildSystem) * tick}
	now.pids = append(now.pids, pid)
	if one.counted != s.Threads || one.born != now.born || now.born == "" {
		w.relatives(pid, one)
		one.counted, one.born = s.Threads, now.born
	}
	for i := range one.threads {
		w.thread(&one.threads[i], now)
	}
	if depth > 50 {
		return
	}
	for _, child := range one.children {
		w.process(child, now, depth+1)
	}
}

// relatives lists a process's threads and children anew. The kernel has given out no number since they
// were listed last, unless it is asked.
func (w *Work) relatives(pid int, one *workProcess) {
	tids := (&Threads{Trees: &Trees{root: w.root}}).tasks(pid)
	gone := one.threads
	one.threads, one.children = make([]workThread, 0, len(tids)), one.children[:0]
	for _, tid := range tids {
		if i := slices.IndexFunc(gone, func(t workThread) bool { return t.id == tid }); i >= 0 {
			one.threads, gone = append(one.threads, gone[i]), slices.Delete(gone, i, i+1)
		} else {
			dir := "proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid)
			one.threads = append(one.threads, workThread{tid, dir + "/schedstat", dir + "/stat", dir + "/children"})
		}
		b, err := w.held.lines(one.threads[len(one.threads)-1].children)
		if err != nil {
			continue
		}
		for field := range bytes.FieldsSeq(b) {
			one.children = append(one.children, int(leadingUint(field)))
		}
	}
	for _, t := range gone {
		w.held.forget(t.schedstat, t.stat, t.children)
	}
}

// thread adds one thread.
func (w *Work) thread(t *workThread, now *threadTally) {
	b, err := w.held.record(t.schedstat)
	if err != nil {
		return
	}
	ran, rest, _ := bytes.Cut(b, []byte(" "))
	now.threads[t.id] = threadWork{time.Duration(leadingUint(ran)), time.Duration(leadingUint(rest))}
	if b, err = w.held.record(t.stat); err != nil {
		return
	}
	switch stateOf(b) {
	case 'D':
		now.blocked++
	case 'R':
		now.runnable++
	}
}

// stateOf is the letter of a /proc/PID/stat, which stands behind the name; 0 for none.
func stateOf(b []byte) byte {
	if i := bytes.LastIndexByte(b, ')'); i >= 0 && i+2 < len(b) {
		return b[i+2]
	}
	return 0
}

// tidy forgets the processes that were not found again.
func (w *Work) tidy() {
	for pid, one := range w.known {
		if !one.seen {
			w.held.forget(one.stat)
			for _, t := range one.threads {
				w.held.forget(t.schedstat, t.stat, t.children)
			}
			delete(w.known, pid)
		}
		one.seen = false
	}
}
