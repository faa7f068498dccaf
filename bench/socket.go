//go:build linux

package main

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The sockets of this package never block, so that no call on them is told to Go's scheduler: that
// would cost as much as the call.

// read reads once into the buffer. Where a log is kept it also gives the kernel's stamp of the last
// bytes, 0 if there is none.
func (s *server) read(fd int) (n int, stamp int64, err error) {
	if !s.log {
		n, err = rawIO(unix.SYS_READ, fd, s.buffer)
		return n, 0, err
	}
	into := unix.Iovec{Base: &s.buffer[0]}
	into.SetLen(len(s.buffer))
	message := unix.Msghdr{Iov: &into, Control: &s.control[0]}
	message.SetIovlen(1)
	message.SetControllen(len(s.control))
	got, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&message)), 0)
	if errno != 0 {
		return 0, 0, errno
	}
	return int(got), stampOf(s.control[:message.Controllen]), nil
}

// stampOf is the time in a control message of the kind SCM_TIMESTAMPNS (socket(7)).
func stampOf(control []byte) int64 {
	header := unix.CmsgLen(0)
	if len(control) < unix.CmsgLen(int(unsafe.Sizeof(unix.Timespec{}))) {
		return 0
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	return (*unix.Timespec)(unsafe.Pointer(&control[header])).Nano()
}

// write writes the answer; a socket that cannot take it whole is one that nobody reads from.
func (s *server) write(fd int) int {
	n, err := rawIO(unix.SYS_WRITE, fd, unsafe.Slice(unsafe.StringData(answer), len(answer)))
	if err != nil {
		return 0
	}
	return n
}

func rawIO(call uintptr, fd int, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// realtime is CLOCK_REALTIME in nanoseconds, the clock of the kernel's stamps.
func realtime() int64 { return time.Now().UnixNano() }
