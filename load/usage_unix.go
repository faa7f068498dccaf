//go:build unix

package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU is the user and system time of the process so far.
func processCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
