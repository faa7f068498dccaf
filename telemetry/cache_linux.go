package telemetry

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// directIO opens a file past the page cache.
const directIO = unix.O_DIRECT

// sinceBoot is the clock that also counts while the machine is suspended.
const sinceBoot = unix.CLOCK_BOOTTIME

// dropCached drops a part of a file from the page cache, the whole of it for a length of 0.
func dropCached(fd int, at, length int64) error {
	return unix.Fadvise(fd, at, length, unix.FADV_DONTNEED)
}

// noReadAhead has the kernel read no more of a file than is asked for.
func noReadAhead(fd int) error { return unix.Fadvise(fd, 0, 0, unix.FADV_RANDOM) }

// mincoreRange is how many pages of a part of a file are in the page cache.
func mincoreRange(fd int, at int64, length int, page int64) (resident int64, err error) {
	mapped, err := unix.Mmap(fd, at, length, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, fmt.Errorf("map: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Munmap(mapped)) }()
	vector := make([]byte, (int64(length)+page-1)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(length), uintptr(unsafe.Pointer(&vector[0])))
	if errno != 0 {
		return 0, fmt.Errorf("mincore: %w", errno)
	}
	for _, v := range vector {
		resident += int64(v & 1)
	}
	return resident, nil
}
