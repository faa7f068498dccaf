package telemetry

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// GPU reads NVIDIA's processors by nvidia-smi, of each by its index: gpu_busy and gpu_memory_busy
// (shares of time), gpu_memory_bytes, gpu_temp (degrees Celsius), gpu_watts, gpu_hz, and
// gpu_throttled (1 while it is slowed for heat or power, else 0). It is a remote sampler: each read
// starts a process.
type GPU struct {
	// Command is the program; empty is nvidia-smi from the path.
	Command string
	path    string
}

// gpuFields are what nvidia-smi is asked for, the reading each becomes and what it is multiplied by.
var gpuFields = []struct {
	query, name string
	scale       float64
}{
	{"index", "", 0},
	{"utilization.gpu", "gpu_busy", 0.01},
	{"utilization.memory", "gpu_memory_busy", 0.01},
	{"memory.used", "gpu_memory_bytes", 1 << 20},
	{"temperature.gpu", "gpu_temp", 1},
	{"power.draw", "gpu_watts", 1},
	{"clocks.sm", "gpu_hz", 1e6},
	{"clocks_throttle_reasons.active", "gpu_throttled", 1},
}

// Reasons of slowing that are heat or power, and not idleness or a setting (nvml.h,
// nvmlClocksThrottleReason): software power cap, hardware slowdown, software and hardware thermal,
// power brake.
const gpuSlowed = 0x4 | 0x8 | 0x20 | 0x40 | 0x80

// Source names the interface.
func (g *GPU) Source() string { return "gpu: nvidia-smi" }

// Close does nothing.
func (g *GPU) Close() error { return nil }

// Read asks once. A value that a processor does not tell is left out.
func (g *GPU) Read(ctx context.Context, emit Emit) error {
	if g.path == "" {
		command := g.Command
		if command == "" {
			command = "nvidia-smi"
		}
		path, err := exec.LookPath(command)
		if err != nil {
			return fmt.Errorf("gpu: %w: %w", ErrAbsent, err)
		}
		g.path = path
	}
	query := make([]string, len(gpuFields))
	for i, f := range gpuFields {
		query[i] = f.query
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, g.path, "--query-gpu="+strings.Join(query, ","), "--format=csv,noheader,nounits").Output()
	if err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); exited && ctx.Err() == nil {
			// The driver is not there or does not match; that does not change during a trial.
			return fmt.Errorf("gpu: %w: %s: %w: %s", ErrAbsent, g.path, err, bytes.TrimSpace(out))
		}
		return fmt.Errorf("gpu: execute %s: %w", g.path, err)
	}
	return parseGPU(out, emit)
}

// parseGPU reads the table that nvidia-smi prints.
func parseGPU(b []byte, emit Emit) error {
	r := csv.NewReader(bytes.NewReader(b))
	r.TrimLeadingSpace = true
	r.FieldsPerRecord = len(gpuFields)
	rows, err := r.ReadAll()
	if err != nil {
		return fmt.Errorf("gpu: parse nvidia-smi: %w", err)
	}
	for _, row := range rows {
		for i, f := range gpuFields {
			text := strings.TrimSpace(row[i])
			switch f.name {
			case "":
			case "gpu_throttled":
				if reasons, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64); err == nil {
					emit(f.name, row[0], float64(min(reasons&gpuSlowed, 1)))
				}
			default:
				if v, err := strconv.ParseFloat(text, 64); err == nil {
					emit(f.name, row[0], v*f.scale)
				}
			}
		}
	}
	return nil
}
