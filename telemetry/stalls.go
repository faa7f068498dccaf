package telemetry

import (
	"context"
	"fmt"
	"time"
)

// Stalls reads pressure stall information: pressure(cpu|io|memory), the share of time since the read
// before in which some task waited for that resource, and pressure_full(io|memory), in which all did.
type Stalls struct {
	root   root
	held   held
	at     time.Time
	before map[string]stalled
}

type stalled struct{ some, full time.Duration }

// Source names the interface.
func (s *Stalls) Source() string { return "pressure: /proc/pressure" }

// Close closes the files that were read.
func (s *Stalls) Close() error { return s.held.Close() }

// Read emits the shares since the read before. They are made of the counters, which are exact to the
// microsecond, and not of the kernel's running averages.
func (s *Stalls) Read(_ context.Context, emit Emit) error {
	if s.root == "" {
		s.root = "/"
	}
	s.held.root = s.root
	at, now := time.Now(), map[string]stalled{}
	for _, resource := range []string{"cpu", "io", "memory"} {
		b, err := s.held.record("proc/pressure/" + resource)
		if err != nil {
			return fmt.Errorf("pressure: %w: %w", ErrAbsent, err)
		}
		some, full, err := parsePressure(b)
		if err != nil {
			return err
		}
		now[resource] = stalled{some.Total, full.Total}
		before, known := s.before[resource]
		if dt := float64(at.Sub(s.at)); known && dt > 0 {
			emit("pressure", resource, ratio(float64(some.Total-before.some), dt))
			if resource != "cpu" {
				emit("pressure_full", resource, ratio(float64(full.Total-before.full), dt))
			}
		}
	}
	s.at, s.before = at, now
	return nil
}

// ratio is part of whole, kept between 0 and 1: counter and clock are not read at one instant.
func ratio(part, whole float64) float64 { return min(max(part/whole, 0), 1) }
