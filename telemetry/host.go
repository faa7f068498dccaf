package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// load1 is the load average of the last minute.
func load1(r root) (float64, error) {
	b, err := r.read("proc/loadavg")
	if err != nil {
		return 0, fmt.Errorf("load1: %w: %w", ErrAbsent, err)
	}
	return parseLoad1(b)
}

func parseLoad1(b []byte) (float64, error) {
	first, _, _ := bytes.Cut(b, []byte(" "))
	v, err := strconv.ParseFloat(string(first), 64)
	if err != nil {
		return 0, fmt.Errorf("parse /proc/loadavg: got %q, want a number", first)
	}
	return v, nil
}

// cpuOver is what all cores did over the next d.
func cpuOver(ctx context.Context, r root, d time.Duration) (CPUTicks, error) {
	before, err := cpuNow(r)
	if err != nil {
		return CPUTicks{}, err
	}
	if err := sleep(ctx, d); err != nil {
		return CPUTicks{}, err
	}
	after, err := cpuNow(r)
	return after.minus(before), err
}

func cpuNow(r root) (CPUTicks, error) {
	b, err := r.read("proc/stat")
	if err != nil {
		return CPUTicks{}, fmt.Errorf("cpu: %w: %w", ErrAbsent, err)
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	s, err := parseProcStat(line)
	return s.All, err
}

// hottest is the highest temperature of all thermal zones and processor sensors, in degrees Celsius.
func hottest(r root) (float64, error) {
	var top float64
	found := false
	for _, pattern := range []string{"sys/class/thermal/thermal_zone*/temp", "sys/class/hwmon/hwmon*/temp*_input"} {
		paths, _ := filepath.Glob(r.path(pattern))
		for _, p := range paths {
			// A sensor that is asleep answers with an error or with a number below freezing.
			if milli, err := root("").number(p); err == nil && milli > 0 && milli < 200_000 {
				top, found = max(top, float64(milli)/1000), true
			}
		}
	}
	if !found {
		return 0, fmt.Errorf("temp: %w: no thermal zone and no sensor answers", ErrAbsent)
	}
	return top, nil
}

// meminfo is /proc/meminfo in bytes.
func meminfo(r root) (map[string]int64, error) {
	b, err := r.read("proc/meminfo")
	if err != nil {
		return nil, fmt.Errorf("memory: %w: %w", ErrAbsent, err)
	}
	return parseMeminfo(b), nil
}

// parseMeminfo reads lines of "Name: number kB", as in /proc/meminfo, status and smaps_rollup.
// Lines of another form are passed over, and so are numbers that do not fit.
func parseMeminfo(b []byte) map[string]int64 {
	m := map[string]int64{}
	for line := range bytes.Lines(b) {
		name, rest, ok := strings.Cut(string(line), ":")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		n, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil || n < 0 || n > 1<<52 {
			continue
		}
		if len(fields) > 1 && fields[1] == "kB" {
			n *= 1024
		}
		m[name] = n
	}
	return m
}

// memFree is what programs can still have without swapping: MemAvailable, or what the control
// groups of this process leave, whichever is less.
func memFree(r root) (float64, error) {
	m, err := meminfo(r)
	if err != nil {
		return 0, err
	}
	free, ok := m["MemAvailable"]
	if !ok {
		return 0, fmt.Errorf("mem_free: %w: /proc/meminfo lacks MemAvailable (kernel before 3.14)", ErrAbsent)
	}
	mountinfo, err := r.read("proc/self/mountinfo")
	if err != nil {
		return float64(free), nil
	}
	membership, err := r.read("proc/self/cgroup")
	if err != nil {
		return float64(free), nil
	}
	g := locate(r, parseGroupMounts(mountinfo), parseMembership(membership))
	for _, dir := range g.upwards(r, "memory") {
		if left, ok := groupMemoryLeft(dir, g.version["memory"]); ok {
			free = min(free, left)
		}
	}
	return float64(free), nil
}

// groupMemoryLeft is the limit of a group less what it uses, the page cache not counted since the
// kernel gives it back; ok is false where there is no limit.
func groupMemoryLeft(dir string, version int) (left int64, ok bool) {
	limitName, usageName, cacheName := "memory.max", "memory.current", "inactive_file"
	if version == 1 {
		limitName, usageName, cacheName = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
	}
	limit, err := root("").number(dir, limitName) // "max" is no number
	if err != nil || limit > 1<<60 {
		return 0, false
	}
	usage, err := root("").number(dir, usageName)
	if err != nil {
		return 0, false
	}
	b, _ := root("").read(dir, "memory.stat")
	cache, _ := counter(b, cacheName)
	return max(limit-usage+int64(cache), 0), true
}

// A Pressure is one line of /proc/pressure: the share of time in which some (or all) tasks waited.
type Pressure struct {
	Avg10 float64       // over 10 s, 0 to 1
	Total time.Duration // since boot
}

// pressureNow is the "some" line of cpu, io or memory.
func pressureNow(r root, resource string) (Pressure, error) {
	switch resource {
	case "cpu", "io", "memory":
	default:
		return Pressure{}, fmt.Errorf("pressure(%s): want pressure(cpu), pressure(io) or pressure(memory)", resource)
	}
	b, err := r.read("proc/pressure", resource)
	if err != nil {
		// Reading fails, too, when the kernel was booted with psi=0.
		return Pressure{}, fmt.Errorf("pressure(%s): %w: %w", resource, ErrAbsent, err)
	}
	some, _, err := parsePressure(b)
	return some, err
}

// parsePressure reads a file of pressure stall information (Documentation/accounting/psi.rst).
func parsePressure(b []byte) (some, full Pressure, err error) {
	found := false
	for line := range bytes.Lines(b) {
		kind, rest, _ := strings.Cut(string(line), " ")
		var p Pressure
		for field := range strings.FieldsSeq(rest) {
			key, text, _ := strings.Cut(field, "=")
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !(v >= 0) || v > 1<<53 {
				return some, full, fmt.Errorf("parse pressure: line %q: got %q, want a number", strings.TrimSpace(string(line)), text)
			}
			switch key {
			case "avg10":
				p.Avg10 = min(v/100, 1)
			case "total":
				p.Total = time.Duration(v) * time.Microsecond
			}
		}
		switch kind {
		case "some":
			some, found = p, true
		case "full":
			full = p
		}
	}
	if !found {
		return some, full, fmt.Errorf("parse pressure: no line \"some\" in %d bytes", len(b))
	}
	return some, full, nil
}
