package machine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// clock measures the clock's own step and cost, and how late a sleeper wakes up: by a timer and by
// another thread.
func (c Ceilings) clock(context.Context) (bench, error) {
	return bench{ceilings: []ceiling{
		{"clock_tick", "ns", "least step of 10000 that CLOCK_MONOTONIC shows", func(context.Context) (float64, error) { return clockTick(), nil }},
		{"clock_read", "ns", "mean of 100000 readings of CLOCK_MONOTONIC", func(context.Context) (float64, error) { return clockRead(), nil }},
		{"wakeup(timer)", "ns", "how late a thread wakes from clock_nanosleep of 200 us, median of 100 in a run", timerWakeup},
		{"wakeup(go)", "ns", "how late a goroutine wakes from time.Sleep of 1 ms, median of 30 in a run", goWakeup},
		{"wakeup(pipe)", "ns", "half a round trip of one byte between two threads over pipes, mean of 1000 in a run", pipeWakeup},
	}}, nil
}

func clockTick() float64 {
	least := time.Second
	for range 10_000 {
		a := time.Now()
		b := time.Now()
		for b.Equal(a) {
			b = time.Now()
		}
		least = min(least, b.Sub(a))
	}
	return float64(least)
}

func clockRead() float64 {
	const n = 100_000
	start := time.Now()
	for range n {
		_ = time.Now()
	}
	return float64(time.Since(start)) / n
}

func goWakeup(ctx context.Context) (float64, error) {
	const pause = time.Millisecond
	late := make([]time.Duration, 0, 30)
	for range 30 {
		start := time.Now()
		time.Sleep(pause)
		late = append(late, time.Since(start)-pause)
	}
	return middle(late), context.Cause(ctx)
}

// middle is the median of durations in nanoseconds, 0 of none.
func middle(d []time.Duration) float64 {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return float64(d[len(d)/2])
}

func pipeWakeup(ctx context.Context) (float64, error) {
	there, err := pipe()
	if err != nil {
		return 0, fmt.Errorf("open pipe: %w", err)
	}
	defer closeAll(there[0], there[1])
	back, err := pipe()
	if err != nil {
		return 0, fmt.Errorf("open pipe: %w", err)
	}
	defer closeAll(back[0], back[1])
	rtt, err := pingPong(there[1], back[0], there[0], back[1], 1000)
	if err != nil {
		return 0, err
	}
	return float64(rtt) / 2, context.Cause(ctx)
}

func closeAll(fds ...int) {
	for _, fd := range fds {
		_ = unix.Close(fd) // nothing was buffered
	}
}

// pingPong sends a byte from one thread to another and back, n times, and gives the mean time of a
// round trip. The threads block in the kernel, as those of a plain C program do.
func pingPong(out, in, peerIn, peerOut int, n int) (time.Duration, error) {
	echoed := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		b := make([]byte, 1)
		for range n {
			if err := both(peerIn, peerOut, b); err != nil {
				echoed <- fmt.Errorf("echo: %w", err)
				return
			}
		}
		echoed <- nil
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b := make([]byte, 1)
	start := time.Now()
	var err error
	for range n {
		if err = writeAll(out, b); err != nil {
			break
		}
		if err = readByte(in, b); err != nil {
			break
		}
	}
	took := time.Since(start)
	if err != nil {
		return 0, fmt.Errorf("send and receive: %w", err)
	}
	return took / time.Duration(n), <-echoed
}

func both(in, out int, b []byte) error {
	if err := readByte(in, b); err != nil {
		return err
	}
	return writeAll(out, b)
}

func readByte(fd int, b []byte) error {
	for {
		n, err := unix.Read(fd, b)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return fmt.Errorf("closed by the other side")
		default:
			return nil
		}
	}
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err != nil && err != unix.EINTR {
			return err
		}
		b = b[max(n, 0):]
	}
	return nil
}
