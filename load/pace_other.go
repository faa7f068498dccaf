//go:build !linux

package load

import "context"

// newPacer is the pacer of this system.
func newPacer(ctx context.Context, c clock) (pacer, error) {
	return plainPacer{ctx: ctx, clock: c}, nil
}
