package telemetry

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Quotas reads, of each object, throttled_periods and throttled_ns: how often and how long the control
// groups of its processes, and those above them, were stopped for want of quota since the object was
// first seen in them. It follows processes into groups that they join later, as a container's do.
type Quotas struct {
	Trees *Trees

	held   held
	mounts groupMounts
	seen   map[string]map[string]quota // by object and folder: what it had counted then
	member map[int]string              // of a process: its membership, as read last
}

// Source names the interface.
func (q *Quotas) Source() string { return "quotas: cpu.stat" }

// Close closes the files that were read.
func (q *Quotas) Close() error { return q.held.Close() }

// Read emits the counts of every object that is in a group with a processor controller.
func (q *Quotas) Read(_ context.Context, emit Emit) error {
	trees, err := q.Trees.processes()
	if err != nil {
		return err
	}
	for _, t := range trees {
		if err := q.count(t.object, t.pids, emit); err != nil {
			return err
		}
	}
	return nil
}

// count follows the processes of an object and emits its counts.
func (q *Quotas) count(object string, pids []int, emit Emit) error {
	if q.mounts == nil {
		mountinfo, err := q.Trees.root.read("proc/self/mountinfo")
		if err != nil {
			return fmt.Errorf("quotas: %w: %w", ErrAbsent, err)
		}
		q.mounts, q.seen, q.member = parseGroupMounts(mountinfo), map[string]map[string]quota{}, map[int]string{}
	}
	if q.seen[object] == nil {
		q.seen[object] = map[string]quota{}
	}
	q.held.root = q.Trees.root
	for _, pid := range pids {
		q.follow(object, pid)
	}
	q.emit(object, emit)
	return nil
}

// follow notes the groups that a process is in, if those are others than when it was last looked at.
func (q *Quotas) follow(object string, pid int) {
	r := q.Trees.root
	b, err := q.held.record("proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil || q.member[pid] == string(b) {
		return
	}
	q.member[pid] = string(b)
	for _, dir := range locate(r, q.mounts, parseMembership(b)).upwards(r, "cpu") {
		if _, known := q.seen[object][dir]; known {
			continue
		}
		if now, ok := readQuota(dir); ok {
			q.seen[object][dir] = now
		}
	}
}

func (q *Quotas) emit(object string, emit Emit) {
	if len(q.seen[object]) == 0 {
		return
	}
	var periods uint64
	var stopped time.Duration
	for _, dir := range slices.Sorted(maps.Keys(q.seen[object])) {
		first := q.seen[object][dir]
		// A group that has been removed had its last word at the read before.
		if now, ok := q.quota(dir); ok && now.throttled >= first.throttled {
			periods += now.throttled - first.throttled
			stopped += now.time - first.time
		}
	}
	emit(throttledName, object, float64(periods))
	emit("throttled_ns", object, float64(stopped))
}

// quota reads the counters of a group; dir is a whole path, and the files that are held stand below the root.
func (q *Quotas) quota(dir string) (quota, bool) {
	rel, err := filepath.Rel(string(q.Trees.root), filepath.Join(dir, "cpu.stat"))
	if err != nil {
		return quota{}, false
	}
	b, err := q.held.record(rel)
	if err != nil {
		return quota{}, false
	}
	return parseQuota(dir, b)
}

const throttledName = "throttled_periods"

// Findings are the default guards that the readings break: throttling in control groups that a
// snapshot before the trial could not know of, since the command joined them only later.
func (s *Series) Findings() []Finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := func(name, object string) (most float64) {
		for _, r := range s.recent[seriesKey{name, object}] {
			most = max(most, r.Value)
		}
		return most
	}
	var list []Finding
	for _, key := range slices.SortedFunc(maps.Keys(s.recent), func(a, b seriesKey) int { return strings.Compare(a.object, b.object) }) {
		periods := last(key.name, key.object)
		if key.name != throttledName || periods == 0 {
			continue
		}
		list = append(list, Finding{"throttled", fmt.Sprintf("cpu.stat shows %.0f throttled periods (%v) in %s: raise its quota or lower its workers or threads",
			periods, time.Duration(last("throttled_ns", key.object)).Round(time.Microsecond), key.object)})
	}
	return list
}
