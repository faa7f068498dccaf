package load

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// perOperation is what one operation in flight may cost the generator: a stack, two buffers of
	// a connection, and the kernel's socket memory. Measured at 12 to 30 KB with small bodies.
	perOperation = 64 << 10
	// spareDescriptors are left for everything that is not a connection.
	spareDescriptors = 128
)

// capacity is how many operations this machine lets the generator have in flight, and which
// resource says so. Descriptors and ports count only if each operation has its own connection.
func capacity(connections bool) (most int, by string) {
	most, by = 1<<20, "memory"
	narrow := func(n int, name string) {
		if n < most {
			most, by = max(1, n), name
		}
	}
	if free, ok := memoryFree(); ok {
		narrow(int(free/4/perOperation), "memory")
	}
	if !connections {
		return most, by
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur < 1<<30 {
		narrow(int(limit.Cur)-spareDescriptors, "descriptors")
	}
	var first, last int
	if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if n, _ := fmt.Sscan(string(b), &first, &last); n == 2 {
			narrow(last-first+1, "ports")
		}
	}
	return most, by
}

// memoryFree is the memory that the kernel says is available, in bytes.
func memoryFree() (free int64, ok bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(string(b), "MemAvailable:")
	if n, _ := fmt.Sscan(rest, &free); !found || n != 1 {
		return 0, false
	}
	return free << 10, true
}
