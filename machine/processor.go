package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// processor reads /proc/cpuinfo: model, cores and caches, and none of the clock rates.
func processor(cpuinfo string) map[string]string {
	fp := map[string]string{}
	first := map[string]string{}
	cores := map[string]bool{}
	threads := 0
	var socket string
	for line := range strings.Lines(cpuinfo) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if _, seen := first[key]; !seen {
			first[key] = value
		}
		switch key {
		case "processor":
			threads++
		case "physical id":
			socket = value
		case "core id":
			cores[socket+"/"+value] = true
		}
	}
	put := func(key, value string) {
		if value != "" {
			fp[key] = value
		}
	}
	put("cpu_model", firstOf(first, "model name", "Model", "cpu model", "uarch", "CPU part"))
	put("cpu_stepping", strings.Trim(first["cpu family"]+"/"+first["model"]+"/"+first["stepping"], "/"))
	put("cpu_microcode", first["microcode"])
	put("cpu_cache", first["cache size"])
	if threads > 0 {
		fp["cpu_threads"] = strconv.Itoa(threads)
	}
	if len(cores) > 0 {
		fp["cpu_cores"] = strconv.Itoa(len(cores))
	}
	return fp
}

// firstOf is the value of the first of the keys that has one.
func firstOf(m map[string]string, keys ...string) string {
	for _, k := range keys {
		if m[k] != "" {
			return m[k]
		}
	}
	return ""
}

// meminfoKB is a line of /proc/meminfo, in KiB.
func meminfoKB(r root, name string) (int64, bool) {
	text, ok := r.text("proc/meminfo")
	if !ok {
		return 0, false
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			var kb int64
			if _, err := fmt.Sscan(rest, &kb); err != nil || kb < 0 {
				return 0, false
			}
			return kb, true
		}
	}
	return 0, false
}

// hypervisor names what the machine is a guest of; empty on bare metal.
func (r root) hypervisor(cpuinfo string) string {
	var names []string
	for _, path := range []string{"sys/hypervisor/type", "sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name"} {
		if v, ok := r.text(path); ok {
			names = append(names, v)
		}
	}
	switch guest, known := hasFlag(cpuinfo, "hypervisor"); {
	case !known:
		// Other processors than x86 do not tell a guest from bare metal; the names have to do.
		return strings.Join(names, " ")
	case !guest && len(names) > 0:
		return "none (" + strings.Join(names, " ") + ")"
	case !guest:
		return ""
	}
	if len(names) == 0 {
		if clock, _ := r.text("sys/devices/system/clocksource/clocksource0/available_clocksource"); strings.Contains(clock, "kvm-clock") {
			return "kvm"
		}
		return "unnamed"
	}
	return strings.Join(names, " ")
}

// hasFlag reports whether the processor has a flag of /proc/cpuinfo; known is false where
// /proc/cpuinfo has no flags.
func hasFlag(cpuinfo, flag string) (has, known bool) {
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "flags" {
			for f := range strings.FieldsSeq(value) {
				if f == flag {
					return true, true
				}
			}
			return false, true
		}
	}
	return false, false
}
