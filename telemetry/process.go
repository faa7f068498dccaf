package telemetry

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"time"
)

// Processes reads, of each object's process tree: cpu (cores used since the read before), rss,
// rss_anon, rss_peak (bytes), threads, processes, and page_faults and major_faults since the watch
// began; and cpu_foreign, the cores that none of the objects used but somebody did. It is cheap: two
// small files a process.
type Processes struct {
	Trees *Trees

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

// Close does nothing.
func (p *Processes) Close() error { return nil }

// Read emits the readings of every tree that has a living process.
func (p *Processes) Read(_ context.Context, emit Emit) error {
	trees, err := p.Trees.processes()
	if err != nil {
		return err
	}
	known := p.state != nil // else there is no read before
	if p.state == nil {
		p.state = map[string]*treeState{}
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
	return p.foreign(own, known, emit)
}

// foreign emits what was used beside own cores since the read before.
func (p *Processes) foreign(own float64, known bool, emit Emit) error {
	cpu, err := cpuNow(p.Trees.root)
	now := time.Now()
	if err != nil {
		return err
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
	sum := treeSum{at: time.Now(), marks: map[int]int64{}}
	r := p.Trees.root
	for _, pid := range t.pids {
		name := strconv.Itoa(pid)
		b, err := r.read("proc", name, "stat")
		if err != nil {
			continue
		}
		stat, err := parsePIDStat(b)
		if err != nil || stat.State == 'Z' {
			continue
		}
		status, err := r.read("proc", name, "status")
		if err != nil {
			continue
		}
		sum.processes++
		sum.threads += stat.Threads
		// What children used comes in when their parent collects them, so that nothing is lost of a
		// process that started and ended between two reads.
		sum.cpu += processTime(r, pid, stat) + ticks(stat.ChildUser+stat.ChildSystem)
		sum.faults += stat.MinorFaults + stat.ChildMinor + stat.MajorFaults + stat.ChildMajor
		sum.major += stat.MajorFaults + stat.ChildMajor
		sum.rss += stat.RSSPages * int64(os.Getpagesize())
		sum.anon += statusBytes(status, "RssAnon:")
		sum.marks[pid] = statusBytes(status, "VmHWM:")
	}
	sum.at = sum.at.Add(time.Since(sum.at) / 2) // the middle of the clocks' readings
	return sum
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
