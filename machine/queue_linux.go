package machine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An ioControl and an ioEvent are the kernel's struct iocb and io_event (linux/aio_abi.h).
type ioControl struct {
	token     uint64
	_         uint32 // key, set by the kernel
	_         uint32 // flags
	operation uint16
	_         int16 // priority
	file      uint32
	buffer    uintptr
	length    uint64
	offset    int64
	_         uint64
	_         uint32
	_         uint32
}

type ioEvent struct {
	token uint64
	_     uint64 // address of the control
	done  int64  // bytes, or an error below 0
	_     int64
}

// Operations of struct iocb.
const (
	ioRead  = 0
	ioWrite = 1
)

// A diskQueue keeps several operations under way from one thread, by the kernel's asynchronous
// interface. With a thread for each, the hand-over between threads and not the disk is what is
// measured: it gave half of what fio does.
type diskQueue struct {
	id       uintptr
	controls []ioControl
	size     int64 // of a block
	place    func() int64
}

// queued moves random blocks of 4 KiB for d, queueDepth at once, and gives operations a second.
func (r *region) queued(ctx context.Context, d time.Duration, operation uint16) (rate float64, err error) {
	return r.deep(ctx, d, operation, randomBlock, r.place)
}

// streamed reads blocks of 1 MiB one after the other for d, queueDepth at once, and gives bytes a
// second: what the disk gives to as many readers as it can serve.
func (r *region) streamed(ctx context.Context, d time.Duration) (float64, error) {
	rate, err := r.deep(ctx, d, ioRead, sequentialBlock, r.block)
	return rate * sequentialBlock, err
}

// deep moves blocks at the places that are given for d, queueDepth at once, and gives operations a second.
func (f diskFile) deep(ctx context.Context, d time.Duration, operation uint16, size int64, place func() int64) (rate float64, err error) {
	blocks, free, err := noise(queueDepth*int(size), size > randomBlock)
	if err != nil {
		return 0, err
	}
	defer free()
	q := diskQueue{controls: make([]ioControl, queueDepth), size: size, place: place}
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, queueDepth, uintptr(unsafe.Pointer(&q.id)), 0); errno != 0 {
		return 0, fmt.Errorf("%w: set up a queue: %w", errUnavailable, errno)
	}
	defer func() {
		// Waits for what is still under way, so that the blocks below are the kernel's no longer.
		if _, _, errno := unix.Syscall(unix.SYS_IO_DESTROY, q.id, 0, 0); errno != 0 {
			err = errors.Join(err, fmt.Errorf("disk: end the queue: %w", errno))
		}
		runtime.KeepAlive(q.controls)
	}()
	todo := make([]*ioControl, queueDepth)
	for i := range q.controls {
		block := blocks[i*int(size):]
		q.controls[i] = ioControl{token: uint64(i), operation: operation, file: uint32(f.Fd()),
			buffer: uintptr(unsafe.Pointer(&block[0])), length: uint64(size)}
		todo[i] = &q.controls[i]
	}
	done := 0
	start := time.Now()
	for time.Since(start) < d || done == 0 {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if todo, err = q.turn(todo); err != nil {
			return 0, fmt.Errorf("disk: %w", err)
		}
		done += len(todo)
	}
	return float64(done) / time.Since(start).Seconds(), nil
}

// turn submits operations at new places, waits for at least one, and returns those that are done.
func (q *diskQueue) turn(todo []*ioControl) ([]*ioControl, error) {
	for _, c := range todo {
		c.offset = q.place()
	}
	// One by one: the disk begins with the first while the rest are handed over, which a queue that is
	// filled at a stroke does not allow.
	for len(todo) > 0 {
		n, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, q.id, 1, uintptr(unsafe.Pointer(&todo[0])))
		if errno == unix.EAGAIN || errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return nil, fmt.Errorf("submit: %w", errno)
		}
		todo = todo[n:]
	}
	var events [queueDepth]ioEvent
	limit := unix.NsecToTimespec(int64(10 * time.Second))
	n, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, q.id, 1, queueDepth, uintptr(unsafe.Pointer(&events[0])), uintptr(unsafe.Pointer(&limit)), 0)
	if errno == unix.EINTR {
		return nil, nil
	}
	if errno != 0 || n == 0 {
		return nil, fmt.Errorf("wait: nothing within 10s: %w", errno)
	}
	finished := make([]*ioControl, 0, n)
	for _, e := range events[:n] {
		if e.done != q.size {
			return nil, fmt.Errorf("moved %d of %d bytes", e.done, q.size)
		}
		finished = append(finished, &q.controls[e.token])
	}
	return finished, nil
}
