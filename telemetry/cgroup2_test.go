package telemetry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cgroup2 puts one of the two recordings of testdata/cgroup2 into a tree under dir: the files of a
// control group of version 2 in which a shell ran out of its quota and into its limit on memory.
func cgroup2(t *testing.T, dir, when string) {
	t.Helper()
	put := func(path, content string) {
		t.Helper()
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("proc/self/mountinfo", "26 23 0:23 / /sys/fs/cgroup rw,relatime - cgroup2 none rw\n")
	files := 0
	for part := range strings.SplitSeq(string(captured(t, "cgroup2")), "@@@ ") {
		head, content, _ := strings.Cut(part, "\n")
		at, name, ok := strings.Cut(head, " ")
		if !ok || at != when {
			continue
		}
		files++
		if name == "proc.cgroup" {
			put("proc/4711/cgroup", content)
			continue
		}
		put("sys/fs/cgroup/assay/"+name, content)
	}
	if files < 12 {
		t.Fatalf("%d files recorded, want at least 12", files)
	}
}

// The readings of a group of version 2 are those that its kernel wrote: CPU, memory with its peak and
// its anonymous part apart, its limit, pressure and disks.
func TestGroupOfVersionTwo(t *testing.T) {
	dir := t.TempDir()
	cgroup2(t, dir, "1")
	g := &Group{Object: Object{Name: "api", PID: 4711}, root: root(dir)}
	defer g.Close()
	first := readings(t, g)
	if source := g.Source(); !strings.Contains(source, "cpu v2") || !strings.Contains(source, "memory v2") || !strings.Contains(source, "pressure v2") {
		t.Errorf("Source() = %q does not say which version", source)
	}
	quotas := &Quotas{Trees: &Trees{root: root(dir)}}
	defer quotas.Close()
	count := func() map[string]float64 {
		got := map[string]float64{}
		if err := quotas.count("api", []int{4711}, func(name, _ string, v float64) { got[name] = v }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	count()
	time.Sleep(20 * time.Millisecond)
	cgroup2(t, dir, "2")
	got := readings(t, g)
	for key, want := range wantCgroup2 {
		if got[key] != want {
			t.Errorf("%s = %g, want %g", key, got[key], want)
		}
	}
	if got["group_cpu api"] <= 0 {
		t.Errorf("group_cpu = %g, want more than nothing: %v", got["group_cpu api"], got)
	}
	if _, ok := first["group_cpu api"]; ok {
		t.Error("the first read gave a difference")
	}
	for _, resource := range []string{"cpu", "io", "memory"} {
		if v, ok := got["group_pressure api "+resource]; !ok || v < 0 || v > 1 {
			t.Errorf("group_pressure(api %s) = %g, %t", resource, v, ok)
		}
	}
	if throttled := count(); throttled["throttled_periods"] != throttledCgroup2 || throttled["throttled_ns"] <= 0 {
		t.Errorf("quotas = %v, want %d periods", throttled, throttledCgroup2)
	}
}

// A snapshot's difference names the group that was throttled.
func TestThrottlingOfVersionTwo(t *testing.T) {
	dir := t.TempDir()
	cgroup2(t, dir, "1")
	mountinfo, err := root(dir).read("proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	before := snapshot(root(dir), parseGroupMounts(mountinfo), []Object{{Name: "api", PID: 4711}})
	cgroup2(t, dir, "2")
	d := before.Since()
	if len(d.Throttled) != 1 || d.Throttled[0].Throttled != throttledCgroup2 || !strings.HasSuffix(d.Throttled[0].Group, "/sys/fs/cgroup/assay") {
		t.Errorf("Throttled = %+v, want %d periods of the group", d.Throttled, throttledCgroup2)
	}
	found := d.Findings()
	if len(found) != 1 || found[0].Guard != "throttled" || !strings.Contains(found[0].Text, "in api") {
		t.Errorf("Findings() = %v", found)
	}
}

// A group to which its parent hands no controller on has no counters of its own, and runs out of its
// parent's quota.
func TestThrottlingOfAGroupAbove(t *testing.T) {
	dir := t.TempDir()
	cgroup2(t, dir, "1")
	inner := filepath.Join(dir, "sys/fs/cgroup/assay/inner")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inner, "cgroup.controllers"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	within := func() {
		if err := os.WriteFile(filepath.Join(dir, "proc/4711/cgroup"), []byte("0::/assay/inner\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	within()
	mounts := groupMounts{"": {point: "/sys/fs/cgroup", group: "/"}}
	before := snapshot(root(dir), mounts, []Object{{Name: "api", PID: 4711}})
	cgroup2(t, dir, "2")
	within()
	if d := before.Since(); len(d.Throttled) != 1 || d.Throttled[0].Throttled != throttledCgroup2 {
		t.Errorf("Throttled = %+v, want %d periods of the group above", d.Throttled, throttledCgroup2)
	}
}

// What the recording says.
var wantCgroup2 = map[string]float64{
	"memory_bytes api": 262144, "memory_peak_bytes api": 524288, "memory_anon_bytes api": 40960,
	"memory_limit_bytes api": 32 << 20, "memory_limit_hits api": 0, "oom_kills api": 0,
}

const throttledCgroup2 = 2123 - 432

// Bytes of disks are told alike by both versions.
func TestBytesOfDisks(t *testing.T) {
	want := [2]uint64{4096 + 512, 8192}
	if got := parseIOStat([]byte("254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n8:0 rbytes=512 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n")); got != want {
		t.Errorf("io.stat: %v, want %v", got, want)
	}
	if got := parseServiceBytes([]byte("254:0 Read 4096\n254:0 Write 8192\n254:0 Sync 12288\n8:0 Read 512\nTotal 12800\n")); got != want {
		t.Errorf("blkio: %v, want %v", got, want)
	}
}
