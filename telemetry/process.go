package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Processes reads, of each object's process tree: cpu (cores used since the read before), rss,
// rss_anon, rss_peak (bytes), threads, processes, and page_faults and major_faults since the watch
// began; and cpu_foreign, the cores that none of the objects used but somebody did. It is cheap: two
// small files a process, and a third twice a second.
type Processes struct {
	Trees *Trees

	held  held
	known map[int]*knownProcess

	state  map[string]*treeState
	at     time.Time
	before CPUTicks
}

// treeState is what the reads of one tree have said so far.
type treeState struct {
	at          time.Time
	cpu         time.Duration
	firstFaults uint64
	firstMajor  uint64
	faults      uint64 // since the watch began; never falls
	major       uint64
	peak        int64
	// marks are the high-water marks of memory that processes had when the watch began: what lies
	// below them may be of before.
	marks map[int]int64
}

// Source names the interface.
func (p *Processes) Source() string { return "processes: /proc/PID/stat and status" }

// Close closes the files that were read.
func (p *Processes) Close() error { return errors.Join(p.held.Close(), p.Trees.close()) }

// A knownProcess is what is kept of a process from read to read.
type knownProcess struct {
	stat, statm, status string // its files
	mark                int64  // its high-water mark of memory, as told last
	marked              time.Time
	seen                bool // in this read
}

// markAge is how long a high-water mark stands: its file takes the kernel longer than the others, and
// the mark never falls, so that nothing is lost but the peak of the last moment of a process.
const markAge = 450 * time.Millisecond

// Read emits the readings of every tree that has a living process.
func (p *Processes) Read(_ context.Context, emit Emit) error {
	trees, err := p.Trees.processes()
	if err != nil {
		return err
	}
	known := p.state != nil // else there is no read before
	if p.state == nil {
		p.state, p.known, p.held.root = map[string]*treeState{}, map[int]*knownProcess{}, p.Trees.root
	}
	own := 0.0
	count := func(name, object string, v float64) {
		if name == "cpu" {
			own += v
		}
		emit(name, object, v)
	}
	for _, t := range trees {
		sum := p.sum(t)
		if sum.processes == 0 {
			continue
		}
		s := p.state[t.object]
		if s == nil {
			s = &treeState{firstFaults: sum.faults, firstMajor: sum.major, cpu: sum.cpu, at: sum.at, marks: sum.marks}
			p.state[t.object] = s
		}
		s.emit(t.object, sum, count)
	}
	for pid, one := range p.known {
		if !one.seen {
			p.held.forget(one.stat, one.statm, one.status)
			delete(p.known, pid)
		}
		one.seen = false
	}
	return p.foreign(own, known, emit)
}

