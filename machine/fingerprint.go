package machine

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A root is the folder under which /proc and /sys stand: "/" but for tests.
type root string

// text is the trimmed content of a file; ok is false if it cannot be read or is empty.
func (r root) text(path string) (s string, ok bool) {
	b, err := os.ReadFile(filepath.Join(string(r), path))
	s = strings.TrimSpace(string(b))
	return s, err == nil && s != ""
}

// Fingerprint is what must be equal for two sessions to be comparable: processor, memory, kernel
// and the settings that move figures. Keys that this machine does not have are absent. Values that
// drift by themselves (clock rates, free memory, load) are not part of it, nor is the boot.
func Fingerprint() (map[string]string, error) {
	fp, err := fingerprint("/")
	if err != nil {
		return nil, err
	}
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return nil, fmt.Errorf("read fingerprint: uname: %w", err)
	}
	fp["arch"] = runtime.GOARCH
	fp["machine"] = unix.ByteSliceToString(uts.Machine[:])
	fp["kernel"] = unix.ByteSliceToString(uts.Release[:]) + " " + unix.ByteSliceToString(uts.Version[:])
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil {
		fp["limit_nofile"] = strconv.FormatUint(limit.Max, 10)
	}
	return fp, nil
}

// fingerprint is the part of the fingerprint that stands in files.
func fingerprint(r root) (map[string]string, error) {
	fp := map[string]string{}
	cpuinfo, ok := r.text("proc/cpuinfo")
	if !ok {
		return nil, fmt.Errorf("read fingerprint: %s: not readable; assay needs Linux with /proc", filepath.Join(string(r), "proc/cpuinfo"))
	}
	maps.Copy(fp, processor(cpuinfo))
	if kb, ok := meminfoKB(r, "MemTotal"); ok {
		// Balloons and crash kernels move the total by megabytes between readings of one machine.
		fp["memory_gib"] = strconv.FormatFloat(math.Round(float64(kb)/(1<<20)), 'f', -1, 64)
	}
	if kb, ok := meminfoKB(r, "SwapTotal"); ok {
		fp["swap_mib"] = strconv.FormatInt(kb>>10, 10)
	}
	for _, s := range settings {
		if v, ok := r.text(s.path); ok {
			fp[s.key] = s.read(v)
		}
	}
	for _, s := range perCPU {
		if v := r.distinct(s.path); v != "" {
			fp[s.key] = v
		}
	}
	if v := r.hypervisor(cpuinfo); v != "" {
		fp["hypervisor"] = v
	}
	if v := r.container(); v != "" {
		fp["container"] = v
	}
	if v := r.mitigations(); v != "" {
		fp["mitigations"] = v
	}
	maps.Copy(fp, r.groupLimits())
	return fp, nil
}

// A setting is one file whose content moves figures.
type setting struct {
	key, path string
	read      func(string) string
}

func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// chosen is the bracketed word of "always [madvise] never".
func chosen(s string) string {
	_, after, ok := strings.Cut(s, "[")
	if word, _, closed := strings.Cut(after, "]"); ok && closed {
		return word
	}
	return plain(s)
}

// osName is the name of the distribution in os-release.
func osName(s string) string {
	for line := range strings.Lines(s) {
		if v, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return ""
}

var settings = []setting{
	{"os", "etc/os-release", osName},
	{"cpus_online", "sys/devices/system/cpu/online", plain},
	{"cpus_isolated", "sys/devices/system/cpu/isolated", plain},
	{"cpus_nohz_full", "sys/devices/system/cpu/nohz_full", plain},
	{"numa_nodes", "sys/devices/system/node/online", plain},
	{"smt", "sys/devices/system/cpu/smt/control", plain},
	{"cpu_boost", "sys/devices/system/cpu/cpufreq/boost", plain},
	{"turbo_off", "sys/devices/system/cpu/intel_pstate/no_turbo", plain},
	{"idle_driver", "sys/devices/system/cpu/cpuidle/current_driver", plain},
	{"idle_governor", "sys/devices/system/cpu/cpuidle/current_governor", plain},
	{"clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource", plain},
	{"thp", "sys/kernel/mm/transparent_hugepage/enabled", chosen},
	{"thp_defrag", "sys/kernel/mm/transparent_hugepage/defrag", chosen},
	{"ksm", "sys/kernel/mm/ksm/run", plain},
	{"aslr", "proc/sys/kernel/randomize_va_space", plain},
	{"numa_balancing", "proc/sys/kernel/numa_balancing", plain},
	{"sched_autogroup", "proc/sys/kernel/sched_autogroup_enabled", plain},
	{"swappiness", "proc/sys/vm/swappiness", plain},
	{"overcommit", "proc/sys/vm/overcommit_memory", plain},
	{"dirty_ratio", "proc/sys/vm/dirty_ratio", plain},
	{"dirty_background_ratio", "proc/sys/vm/dirty_background_ratio", plain},
	{"tcp_congestion", "proc/sys/net/ipv4/tcp_congestion_control", plain},
	{"tcp_tw_reuse", "proc/sys/net/ipv4/tcp_tw_reuse", plain},
	{"tcp_rmem", "proc/sys/net/ipv4/tcp_rmem", plain},
	{"tcp_wmem", "proc/sys/net/ipv4/tcp_wmem", plain},
	{"qdisc", "proc/sys/net/core/default_qdisc", plain},
	{"somaxconn", "proc/sys/net/core/somaxconn", plain},
	{"port_range", "proc/sys/net/ipv4/ip_local_port_range", plain},
}

// perCPU are files that stand once a core; the fingerprint holds their distinct contents.
var perCPU = []setting{
	{key: "governor", path: "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"},
	{key: "frequency_driver", path: "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_driver"},
	{key: "frequency_min_khz", path: "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_min_freq"},
	{key: "frequency_max_khz", path: "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_max_freq"},
	{key: "energy_preference", path: "sys/devices/system/cpu/cpu[0-9]*/cpufreq/energy_performance_preference"},
}

// distinct is the sorted set of contents of the files that match a pattern, joined by commas.
func (r root) distinct(pattern string) string {
	paths, err := filepath.Glob(filepath.Join(string(r), pattern))
	if err != nil {
		panic("machine: pattern " + pattern + ": " + err.Error())
	}
	seen := map[string]bool{}
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil && len(b) > 0 {
			seen[chosen(string(b))] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), ",")
}

// mitigations are the kernel's answers to processor flaws, which cost system calls and switches
// differently: "spectre_v2: Mitigation: Retpolines" and so on, those not affected left out.
func (r root) mitigations() string {
	paths, _ := filepath.Glob(filepath.Join(string(r), "sys/devices/system/cpu/vulnerabilities/*"))
	var list []string
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if text := strings.TrimSpace(string(b)); err == nil && text != "Not affected" && text != "" {
			list = append(list, filepath.Base(p)+": "+text)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " | ")
}
