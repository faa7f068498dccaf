package target

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// oomKills is how many processes the kernel has killed for want of memory since boot, in every
// control group of the machine.
func oomKills() int64 { return field("/proc/vmstat", "oom_kill") }

// ownPeak is the greatest resident set that this process has had, in bytes. A child starts with it
// as its own peak (exec_mmap in the kernel's fs/exec.c), so that nothing below it can be told.
func ownPeak() int64 { return field("/proc/self/status", "VmHWM:") << 10 }

// field is the number after a name at the start of a line; 0 if there is none.
func field(path, name string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == name {
			n, _ := strconv.ParseInt(words[1], 10, 64)
			return n
		}
	}
	return 0
}
