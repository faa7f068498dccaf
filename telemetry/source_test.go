package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// readings reads a sampler once and gives what it said by "name object".
func readings(t *testing.T, s Sampler) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	if err := s.Read(t.Context(), func(name, object string, v float64) { got[strings.TrimSpace(name+" "+object)] = v }); err != nil {
		t.Fatal(err)
	}
	return got
}

func self() *Trees {
	return &Trees{Objects: func() []Object { return []Object{{Name: "api", PID: os.Getpid()}} }}
}

// TestHalfClosedSocketsAreCounted: a peer that closed and an owner that did not.
func TestHalfClosedSocketsAreCounted(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	const n = 5
	var clients, servers []net.Conn
	for range n {
		c, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		clients, servers = append(clients, c), append(servers, s)
	}
	before := readings(t, &Connections{Trees: self()})
	byPort := readings(t, &Connections{Trees: self(), Ports: map[string]int{"api": port}})
	if before["established api"] < 2*n || byPort["established api"] != 2*n || byPort["listening api"] != 1 {
		t.Errorf("of the process %v, of the port %v, want %d established", before, byPort, 2*n)
	}
	for _, c := range clients {
		c.Close()
	}
	time.Sleep(10 * time.Millisecond)
	after := readings(t, &Connections{Trees: self()})
	if after["close_wait api"] != n {
		t.Errorf("after the clients have closed: %v, want %d in close_wait", after, n)
	}
	for _, s := range servers {
		s.Close()
	}
	last := readings(t, &Connections{Trees: self(), Ports: map[string]int{"api": port}})
	if last["close_wait api"] != 0 || last["time_wait api"] != n {
		t.Errorf("after both have closed: %v, want %d in time_wait", last, n)
	}
	if machine := readings(t, &System{}); machine["time_wait machine"] < n {
		t.Errorf("time_wait(machine) = %g, want at least %d", machine["time_wait machine"], n)
	}
}