// foreign emits what was used beside own cores since the read before.
func (p *Processes) foreign(own float64, known bool, emit Emit) error {
	b, err := p.held.record("proc/stat")
	now := time.Now()
	if err != nil {
		return fmt.Errorf("cpu: %w: %w", ErrAbsent, err)
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	_, numbers, _ := bytes.Cut(line, []byte(" "))
	cpu, err := parseCPULine(numbers)
	if err != nil {
		return fmt.Errorf("parse /proc/stat: %w", err)
	}
	if d := cpu.minus(p.before); known && p.before.Total() > 0 {
		busy := float64(ticks(d.Total()-d.Idle-d.IOWait-d.Steal)) / float64(now.Sub(p.at))
		emit("cpu_foreign", "", max(busy-own, 0))
	}
	p.at, p.before = now, cpu
	return nil
}

// treeSum is one read of a tree, all its processes together.
type treeSum struct {
	at                 time.Time
	cpu                time.Duration
	faults, major      uint64
	rss, anon          int64
	threads, processes int
	marks              map[int]int64
}

// sum reads the processes of a tree; those that ended since the listing are left out.
func (p *Processes) sum(t tree) treeSum {
	sum := treeSum{at: time.Now(), marks: make(map[int]int64, len(t.pids))}
	r, page := p.Trees.root, int64(os.Getpagesize())
	for _, pid := range t.pids {
		one := p.process(pid)
		b, err := p.held.record(one.stat)
		if err != nil {
			continue
		}
		stat, err := parsePIDStat(b)
		if err != nil || stat.State == 'Z' {
			continue
		}
		if b, err = p.held.record(one.statm); err != nil {
			continue
		}
		resident, shared := parseStatm(b)
		one.look(&p.held)
		sum.processes++
		sum.threads += stat.Threads
		// What children used comes in when their parent collects them, so that nothing is lost of a
		// process that started and ended between two reads.
		sum.cpu += processTime(r, pid, stat) + ticks(stat.ChildUser+stat.ChildSystem)
		sum.faults += stat.MinorFaults + stat.ChildMinor + stat.MajorFaults + stat.ChildMajor
		sum.major += stat.MajorFaults + stat.ChildMajor
		sum.rss += resident * page
		sum.anon += (resident - shared) * page
		sum.marks[pid] = one.mark
	}
	sum.at = sum.at.Add(time.Since(sum.at) / 2) // the middle of the clocks' readings
	return sum
}

// process is what is known of a process.
func (p *Processes) process(pid int) *knownProcess {
	one := p.known[pid]
	if one == nil {
		dir := "proc/" + strconv.Itoa(pid)
		one = &knownProcess{stat: dir + "/stat", statm: dir + "/statm", status: dir + "/status"}
		p.known[pid] = one
	}
	one.seen = true
	return one
}

// look reads the high-water mark where the last one is old.
func (one *knownProcess) look(h *held) {
	if time.Since(one.marked) < markAge {
		return
	}
	if b, err := h.record(one.status); err == nil {
		one.mark, one.marked = statusBytes(b, "VmHWM:"), time.Now()
	}
}

// parseStatm reads /proc/PID/statm: resident pages, and those of them that belong to files or to
// shared memory; the others are anonymous.
func parseStatm(b []byte) (resident, shared int64) {
	i := 0
	for f := range bytes.FieldsSeq(b) {
		switch i++; i {
		case 2:
			resident = int64(leadingUint(f))
		case 3:
			return resident, int64(leadingUint(f))
		}
	}
	return resident, shared
}

func (s *treeState) emit(object string, sum treeSum, emit Emit) {
	if dt := sum.at.Sub(s.at); dt > 0 {
		// A tree whose root was started again starts from zero; that interval is not known.
		emit("cpu", object, max(float64(sum.cpu-s.cpu)/float64(dt), 0))
	}
	s.at, s.cpu = sum.at, sum.cpu
	s.faults = max(s.faults, sum.faults-min(s.firstFaults, sum.faults))
	s.major = max(s.major, sum.major-min(s.firstMajor, sum.major))
	s.peak = max(s.peak, sum.rss)
	for pid, mark := range sum.marks {
		// One process's own mark is finer than readings are, and no more than the tree's peak.
		if mark > s.marks[pid] {
			s.peak = max(s.peak, mark)
		}
	}
	emit("page_faults", object, float64(s.faults))
	emit("major_faults", object, float64(s.major))
	emit("rss", object, float64(sum.rss))
	emit("rss_anon", object, float64(sum.anon))
	emit("rss_peak", object, float64(s.peak))
	emit("threads", object, float64(sum.threads))
	emit("processes", object, float64(sum.processes))
}

// processTime is the processor time of a process with all its threads, to the nanosecond by its
// clock (clock_getcpuclockid(3)), or in ticks of 10 ms where that cannot be asked.
func processTime(r root, pid int, stat pidStat) time.Duration {
	const schedClock = 2
	if r == "/" {
		if ns := clockNS(int32(^pid<<3 | schedClock)); ns > 0 {
			return time.Duration(ns)
		}
	}
	return ticks(stat.User + stat.System)
}

// statusBytes is a line of /proc/PID/status in bytes; 0 where it is not there, as in kernel threads.
func statusBytes(b []byte, name string) int64 {
	i := bytes.Index(b, []byte("\n"+name))
	if i < 0 {
		return 0
	}
	return int64(leadingUint(b[i+1+len(name):])) * 1024
}
