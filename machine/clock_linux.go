package machine

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

func timerWakeup(ctx context.Context) (float64, error) {
	const pause = 200 * time.Microsecond
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	late := make([]time.Duration, 0, 100)
	for range 100 {
		request := unix.NsecToTimespec(int64(pause))
		start := time.Now()
		if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &request, nil); err == nil { // else interrupted by a signal
			late = append(late, time.Since(start)-pause)
		}
	}
	return middle(late), context.Cause(ctx)
}

func pipe() (ends [2]int, err error) {
	err = unix.Pipe2(ends[:], unix.O_CLOEXEC)
	return ends, err
}
