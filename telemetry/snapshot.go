package telemetry

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// An Object is what readings are about: a process with its descendants, or a control group.
type Object struct {
	Name   string // as in cpu(api)
	PID    int    // root of the process tree; 0 for none
	Cgroup string // path of a control group; empty: that of the process
}

// Generator is the name under which a snapshot holds this process itself.
const Generator = "generator"

// A State is what the machine's counters stood at. Two of them tell what happened in between.
type State struct {
	root      root
	objects   []Object
	mounts    groupMounts
	monotonic int64 // ns
	realtime  int64
	boottime  int64 // also counts while the machine is suspended
	cpu       CPUTicks
	swapIn    uint64 // pages
	swapOut   uint64
	oomKills  uint64
	heat      uint64
	heated    bool // the machine counts thermal throttling
	quotas    []quota
}

// A quota is the counters of one control group that may have a quota.
type quota struct {
	object    string
	dir       string
	periods   uint64
	throttled uint64
	time      time.Duration
}

// Snapshot reads the counters that [State.Since] compares, for the machine, for this process and
// for the objects: about 100 us on a small machine, more with hundreds of cores. Counters that
// cannot be read stay at zero on both sides and so report no change.
func Snapshot(objects ...Object) State {
	r := root("/")
	mountinfo, _ := r.read("proc/self/mountinfo")
	self := Object{Name: Generator, PID: os.Getpid()}
	return snapshot(r, parseGroupMounts(mountinfo), append([]Object{self}, objects...))
}

func snapshot(r root, mounts groupMounts, objects []Object) State {
	s := State{root: r, objects: objects, mounts: mounts}
	if b, err := r.read("proc/stat"); err == nil {
		if line, _, ok := bytes.Cut(b, []byte("\n")); ok {
			stat, _ := parseProcStat(line)
			s.cpu = stat.All
		}
	}
	if b, err := r.read("proc/vmstat"); err == nil {
		s.swapIn, _ = counter(b, "pswpin")
		s.swapOut, _ = counter(b, "pswpout")
		s.oomKills, _ = counter(b, "oom_kill")
	}
	s.heat, s.heated = heatEvents(r)
	s.quotas = quotas(r, mounts, objects)
	s.monotonic, s.realtime, s.boottime = clocks()
	return s
}

// clocks reads the three clocks as nearly at once as can be: the attempt in which the monotonic
// clock moved least is taken, so that a descheduling in between does not look like a step.
func clocks() (monotonic, realtime, boottime int64) {
	best := int64(1) << 62
	for range 5 {
		m := clockNS(unix.CLOCK_MONOTONIC)
		rt := clockNS(unix.CLOCK_REALTIME)
		bt := clockNS(sinceBoot)
		if gap := clockNS(unix.CLOCK_MONOTONIC) - m; gap < best {
			best, monotonic, realtime, boottime = gap, m, rt, bt
		}
		if best < 2000 {
			break
		}
	}
	return monotonic, realtime, boottime
}

func clockNS(id int32) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0
	}
	return t.Nano()
}

// heatEvents is how often cores and packages were slowed down for heat since boot (Intel only);
// counted is false where the kernel does not say.
func heatEvents(r root) (events uint64, counted bool) {
	if _, err := os.Stat(r.path("sys/devices/system/cpu/cpu0/thermal_throttle")); err != nil {
		return 0, false
	}
	paths, _ := filepath.Glob(r.path("sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count"))
	for _, p := range paths {
		if n, err := root("").number(p); err == nil && n > 0 {
			events += uint64(n)
		}
	}
	return events, len(paths) > 0
}

// quotas reads cpu.stat of the objects' groups and of those above them, each group once.
func quotas(r root, mounts groupMounts, objects []Object) []quota {
	var list []quota
	seen := map[string]int{} // folder to place in list, -1: has no counters
	for _, o := range objects {
		var g group
		switch {
		case o.Cgroup != "":
			g = namedGroup(r, mounts, o.Cgroup)
		case o.PID > 0:
			var err error
			if g, err = groupOf(r, mounts, o.PID); err != nil {
				continue // it has ended; its group, if it had one of its own, is gone with it
			}
		default:
			continue
		}
		for _, dir := range g.upwards(r, "cpu") {
			if i, ok := seen[dir]; ok {
				if i >= 0 {
					list[i].object += " and " + o.Name
				}
				continue
			}
			seen[dir] = -1
			if q, ok := readQuota(dir); ok {
				q.object = o.Name
				seen[dir] = len(list)
				list = append(list, q)
			}
		}
	}
	return list
}

func readQuota(dir string) (quota, bool) {
	b, err := root("").read(dir, "cpu.stat")
	if err != nil {
		return quota{}, false
	}
	return parseQuota(dir, b)
}

// parseQuota reads cpu.stat of either version.
func parseQuota(dir string, b []byte) (quota, bool) {
	periods, ok := counter(b, "nr_periods")
	if !ok {
		return quota{}, false // the root group of version 2 has none
	}
	q := quota{dir: dir, periods: periods}
	q.throttled, _ = counter(b, "nr_throttled")
	if us, ok := counter(b, "throttled_usec"); ok {
		q.time = time.Duration(us) * time.Microsecond
	} else if ns, ok := counter(b, "throttled_time"); ok { // version 1
		q.time = time.Duration(ns)
	}
	return q, true
}

// Since is what happened from s until now.
func (s State) Since() Delta {
	return s.until(snapshot(s.root, s.mounts, s.objects))
}

func (s State) until(now State) Delta {
	cpu := now.cpu.minus(s.cpu)
	elapsed := now.monotonic - s.monotonic
	d := Delta{
		Wall:      time.Duration(elapsed),
		CPU:       cpu,
		Steal:     share(cpu.Steal, cpu.Total()),
		Idle:      share(cpu.Idle+cpu.IOWait, cpu.Total()),
		Suspended: time.Duration(now.boottime - s.boottime - elapsed),
		SwapIn:    pages(now.swapIn, s.swapIn),
		SwapOut:   pages(now.swapOut, s.swapOut),
		OOMKills:  int(now.oomKills - min(s.oomKills, now.oomKills)),
		HeatKnown: s.heated && now.heated,
	}
	d.ClockStep = time.Duration(now.realtime-s.realtime-elapsed) - d.Suspended
	if d.HeatKnown {
		d.Heat = int(now.heat - min(s.heat, now.heat))
	}
	before := map[string]quota{}
	for _, q := range s.quotas {
		before[q.dir] = q
	}
	for _, q := range now.quotas {
		b := before[q.dir] // a group made during the trial started at zero
		if q.throttled > b.throttled {
			d.Throttled = append(d.Throttled, Throttling{Object: q.object, Group: q.dir, Periods: int(q.periods - min(b.periods, q.periods)),
				Throttled: int(q.throttled - b.throttled), Time: q.time - b.time})
		}
	}
	return d
}

func pages(now, before uint64) int64 {
	return int64(now-min(before, now)) * int64(os.Getpagesize())
}

// String is for logs and test failures.
func (d Delta) String() string {
	return fmt.Sprintf("wall %v steal %.3f idle %.3f step %v suspended %v swap-in %d B throttled %v heat %d",
		d.Wall, d.Steal, d.Idle, d.ClockStep, d.Suspended, d.SwapIn, d.Throttled, d.Heat)
}
