package reader

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// processorTime returns the processor time of this process so far.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// residentPeak returns the most memory that the process has had resident, in bytes; 0 where the system
// does not say. It is the kernel's VmHWM, which begins anew at exec, as getrusage's figure does not.
func residentPeak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, found := bytes.Cut(status, []byte("VmHWM:"))
	if !found {
		return 0
	}
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}
