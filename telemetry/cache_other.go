//go:build !linux

package telemetry

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// directIO is none: here no flag opens a file past the page cache.
const directIO = 0

// sinceBoot is a clock that stands still while the machine is suspended: suspension is not seen here.
const sinceBoot = unix.CLOCK_MONOTONIC

var errCache = fmt.Errorf("%w: the page cache can be asked and dropped on Linux only", ErrAbsent)

func dropCached(int, int64, int64) error { return errCache }

func noReadAhead(int) error { return errCache }

func mincoreRange(int, int64, int, int64) (resident int64, err error) { return 0, errCache }
