//go:build !linux

package machine

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

var errPinning = fmt.Errorf("%w: cores are chosen on Linux only", errUnavailable)

// affinity are all cores for this process; others cannot be asked here.
func affinity(pid int) ([]int, error) {
	if pid != 0 {
		return nil, errPinning
	}
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus, nil
}

func setAffinity(int, []int) error { return errPinning }

// disk measures nothing: past the page cache is a flag of Linux.
func (c Ceilings) disk(context.Context) (bench, error) {
	if c.Dir == "" {
		return bench{}, nil
	}
	return bench{}, fmt.Errorf("disk: %w: it is measured past the page cache, on Linux only", errUnavailable)
}

func timerWakeup(context.Context) (float64, error) {
	return 0, fmt.Errorf("wakeup(timer): %w: clock_nanosleep is Linux's", errUnavailable)
}

func pipe() (ends [2]int, err error) {
	if err = unix.Pipe(ends[:]); err == nil {
		unix.CloseOnExec(ends[0])
		unix.CloseOnExec(ends[1])
	}
	return ends, err
}