// TestThrottlingIsFollowedIntoAGroup: a command that joins a group with a quota only after it was
// started, and has left nothing of it when the trial is over.
func TestThrottlingIsFollowedIntoAGroup(t *testing.T) {
	dir := quotaGroup(t)
	before := Snapshot()
	cmd := exec.Command("sh", "-c", `sleep 0.1; echo $$ > "$0/cgroup.procs"; while :; do :; done`, dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	objects := func() []Object {
		return []Object{{Name: Generator, PID: os.Getpid()}, {Name: "command", PID: cmd.Process.Pid}}
	}
	s, err := Watch{Samplers: []Sampler{&Quotas{Trees: &Trees{Objects: objects}}}, Hz: 20}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		time.Sleep(100 * time.Millisecond)
		if r, ok := s.Latest(throttledName, "command"); ok && r.Value > 0 {
			break
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if d := before.Since(); len(d.Throttled) != 0 {
		t.Errorf("the snapshot knew of it: %v; the test tests nothing", d)
	}
	found := s.Findings()
	if len(found) != 1 || found[0].Guard != "throttled" || !strings.Contains(found[0].Text, " throttled periods (") || !strings.Contains(found[0].Text, " in command: raise its quota") {
		t.Errorf("Findings() = %v, want throttling in command; %v", found, s.Window(throttledName, "command", time.Minute))
	}
}

func TestNamedGroupIsRead(t *testing.T) {
	dir := quotaGroup(t)
	cmd := spinIn(t, dir)
	time.Sleep(100 * time.Millisecond)
	g := &Group{Object: Object{Name: "named", Cgroup: dir}}
	readings(t, g)
	if !strings.Contains(g.Source(), "cpu v") {
		t.Errorf("Source() = %q does not say which version", g.Source())
	}
	trees := &Trees{Objects: func() []Object { return []Object{{Name: "named", Cgroup: dir}} }}
	if list, err := trees.processes(); err != nil || len(list[0].pids) != 1 || list[0].pids[0] != cmd.Process.Pid {
		t.Errorf("processes of %s = %v, %v, want %d", dir, list, err, cmd.Process.Pid)
	}
	before := Snapshot(Object{Name: "named", Cgroup: dir})
	d := before.Since()
	for range 30 {
		if time.Sleep(100 * time.Millisecond); len(d.Throttled) > 0 {
			break
		}
		d = before.Since()
	}
	if len(d.Throttled) == 0 || d.Throttled[0].Object != "named" {
		t.Errorf("delta of a named group = %v, want throttling", d)
	}
}

// TestGroupMemoryIsRead: a process that keeps 32 MiB in a memory group of its own.
func TestGroupMemoryIsRead(t *testing.T) {
	r := root("/")
	mountinfo, err := r.read("proc/self/mountinfo")
	if err != nil {
		t.Skipf("skipped: no control groups: %v", err)
	}
	own, err := groupOf(r, parseGroupMounts(mountinfo), os.Getpid())
	if err != nil || own.dirs["memory"] == "" {
		t.Skipf("skipped: no memory controller: %v", err)
	}
	dir := filepath.Join(own.dirs["memory"], fmt.Sprintf("assay-test-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("skipped: cannot make a control group: %v", err)
	}
	t.Cleanup(func() {
		for range 50 {
			if err = os.Remove(dir); err == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("remove control group: %v", err)
	})
	cmd := exec.Command("sh", "-c", `echo $$ > "$0/cgroup.procs" || exit 1; x=$(head -c 33554432 /dev/zero | tr '\0' x); echo ready; read line`, dir)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if n, err := out.Read(make([]byte, 10)); n == 0 {
		t.Skipf("skipped: a process cannot join the group: %v", err)
	}
	g := &Group{Object: Object{Name: "api", PID: cmd.Process.Pid}}
	readings(t, g)
	got := readings(t, g)
	for _, key := range []string{"memory_bytes api", "memory_anon_bytes api", "memory_peak_bytes api"} {
		if v, ok := got[key]; !ok && key == "memory_peak_bytes api" && own.version["memory"] == 2 {
			t.Logf("not seen here: memory.peak (kernel before 5.19)")
		} else if v < 32<<20 || v > 1<<30 {
			t.Errorf("%s = %g, want at least 32 MiB", key, v)
		}
	}
	if got["oom_kills api"] != 0 {
		t.Errorf("oom_kills = %g", got["oom_kills api"])
	}
	if kills, where, ok := OOMKills(g.Object); !ok || kills != 0 || !strings.HasPrefix(where, dir) {
		t.Errorf("OOMKills = %d, %q, %t", kills, where, ok)
	}
}

// TestGroupOfNobodyIsAbsent: what a process shares with this one is not its own.
func TestGroupOfNobodyIsAbsent(t *testing.T) {
	cmd := exec.Command("sleep", "30")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Wait() })
	t.Cleanup(func() { cmd.Process.Kill() })
	g := &Group{Object: Object{Name: "api", PID: cmd.Process.Pid}}
	if err := g.Read(t.Context(), func(name, object string, v float64) { t.Errorf("%s(%s) = %g", name, object, v) }); !errors.Is(err, ErrAbsent) {
		t.Errorf("Read() = %v, want %v", err, ErrAbsent)
	}
}

func TestNFSRoundTrips(t *testing.T) {
	dir := t.TempDir()
	proc := filepath.Join(dir, "proc", "4711")
	if err := os.MkdirAll(proc, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("4711", filepath.Join(dir, "proc", "self")); err != nil {
		t.Fatal(err)
	}
	text := captured(t, "mountstats")
	// Operations, transmissions, major timeouts, bytes sent and received, then milliseconds in the
	// queue, in round trips and in all, and errors.
	stats := func(read string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(proc, "mountstats"), bytes.ReplaceAll(text, []byte("@READ@"), []byte(read)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	n := &NFS{root: root(dir)}
	stats("10 10 0 1000 655360 5 100 105 0")
	readings(t, n)
	stats("30 31 1 3000 1966080 25 300 325 0")
	got := readings(t, n)
	for key, want := range map[string]float64{"nfs_rtt READ /mnt/share": 10e6, "nfs_wait READ /mnt/share": 1e6,
		"nfs_operations READ /mnt/share": 20, "nfs_timeouts /mnt/share": 1, "nfs_retries /mnt/share": 1} {
		if got[key] != want {
			t.Errorf("%s = %g, want %g", key, got[key], want)
		}
	}
	if v, ok := got["nfs_rtt WRITE /mnt/share"]; ok {
		t.Errorf("rtt of writes is %g, but none was made", v)
	}
	if err := (&NFS{}).Read(t.Context(), func(string, string, float64) {}); err != nil && !errors.Is(err, ErrAbsent) {
		t.Error(err)
	}
}

func TestPrometheusReadsWhatWasAskedFor(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		w.Write(captured(t, "metrics.txt"))
	}))
	defer server.Close()
	p := &Prometheus{Target: "api", URL: server.URL, Metrics: []string{"http_requests_total", `http_requests_total{code="400"}`}}
	defer p.Close()
	got := readings(t, p)
	if got["prom api, http_requests_total"] != 1030 || got[`prom api, http_requests_total{code="400"}`] != 3 || len(got) != 2 {
		t.Errorf("readings = %v", got)
	}
	none := func(string, string, float64) {}
	p.Metrics = []string{"no_such_metric"}
	if err := p.Read(t.Context(), none); err == nil || !strings.Contains(err.Error(), "no_such_metric") {
		t.Errorf("Read() = %v, want the missing metric named", err)
	}
	status = http.StatusServiceUnavailable
	if err := p.Read(t.Context(), none); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("Read() = %v, want the status", err)
	}
}

func TestGPUByACommand(t *testing.T) {
	dir := t.TempDir()
	command := filepath.Join(dir, "smi")
	table, err := filepath.Abs("testdata/nvidia-smi.csv")
	if err != nil {
		t.Fatal(err)
	}
	script := func(s string) {
		if err := os.WriteFile(command, []byte("#!/bin/sh\n"+s), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script("cat " + table)
	if got := readings(t, &GPU{Command: command}); got["gpu_throttled 1"] != 1 {
		t.Errorf("readings = %v", got)
	}
	script("echo Failed to initialize NVML: Driver/library version mismatch; exit 18")
	err = (&GPU{Command: command}).Read(t.Context(), nil)
	if !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "mismatch") {
		t.Errorf("Read() = %v, want absent with the reason", err)
	}
	if err := (&GPU{Command: "no-such-program"}).Read(t.Context(), nil); !errors.Is(err, ErrAbsent) {
		t.Errorf("Read() = %v, want %v", err, ErrAbsent)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&GPU{Command: command}).Read(ctx, nil); err == nil || errors.Is(err, ErrAbsent) {
		t.Errorf("Read(cancelled) = %v: that is not absent", err)
	}
}

// TestHeatAndIdleOfAServer: a tree as a server with frequency scaling shows it.
func TestHeatAndIdleOfAServer(t *testing.T) {
	dir := t.TempDir()
	put := func(path, content string) {
		t.Helper()
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cpu := "sys/devices/system/cpu/cpu0/"
	put("sys/class/thermal/thermal_zone0/temp", "48000")
	put("sys/class/hwmon/hwmon1/temp3_input", "71500")
	put("sys/class/hwmon/hwmon1/temp4_input", "-128000")
	put(cpu+"thermal_throttle/core_throttle_count", "5")
	put(cpu+"thermal_throttle/package_throttle_count", "7")
	put(cpu+"cpufreq/scaling_cur_freq", "2100000")
	put(cpu+"cpuidle/state1/time", "1")
	put(cpu+"cpuidle/state2/time", "1000")
	h, idle := &Heat{root: root(dir)}, &Idle{root: root(dir)}
	readings(t, h)
	readings(t, idle)
	before := snapshot(root(dir), nil, nil)
	put(cpu+"thermal_throttle/package_throttle_count", "10")
	put(cpu+"cpuidle/state2/time", "1000000000")
	got := readings(t, h)
	if got["temp"] != 71.5 || got["heat_events"] != 3 || got["frequency_hz 0"] != 2.1e9 {
		t.Errorf("heat = %v", got)
	}
	if got := readings(t, idle); got["idle_deep 0"] != 1 {
		t.Errorf("idle = %v, want all of the time", got)
	}
	if d := before.Since(); d.Heat != 3 || !d.HeatKnown || len(d.Findings()) != 1 {
		t.Errorf("delta = %v, want three slowings", d)
	}
	g := &Gauge{root: root(dir)}
	if v, err := g.Read(t.Context(), ref(t, "temp")); err != nil || v.Number != 71.5 {
		t.Errorf("Read(temp) = %v, %v", v, err)
	}
}

// TestMemFreeOfALimitedGroup: what the machine has free is not what this process can have.
func TestMemFreeOfALimitedGroup(t *testing.T) {
	dir := t.TempDir()
	for path, content := range map[string]string{
		"proc/meminfo":                         "MemTotal: 1000000 kB\nMemAvailable: 900000 kB\n",
		"proc/self/mountinfo":                  "33 30 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"proc/self/cgroup":                     "0::/a/b\n",
		"sys/fs/cgroup/a/b/cgroup.controllers": "cpu memory\n",
		"sys/fs/cgroup/a/b/memory.max":         "max\n",
		"sys/fs/cgroup/a/memory.max":           "1000000\n",
		"sys/fs/cgroup/a/memory.current":       "700000\n",
		"sys/fs/cgroup/a/memory.stat":          "anon 1\ninactive_file 100000\n",
	} {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if free, err := memFree(root(dir)); err != nil || free != 400_000 {
		t.Errorf("memFree = %g, %v, want 400000: the limit less use, cache not counted", free, err)
	}
}

// TestForeignLoadIsNobodysOwn: a process that belongs to no object uses a core, while the one object
// that is watched sleeps. (This process is no object either: the other one is its child.)
func TestForeignLoadIsNobodysOwn(t *testing.T) {
	start := func(args ...string) int {
		cmd := exec.Command(args[0], args[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
		return cmd.Process.Pid
	}
	of := func(name string, pid int) *Processes {
		return &Processes{Trees: &Trees{Objects: func() []Object { return []Object{{Name: name, PID: pid}} }}}
	}
	mine, theirs := of("mine", start("sleep", "60")), of("it", start("sh", "-c", "while :; do :; done"))
	readings(t, mine)
	readings(t, theirs)
	// A host that steals the core makes one look misleading; a counter that is wrong is wrong each time.
	var used, foreign float64
	for range 5 {
		time.Sleep(300 * time.Millisecond)
		m, their := readings(t, mine), readings(t, theirs)
		if used, foreign = their["cpu it"], m["cpu_foreign"]; used > 0 && foreign >= 0.7*used && foreign <= 1000 {
			return
		}
	}
	t.Errorf("the process used %.2f cores, cpu_foreign = %.2f, want at least as much", used, foreign)
}
