package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Group reads the control group of one object: group_cpu (cores used since the read before),
// memory_bytes, memory_anon_bytes, memory_peak_bytes; oom_kills, group_read_bytes and group_write_bytes
// (of disks) since the watch began; and group_pressure of cpu, io and memory as "NAME cpu". Controllers
// on version 2 are preferred to those on version 1; what neither has is left out.
//
// A process that was put into no group of its own shares one with everything else, whose readings
// then say little: such a source is absent.
type Group struct {
	Object Object

	root   root
	held   held
	group  group
	found  bool
	at     time.Time
	cpu    time.Duration
	stalls map[string]time.Duration
	hits   uint64
	moved  [2]uint64 // bytes read and written
	oom    uint64
}

// Source names the object and where each controller was read.
func (g *Group) Source() string {
	var parts []string
	for _, c := range slices.Sorted(maps.Keys(g.group.version)) {
		if c != "" && !strings.Contains(c, "=") {
			parts = append(parts, fmt.Sprintf("%s v%d", c, g.group.version[c]))
		}
	}
	if g.group.version[""] == 2 {
		parts = append(parts, "pressure v2")
	}
	return strings.TrimSuffix(fmt.Sprintf("control group of %s: %s", g.Object.Name, strings.Join(parts, ", ")), ": ")
}

// Close closes the files that were read.
func (g *Group) Close() error { return g.held.Close() }

// Read emits the readings of the group.
func (g *Group) Read(_ context.Context, emit Emit) error {
	first := !g.found
	if first {
		if err := g.find(); err != nil {
			return err
		}
	}
	now := time.Now()
	g.processor(now, first, emit)
	g.memory(first, emit)
	g.disks(first, emit)
	g.pressure(now, first, emit)
	g.at = now
	return nil
}

func (g *Group) find() error {
	if g.root == "" {
		g.root = "/"
	}
	mountinfo, err := g.root.read("proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("control group of %s: %w: %w", g.Object.Name, ErrAbsent, err)
	}
	mounts := parseGroupMounts(mountinfo)
	if g.Object.Cgroup != "" {
		g.group = namedGroup(g.root, mounts, g.Object.Cgroup)
	} else if g.group, err = groupOf(g.root, mounts, g.Object.PID); err != nil {
		return fmt.Errorf("control group of %s: %w: %w", g.Object.Name, ErrAbsent, err)
	}
	var own group
	if g.Object.Cgroup == "" && g.Object.PID != os.Getpid() {
		if own, err = groupOf(g.root, mounts, os.Getpid()); err != nil {
			own = group{} // then nothing is known to be shared
		}
	}
	// A group at the root of its hierarchy is the whole machine, and so is not the object's; nor is
	// one that it shares with this process.
	for c, dir := range g.group.dirs {
		at := c
		if g.group.version[c] == 2 {
			at = ""
		}
		if dir == g.root.path(mounts[at].point) || dir == own.dirs[c] {
			delete(g.group.dirs, c)
			delete(g.group.version, c)
		}
	}
	if len(g.group.dirs) == 0 {
		return fmt.Errorf("control group of %s: %w: it has no group of its own", g.Object.Name, ErrAbsent)
	}
	g.found = true
	return nil
}

// counters is a file of "name number" lines of a controller's folder; nil where it is not there.
func (g *Group) counters(controller, file string) []byte {
	dir, ok := g.group.dirs[controller]
	if !ok {
		return nil
	}
	b, err := g.held.record(filepath.Join(dir, file))
	if err != nil {
		return nil
	}
	return b
}

func (g *Group) number(controller, file string) (float64, bool) {
	dir, ok := g.group.dirs[controller]
	if !ok {
		return 0, false
	}
	b, err := g.held.record(filepath.Join(dir, file))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64) // "max" is no number
	return float64(n), err == nil
}

func (g *Group) processor(now time.Time, first bool, emit Emit) {
	var cpu time.Duration
	if us, ok := counter(g.counters("", "cpu.stat"), "usage_usec"); ok { // also without the controller
		cpu = time.Duration(us) * time.Microsecond
	} else if ns, ok := g.number("cpuacct", "cpuacct.usage"); ok {
		cpu = time.Duration(ns)
	} else {
		return
	}
	if dt := now.Sub(g.at); !first && dt > 0 {
		emit("group_cpu", g.Object.Name, max(float64(cpu-g.cpu)/float64(dt), 0))
	}
	g.cpu = cpu
}

