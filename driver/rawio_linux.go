package driver

import (
	"syscall"
	"unsafe"
)

// rawWrite writes to a socket that does not block. The scheduler is not told, as it is by
// syscall.Write: such a call never waits, and telling costs more than it is worth. A socket's own
// calls spare the kernel what it does for files.
func rawWrite(fd int, b []byte) (int, error) {
	return rawCall(syscall.SYS_SENDTO, fd, b, syscall.MSG_NOSIGNAL)
}

// rawRead reads from a socket that does not block; see rawWrite.
func rawRead(fd int, b []byte) (int, error) { return rawCall(syscall.SYS_RECVFROM, fd, b, 0) }

func rawCall(number uintptr, fd int, b []byte, flags uintptr) (int, error) {
	n, _, errno := syscall.RawSyscall6(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), flags, 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
