package telemetry

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// held are files that are read over and over and stay open in between: of a small file in /proc,
// finding and closing it takes the kernel longer than writing its content does. What a read gives is
// valid until the next one, and nothing is allocated for it.
type held struct {
	root  root
	files map[string]int // path below the root to descriptor
	block []byte
}

// mostHeld bounds the open files of one source; those beyond are opened for each read.
const mostHeld = 256

// record reads a file whose content the kernel writes as one record, as nearly all of /proc/PID, of
// pressure and of control groups is: what one read gives is all of it.
func (h *held) record(path string) ([]byte, error) { return h.read(path, false) }

// lines reads a file that the kernel hands out in pieces, as it does tables.
func (h *held) lines(path string) ([]byte, error) { return h.read(path, true) }

func (h *held) read(path string, pieces bool) ([]byte, error) {
	if h.block == nil {
		h.files, h.block = map[string]int{}, make([]byte, 8<<10)
	}
	fd, open := h.files[path]
	if !open {
		if len(h.files) >= mostHeld {
			return h.root.read(path)
		}
		full := h.root.path(path)
		var err error
		if fd, err = ignoringEINTR(func() (int, error) { return unix.Open(full, unix.O_RDONLY|unix.O_CLOEXEC, 0) }); err != nil {
			return nil, fmt.Errorf("open %s: %w", full, err)
		}
		h.files[path] = fd
	}
	n := 0
	for {
		m, err := unix.Pread(fd, h.block[n:], int64(n))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil { // what it told of has ended
			h.forget(path)
			return nil, fmt.Errorf("read %s: %w", h.root.path(path), err)
		}
		n += m
		if m == 0 || !pieces && n < len(h.block) {
			return h.block[:n], nil
		}
		if n == len(h.block) {
			h.block = slices.Grow(h.block, n)[:2*n]
		}
	}
}

// forget closes files that are not read any more.
func (h *held) forget(paths ...string) {
	for _, path := range paths {
		if fd, open := h.files[path]; open {
			_ = unix.Close(fd) // nothing was written
			delete(h.files, path)
		}
	}
}

// Close closes all files.
func (h *held) Close() error {
	var err error
	for path, fd := range h.files {
		err = errors.Join(err, unix.Close(fd))
		delete(h.files, path)
	}
	return err
}
