package machine

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFingerprintOfOtherMachines(t *testing.T) {
	for _, c := range []struct {
		name string
		want map[string]string
	}{
		{"bare", map[string]string{
			"cpu_model": "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "cpu_stepping": "6/85/4", "cpu_microcode": "0x2006e05",
			"cpu_cache": "22528 KB", "cpu_threads": "3", "cpu_cores": "2", "memory_gib": "188", "swap_mib": "8191",
			"aslr": "2", "tcp_congestion": "cubic", "thp": "always", "governor": "performance,powersave",
			"hypervisor": "none (Dell Inc. PowerEdge R740)", "os": "Ubuntu 24.04.1 LTS",
			"cgroup": "v2", "cgroup_cpu_quota": "400000 100000", "cgroup_memory_bytes": "8589934592",
		}},
		{"guest", map[string]string{
			"cpu_model": "0xd0c", "cpu_threads": "2", "memory_gib": "8", "hypervisor": "Amazon EC2", "container": "docker",
			"cgroup": "hybrid", "cgroup_cpu_quota": "150000 100000", "cgroup_memory_bytes": "1073741824",
		}},
	} {
		got, err := fingerprint(root("testdata/" + c.name))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("fingerprint of %s (-want +got):\n%s", c.name, d)
		}
	}
	if fp, err := fingerprint("testdata/none"); err == nil {
		t.Errorf("fingerprint of nothing = %v, want an error", fp)
	}
}

// TestFingerprintHoldsNothingThatDrifts: a clock rate in it would make every trial a session.
func TestFingerprintHoldsNothingThatDrifts(t *testing.T) {
	a := processor("processor : 0\nmodel name : X\ncpu MHz : 1000.0\nbogomips : 1.0\n")
	b := processor("processor : 0\nmodel name : X\ncpu MHz : 3000.0\nbogomips : 2.0\n")
	if !maps.Equal(a, b) {
		t.Errorf("processor = %v, then %v at another clock rate", a, b)
	}
}

func FuzzProcessor(f *testing.F) {
	f.Add("processor\t: 0\nmodel name\t: X\nphysical id\t: 0\ncore id\t: 1\nflags\t: fpu hypervisor\n")
	f.Fuzz(func(t *testing.T, text string) {
		for k, v := range processor(text) {
			if k == "" || v == "" || strings.Contains(v, "\n") {
				t.Errorf("processor(%q) has %q = %q", text, k, v)
			}
		}
		hasFlag(text, "hypervisor")
		chosen(text)
	})
}

func TestUpwardsEndsAtTheRoot(t *testing.T) {
	got := upwards("m", "/a/../../b/c")
	if want := []string{"m/b/c", "m/b", "m"}; !slices.Equal(got, want) {
		t.Errorf("upwards = %v, want %v", got, want)
	}
}
