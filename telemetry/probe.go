package telemetry

import (
	"context"
	"time"
)

// A Prober performs one small operation on the thing that is shared, as a bystander would.
type Prober interface {
	// Probe says how long the operation took. An operation that fails or runs into its timeout is
	// an error; ctx cancels it.
	Probe(ctx context.Context) (time.Duration, error)
	Close() error
}
