package telemetry

import (
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func captured(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseProcStat(t *testing.T) {
	got, err := parseProcStat(captured(t, "stat"))
	if err != nil {
		t.Fatal(err)
	}
	want := procStat{
		All:     CPUTicks{9879, 1, 6195, 177352, 2254, 2, 221, 293},
		Cores:   map[string]CPUTicks{"0": {3508, 0, 2100, 92247, 81, 1, 21, 125}, "1": {6371, 1, 4095, 85105, 2173, 1, 200, 168}},
		Context: 987654, Running: 3, Blocked: 1,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"", "ctxt 3\n", "cpu 1 2\n", "cpu 1 2 x 4\n"} {
		if s, err := parseProcStat([]byte(bad)); err == nil {
			t.Errorf("parseProcStat(%q) = %v, want an error", bad, s)
		}
	}
}

func TestParsePIDStat(t *testing.T) {
	got, err := parsePIDStat(captured(t, "pidstat"))
	want := pidStat{State: 'S', Parent: 1, MinorFaults: 1500, ChildMinor: 2500, MajorFaults: 7, ChildMajor: 9, User: 120, System: 45,
		ChildUser: 300, ChildSystem: 60, Threads: 12, Started: 98493, RSSPages: 3380}
	if err != nil || got != want {
		t.Errorf("parsePIDStat = %+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1 2", "1 (x) S y" + strings.Repeat(" 0", 40)} {
		if s, err := parsePIDStat([]byte(bad)); err == nil {
			t.Errorf("parsePIDStat(%q) = %v, want an error", bad, s)
		}
	}
}

func TestCounterFindsWholeNames(t *testing.T) {
	b := []byte("xpswpin 1\npswpin_zero 2\npswpin 3\noom_kill 4")
	for name, want := range map[string]uint64{"pswpin": 3, "oom_kill": 4, "xpswpin": 1} {
		if got, ok := counter(b, name); !ok || got != want {
			t.Errorf("counter(%s) = %d, %t, want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{"pswpou", "kill", "swpin"} {
		if got, ok := counter(b, name); ok {
			t.Errorf("counter(%s) = %d, want none", name, got)
		}
	}
}

func TestParsePressure(t *testing.T) {
	some, full, err := parsePressure([]byte("some avg10=12.50 avg60=1.07 avg300=1.39 total=20267447\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=7\n"))
	if err != nil || some != (Pressure{0.125, 20267447 * time.Microsecond}) || full != (Pressure{0.005, 7 * time.Microsecond}) {
		t.Errorf("parsePressure = %v, %v, %v", some, full, err)
	}
	for _, bad := range []string{"", "full avg10=0\n", "some avg10=x\n", "some avg10=NaN\n", "some avg10=-1\n", "some total=1e300\n"} {
		if some, _, err := parsePressure([]byte(bad)); err == nil {
			t.Errorf("parsePressure(%q) = %v, want an error", bad, some)
		}
	}
}

func TestParseSockets(t *testing.T) {
	var got []socket
	if err := parseSockets(captured(t, "tcp"), func(s socket) { got = append(got, s) }); err != nil {
		t.Fatal(err)
	}
	want := []socket{{8080, 0, listen, 0, 3, 31415}, {8080, 0xD431, established, 0, 0, 27182}, {8080, 0xD432, closeWait, 1, 0, 27183}, {0xD433, 8080, timeWait, 0, 0, 0}}
	if !slices.Equal(got, want) {
		t.Errorf("parseSockets = %v, want %v", got, want)
	}
	if err := parseSockets([]byte("header\n 0: 0100007F 0100007F:1F90 01\n"), func(socket) {}); err == nil {
		t.Error("a line without ports was accepted")
	}
}

func TestParseDevices(t *testing.T) {
	got := map[string]flows{}
	parseDiskstats(captured(t, "diskstats"), func(name string) bool { return name == "nvme0n1" || name == "sda" }, got)
	parseNetDev(captured(t, "netdev"), got)
	want := map[string]flows{
		"nvme0n1": {in: 80000 * 512, out: 160000 * 512, operations: 3000, busy: 700, disk: true},
		"lo":      {in: 123456, out: 123456},
		"eth0":    {in: 9876543210, out: 1234567890},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("devices = %+v, want %+v", got, want)
	}
}

func TestGroupFolders(t *testing.T) {
	mounts := parseGroupMounts(captured(t, "mountinfo"))
	membership := parseMembership([]byte("5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc/inner\n1:name=systemd:/x\n0::/../evil\nbroken\n"))
	g := locate("/", mounts, membership)
	want := map[string]string{
		"cpu": "/sys/fs/cgroup/cpu,cpuacct/docker/abc", "cpuacct": "/sys/fs/cgroup/cpu,cpuacct/docker/abc",
		"memory": "/sys/fs/cgroup/memory/inner",
	}
	if d := cmp.Diff(want, g.dirs); d != "" {
		t.Error(d)
	}
	if got, want := g.upwards("/", "cpu"), []string{"/sys/fs/cgroup/cpu,cpuacct/docker/abc", "/sys/fs/cgroup/cpu,cpuacct/docker", "/sys/fs/cgroup/cpu,cpuacct"}; !slices.Equal(got, want) {
		t.Errorf("upwards = %v, want %v", got, want)
	}
	if dir, ok := mounts.folder("/", "", "/a"); !ok || dir != "/sys/fs/cgroup/with blank/a" {
		t.Errorf("folder = %q, %t", dir, ok)
	}
}

func TestMetrics(t *testing.T) {
	list, err := ParseMetrics(captured(t, "metrics.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for want, value := range map[string]float64{
		"http_requests_total":                                      1030,
		`http_requests_total{code="400"}`:                          3,
		`http_requests_total{code="200",method="post"}`:            1027,
		"metric_without_timestamp_and_labels":                      12.47,
		`something_weird`:                                          math.Inf(1),
		`http_request_duration_seconds_bucket{le="+Inf"}`:          144320,
		`msdos_file_access_time_seconds{path="C:\\DIR\\FILE.TXT"}`: 1.458255915e9,
	} {
		if got, ok := Metric(list, want); !ok || got != value {
			t.Errorf("Metric(%s) = %g, %t, want %g", want, got, ok, value)
		}
	}
	for _, none := range []string{"http_requests", `http_requests_total{code="500"}`, "rpc_duration_seconds", "", "a b c"} {
		if got, ok := Metric(list, none); ok {
			t.Errorf("Metric(%q) = %g, want none", none, got)
		}
	}
	for _, bad := range []string{"name", "name x", `name{a="b} 1`, `name{a=b} 1`, "name 1 2 3", "{} 1"} {
		if list, err := ParseMetrics([]byte(bad)); err == nil {
			t.Errorf("ParseMetrics(%q) = %v, want an error", bad, list)
		}
	}
}

func TestParseGPU(t *testing.T) {
	got := map[string]float64{}
	if err := parseGPU(captured(t, "nvidia-smi.csv"), func(name, object string, v float64) { got[name+" "+object] = v }); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]float64{"gpu_busy 0": 0.87, "gpu_memory_bytes 0": 30517 << 20, "gpu_temp 1": 84, "gpu_watts 1": 299.8,
		"gpu_hz 1": 1095e6, "gpu_throttled 0": 0, "gpu_throttled 1": 1, "gpu_throttled 2": 0} {
		if v, ok := got[key]; !ok || math.Abs(v-want) > 1e-9 {
			t.Errorf("%s = %g, %t, want %g", key, v, ok, want)
		}
	}
	if v, ok := got["gpu_watts 2"]; ok {
		t.Errorf("[N/A] became %g", v)
	}
	if err := parseGPU([]byte("No devices were found\n"), nil); err == nil {
		t.Error("a message was taken for a table")
	}
}

// FuzzParsers: whatever a file holds, no parser panics, and no number that it gives is impossible.
func FuzzParsers(f *testing.F) {
	for _, name := range []string{"stat", "pidstat", "tcp", "diskstats", "netdev", "mountinfo", "metrics.txt", "nvidia-smi.csv", "mountstats"} {
		f.Add(captured(f, name))
	}
	f.Add([]byte("some avg10=12.50 avg60=1.07 avg300=1.39 total=20267447\n"))
	f.Add([]byte("0::/a\n5:cpu,cpuacct:/docker/abc\n"))
	f.Add([]byte("State:\tR (running)\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n"))
	f.Add([]byte("MemTotal:  99999999999999999999 kB\nVmHWM: 3 kB\n"))
	f.Add([]byte("TCP: inuse 1 orphan 0 tw 7 alloc 1 mem 62\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if some, full, err := parsePressure(b); err == nil {
			for _, p := range []Pressure{some, full} {
				if !(p.Avg10 >= 0 && p.Avg10 <= 1) || p.Total < 0 {
					t.Errorf("pressure %+v", p)
				}
			}
		}
		if s, err := parsePIDStat(b); err == nil && (s.Parent < 0 || s.Threads < 0 || s.RSSPages < 0) {
			t.Errorf("pid stat %+v", s)
		}
		parseSockets(b, func(s socket) {
			if s.state < 0 || s.state >= states {
				t.Errorf("socket %+v", s)
			}
		})
		for name, n := range parseMeminfo(b) {
			if n < 0 {
				t.Errorf("meminfo %s = %d", name, n)
			}
		}
		for c, dir := range locate("/", parseGroupMounts(b), parseMembership(b)).dirs {
			if !strings.HasPrefix(dir, "/") || strings.Contains(dir, "/../") {
				t.Errorf("group %q at %q", c, dir)
			}
		}
		if list, err := ParseMetrics(b); err == nil {
			for _, s := range list {
				if s.Name == "" || math.IsNaN(s.Value) {
					t.Errorf("metric %+v", s)
				}
			}
		}
		parseProcStat(b)
		parseDiskstats(b, func(string) bool { return true }, map[string]flows{})
		parseNetDev(b, map[string]flows{})
		parseTaskStatus(b)
		parseTimeWait(b)
		parseGPU(b, func(string, string, float64) {})
		counter(b, "pswpin")
		statusBytes(b, "VmHWM:")
	})
}
