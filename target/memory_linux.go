package target

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
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

// slim makes this process small, so that it hides as little as possible of the peak of a child: the
// pages of its program that it has looked at and does not need any more leave its resident set (they
// stay in the page cache), and its own peak starts again from there (proc(5), clear_refs).
func slim() {
	rehearse()
	for _, m := range untouched() {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
	rehearse() // what the fork needs comes back, and in the account of nobody
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// rehearse forks for a program that cannot be there, so that the fork to come finds its pages.
func rehearse() {
	_, _ = syscall.ForkExec("/dev/null/none", []string{"none"}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
}

// A mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// untouched are the mappings of files that cannot be written to and that nothing was written to
// before they were protected, as a dynamic linker does: only these can be had again from the file.
func untouched() []mapping {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer f.Close()
	var found []mapping
	var last mapping
	candidate := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) >= 5 && !strings.HasSuffix(words[0], ":"):
			_, err := fmt.Sscanf(words[0], "%x-%x", &last.start, &last.end)
			candidate = err == nil && (words[1] == "r-xp" || words[1] == "r--p") && words[4] != "0"
		case candidate && len(words) > 1 && words[0] == "Anonymous:":
			if words[1] == "0" {
				found = append(found, last)
			}
			candidate = false
		}
	}
	return found
}
