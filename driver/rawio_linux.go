package driver

import (
	"syscall"
	"unsafe"
)

// rawWrite writes to a socket that does not block. The scheduler is not told, as it is by
// syscall.Write: such a call never waits, and telling costs more than it is worth.
func rawWrite(fd int, b []byte) (int, error) { return rawCall(syscall.SYS_WRITE, fd, b) }

// rawRead reads from a socket that does not block; see rawWrite.
func rawRead(fd int, b []byte) (int, error) { return rawCall(syscall.SYS_READ, fd, b) }

func rawCall(number uintptr, fd int, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
