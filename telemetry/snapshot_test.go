package telemetry

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSnapshotOfAQuietStretchFindsNothingOfItsOwn(t *testing.T) {
	before := Snapshot()
	time.Sleep(60 * time.Millisecond)
	d := before.Since()
	if d.Wall < 60*time.Millisecond || d.Wall > 10*time.Second {
		t.Errorf("Wall = %v, want about 60ms", d.Wall)
	}
	if d.CPU.Total() == 0 || len(d.Measures()) != 2 {
		t.Errorf("CPU = %+v, measures %v, want some ticks of 10 ms and two measures", d.CPU, d.Measures())
	}
	for _, f := range d.Findings() {
		if f.Guard != "steal" { // the host's doing, not the code's
			t.Errorf("finding on a quiet stretch: %s: %s (%v)", f.Guard, f.Text, d)
		}
	}
}

func TestDeltaFindings(t *testing.T) {
	base := State{monotonic: 1e9, realtime: 5e9, boottime: 2e9, cpu: CPUTicks{User: 100, Idle: 100}, heated: true,
		quotas: []quota{{object: "api", dir: "/g", periods: 10, throttled: 3, time: time.Second}}}
	after := func(change func(*State)) State {
		s := base
		s.monotonic += 1e9
		s.realtime += 1e9
		s.boottime += 1e9
		s.cpu = CPUTicks{User: 200, Idle: 200}
		s.quotas = []quota{{object: "api", dir: "/g", periods: 110, throttled: 3, time: time.Second}}
		change(&s)
		return s
	}
	for _, c := range []struct {
		name   string
		change func(*State)
		guard  string
		says   []string
	}{
		{"nothing", func(*State) {}, "", nil},
		{"clock set forward", func(s *State) { s.realtime += 50e6 }, "clock-step", []string{"set by 50ms", "chrony"}},
		{"clock set back", func(s *State) { s.realtime -= 2e6 }, "clock-step", []string{"-2ms"}},
		{"slack between clock readings", func(s *State) { s.realtime += 1e5 }, "", nil},
		{"suspended", func(s *State) { s.boottime += 3e9; s.realtime += 3e9 }, "clock-step", []string{"suspended for 3s"}},
		{"stolen", func(s *State) { s.cpu.Steal = 40 }, "steal", []string{"16.7%", "hypervisor"}},
		{"a little stolen", func(s *State) { s.cpu.Steal = 10 }, "", nil},
		{"swapped in", func(s *State) { s.swapIn = 512 }, "swap", []string{"2.0 MiB", "swapoff"}},
		{"a page swapped in", func(s *State) { s.swapIn = 1 }, "", nil},
		{"throttled", func(s *State) { s.quotas[0].throttled = 815; s.quotas[0].time = 5 * time.Second }, "throttled",
			[]string{"cpu.stat shows 812 throttled periods of 100 (4s) in api", "raise its quota"}},
		{"hot", func(s *State) { s.heat = 7 }, "throttled", []string{"7 slowings for heat"}},
	} {
		d := base.until(after(c.change))
		found := d.Findings()
		if c.guard == "" {
			if len(found) != 0 {
				t.Errorf("%s: Findings() = %v, want none", c.name, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Guard != c.guard {
			t.Errorf("%s: Findings() = %v, want one of %s", c.name, found, c.guard)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(found[0].Text, want) {
				t.Errorf("%s: %q does not say %q", c.name, found[0].Text, want)
			}
		}
	}
}

// TestStealOfOneTickIsNotTenPercent: a trial of 30 ms has six ticks on two cores, so that one
// stolen tick, which may have been a millisecond, reads as 17%.
func TestStealOfOneTickIsNotTenPercent(t *testing.T) {
	for _, cpu := range []CPUTicks{{User: 5, Steal: 1}, {User: 10, Steal: 2}, {Idle: 40, Steal: 5}} {
		d := State{}.until(State{monotonic: 30e6, realtime: 30e6, boottime: 30e6, cpu: cpu})
		if found := d.Findings(); len(found) != 0 {
			t.Errorf("Findings() with %+v = %v, want none", cpu, found)
		}
	}
}

// A quotaGroup makes a control group with a processor quota of 5% of a core below this process's own.
func quotaGroup(t *testing.T) (dir string) {
	t.Helper()
	r := root("/")
	mountinfo, err := r.read("proc/self/mountinfo")
	if err != nil {
		t.Skipf("skipped: no control groups: %v", err)
	}
	g, err := groupOf(r, parseGroupMounts(mountinfo), os.Getpid())
	if err != nil || g.dirs["cpu"] == "" {
		t.Skipf("skipped: no cpu controller: %v", err)
	}
	dir = filepath.Join(g.dirs["cpu"], fmt.Sprintf("assay-test-%d", os.Getpid()))
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
	file, content := "cpu.cfs_quota_us", "1000"
	if g.version["cpu"] == 2 {
		file, content = "cpu.max", "1000 20000"
	} else if err := os.WriteFile(filepath.Join(dir, "cpu.cfs_period_us"), []byte("20000"), 0o644); err != nil {
		t.Skipf("skipped: cannot set a period: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
		t.Skipf("skipped: cannot set a quota: %v", err)
	}
	return dir
}

// spinIn starts a process that uses all the processor time it gets, in a control group.
func spinIn(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", `echo $$ > "$0/cgroup.procs" && while :; do :; done`, dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// TestThrottledGroupIsNamed: the quota is that of the group above the one that the process is in, as
// in a container.
func TestThrottledGroupIsNamed(t *testing.T) {
	dir := quotaGroup(t)
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(inner); err != nil {
			t.Errorf("remove control group: %v", err)
		}
	})
	cmd := spinIn(t, inner)
	time.Sleep(100 * time.Millisecond) // until it has joined the group
	before := Snapshot(Object{Name: "api", PID: cmd.Process.Pid})
	d := before.Since()
	for range 30 {
		if time.Sleep(100 * time.Millisecond); len(d.Throttled) > 0 {
			break
		}
		d = before.Since()
	}
	var text string
	for _, f := range d.Findings() {
		if f.Guard == "throttled" {
			text = f.Text
		}
	}
	if !strings.Contains(text, "throttled periods") || !strings.Contains(text, "in api ("+dir+")") {
		t.Errorf("Findings() = %v, want throttling in api (%s); %v", d.Findings(), dir, d)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for b.Loop() {
		Snapshot()
	}
}
