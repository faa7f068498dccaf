package telemetry

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Heat reads temp (the hottest sensor, degrees Celsius), heat_events (slowings for heat since the
// watch began), and of each core frequency_hz where the kernel scales it.
type Heat struct {
	root  root
	first *uint64
}

// Source names the interface.
func (h *Heat) Source() string { return "heat: /sys/class/thermal, hwmon, thermal_throttle, cpufreq" }

// Close does nothing.
func (h *Heat) Close() error { return nil }

// Read emits what there is; it is absent if there is nothing, as in most guests.
func (h *Heat) Read(_ context.Context, emit Emit) error {
	if h.root == "" {
		h.root = "/"
	}
	known := false
	if t, err := hottest(h.root); err == nil {
		emit("temp", "", t)
		known = true
	}
	if events, counted := heatEvents(h.root); counted {
		if h.first == nil {
			h.first = &events
		}
		emit("heat_events", "", since(events, *h.first))
		known = true
	}
	paths, _ := filepath.Glob(h.root.path("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"))
	for _, p := range paths {
		core := strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(p))), "cpu")
		if khz, err := root("").number(p); err == nil {
			emit("frequency_hz", core, float64(khz)*1000)
			known = true
		}
	}
	if !known {
		return fmt.Errorf("heat: %w: no sensor, no throttle counter, no frequency", ErrAbsent)
	}
	return nil
}

// since is a counter's growth, 0 if it was set back.
func since(now, first uint64) float64 { return float64(now - min(first, now)) }

// Idle reads, of each core, idle_deep: the share of time since the read before that it spent in idle
// states deeper than the first. Waking from those takes long, so that a lightly loaded machine may
// answer more slowly than a busy one.
type Idle struct {
	root   root
	at     time.Time
	before map[string]int64
}

// Source names the interface.
func (s *Idle) Source() string { return "idle states: /sys/devices/system/cpu/cpu*/cpuidle" }

// Close does nothing.
func (s *Idle) Close() error { return nil }

var cpuNumber = regexp.MustCompile(`/cpu([0-9]+)/cpuidle/`)

// Read emits the shares since the read before.
func (s *Idle) Read(_ context.Context, emit Emit) error {
	if s.root == "" {
		s.root = "/"
	}
	paths, _ := filepath.Glob(s.root.path("sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[2-9]/time"))
	if len(paths) == 0 {
		return fmt.Errorf("idle states: %w: none deeper than the first", ErrAbsent)
	}
	at, now := time.Now(), map[string]int64{}
	for _, p := range paths {
		if us, err := root("").number(p); err == nil {
			now[cpuNumber.FindStringSubmatch(p)[1]] += us
		}
	}
	for core, us := range now {
		if before, known := s.before[core]; known {
			emit("idle_deep", core, ratio(float64(us-before)*1000, float64(at.Sub(s.at))))
		}
	}
	s.at, s.before = at, now
	return nil
}
