//go:build !linux

package target

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrPlatform is why nothing can be executed here: guardians need Linux's child subreapers.
var ErrPlatform = errors.New("commands and services are executed on Linux only")

// Keep returns at once: there are no guardians here.
func Keep() (code int, inner bool) { return 0, true }

// Execute is an error here.
func Execute(context.Context, Invocation) (Exit, error) {
	return Exit{}, fmt.Errorf("start command: %w", ErrPlatform)
}

// Strike is an error here.
func Strike(int, string) error { return fmt.Errorf("signal process: %w", ErrPlatform) }

// SweepLeftovers finds nothing, because nothing was started.
func SweepLeftovers(string) int { return 0 }

// A Service never stands here.
type Service struct{}

// Start is an error here.
func Start(_ context.Context, spec Spec) (*Service, error) {
	return nil, fmt.Errorf("start %s: %w", spec.Name, ErrPlatform)
}

// Stop does nothing.
func (*Service) Stop() {}

// PID is 0.
func (*Service) PID() int { return 0 }

// State is empty.
func (*Service) State() State { return State{} }

// Signal is an error here.
func (*Service) Signal(string) error { return ErrPlatform }

// Restart is an error here.
func (*Service) Restart(context.Context) (time.Duration, error) { return 0, ErrPlatform }

// Recovered is an error here.
func (*Service) Recovered(context.Context) (time.Duration, error) { return 0, ErrPlatform }