func (g *Group) memory(first bool, emit Emit) {
	files := struct{ usage, peak, anon, events string }{"memory.current", "memory.peak", "anon", "memory.events"}
	if g.group.version["memory"] == 1 {
		files.usage, files.peak, files.anon, files.events = "memory.usage_in_bytes", "memory.max_usage_in_bytes", "total_rss", "memory.oom_control"
	}
	if v, ok := g.number("memory", files.usage); ok {
		emit("memory_bytes", g.Object.Name, v)
	}
	if v, ok := g.number("memory", files.peak); ok {
		emit("memory_peak_bytes", g.Object.Name, v)
	}
	g.limit(first, emit)
	if v, ok := counter(g.counters("memory", "memory.stat"), files.anon); ok {
		emit("memory_anon_bytes", g.Object.Name, float64(v))
	}
	if v, ok := counter(g.counters("memory", files.events), "oom_kill"); ok {
		if first {
			g.oom = v
		}
		emit("oom_kills", g.Object.Name, float64(v-min(g.oom, v)))
	}
}

// limit emits the limit on memory, where there is one, and how often the group has run into it since
// the watch began: what it holds is then what it was allowed, and not what it wanted.
func (g *Group) limit(first bool, emit Emit) {
	const none = 1 << 60 // version 1 says no limit by a number near the largest
	file, hits := "memory.max", uint64(0)
	if g.group.version["memory"] == 1 {
		file = "memory.limit_in_bytes"
		n, ok := g.number("memory", "memory.failcnt")
		if !ok {
			return
		}
		hits = uint64(n)
	} else {
		hits, _ = counter(g.counters("memory", "memory.events"), "max")
	}
	if first {
		g.hits = hits
	}
	if v, ok := g.number("memory", file); ok && v < none {
		emit("memory_limit_bytes", g.Object.Name, v)
		emit("memory_limit_hits", g.Object.Name, float64(hits-min(g.hits, hits)))
	}
}

// disks emits what the group has read from disks and written to them.
func (g *Group) disks(first bool, emit Emit) {
	var now [2]uint64
	switch b := g.counters("io", "io.stat"); {
	case b != nil:
		now = parseIOStat(b)
	default:
		if b = g.counters("blkio", "blkio.throttle.io_service_bytes"); b == nil {
			return
		}
		now = parseServiceBytes(b)
	}
	if first {
		g.moved = now
	}
	emit("group_read_bytes", g.Object.Name, since(now[0], g.moved[0]))
	emit("group_write_bytes", g.Object.Name, since(now[1], g.moved[1]))
}

// parseIOStat reads io.stat of version 2, a line a device: "254:0 rbytes=4096 wbytes=0 rios=1 …".
func parseIOStat(b []byte) (moved [2]uint64) {
	for field := range bytes.FieldsSeq(b) {
		if n, ok := bytes.CutPrefix(field, []byte("rbytes=")); ok {
			moved[0] += leadingUint(n)
		} else if n, ok := bytes.CutPrefix(field, []byte("wbytes=")); ok {
			moved[1] += leadingUint(n)
		}
	}
	return moved
}

// parseServiceBytes reads blkio.throttle.io_service_bytes of version 1: "254:0 Read 4096".
func parseServiceBytes(b []byte) (moved [2]uint64) {
	for line := range bytes.Lines(b) {
		if _, n, ok := bytes.Cut(line, []byte(" Read ")); ok {
			moved[0] += leadingUint(n)
		} else if _, n, ok := bytes.Cut(line, []byte(" Write ")); ok {
			moved[1] += leadingUint(n)
		}
	}
	return moved
}

func (g *Group) pressure(now time.Time, first bool, emit Emit) {
	if first {
		g.stalls = map[string]time.Duration{}
	}
	for _, resource := range []string{"cpu", "io", "memory"} {
		b := g.counters("", resource+".pressure")
		if b == nil {
			continue
		}
		some, _, err := parsePressure(b)
		if err != nil {
			continue
		}
		if before, known := g.stalls[resource]; known && !first {
			emit("group_pressure", g.Object.Name+" "+resource, ratio(float64(some.Total-before), float64(now.Sub(g.at))))
		}
		g.stalls[resource] = some.Total
	}
}

// OOMKills is how many processes the kernel has ended for want of memory in the control group of a
// process or of a path, and in which folder that stands; ok is false where no interface tells.
func OOMKills(o Object) (kills int, dir string, ok bool) {
	g := Group{Object: o}
	defer g.Close()
	if err := g.find(); err != nil {
		return 0, "", false
	}
	file := "memory.events"
	if g.group.version["memory"] == 1 {
		file = "memory.oom_control"
	}
	v, ok := counter(g.counters("memory", file), "oom_kill")
	return int(v), filepath.Join(g.group.dirs["memory"], file), ok
}
