package telemetry

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A root is the folder under which /proc and /sys stand: "/" but for tests.
type root string

func (r root) path(elem ...string) string {
	return filepath.Join(append([]string{string(r)}, elem...)...)
}

// read is the content of a file. It goes straight to the system calls: os.ReadFile first asks for
// the size, which is 0 in /proc, then reads in pieces that grow from 512 bytes and offers the file to
// the poller; together five times as long as the kernel takes for a small file.
func (r root) read(elem ...string) ([]byte, error) {
	path := r.path(elem...)
	fd, err := ignoringEINTR(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	b := make([]byte, 0, 8<<10)
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, len(b))
		}
		n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, b[len(b):cap(b)]) })
		if err != nil || n <= 0 {
			return b, errors.Join(err, unix.Close(fd))
		}
		b = b[:len(b)+n]
	}
}

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// number is the integer that a file consists of.
func (r root) number(elem ...string) (int64, error) {
	b, err := r.read(elem...)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: got %q, want a number", r.path(elem...), bytes.TrimSpace(b))
	}
	return n, nil
}

// CPUTicks are the times of one line of /proc/stat, in ticks of 10 ms (USER_HZ is 100 on every
// Linux platform that Go supports).
type CPUTicks struct {
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal uint64
}

const tick = 10_000_000 // ns

// Total is all time, idle and stolen included. Guest time is part of User.
func (c CPUTicks) Total() uint64 {
	return c.User + c.Nice + c.System + c.Idle + c.IOWait + c.IRQ + c.SoftIRQ + c.Steal
}

// minus is c - before, each field at least 0: idle and iowait may fall by a tick or two when a core
// goes offline and comes back.
func (c CPUTicks) minus(before CPUTicks) CPUTicks {
	d := func(a, b uint64) uint64 {
		if a < b {
			return 0
		}
		return a - b
	}
	return CPUTicks{d(c.User, before.User), d(c.Nice, before.Nice), d(c.System, before.System), d(c.Idle, before.Idle),
		d(c.IOWait, before.IOWait), d(c.IRQ, before.IRQ), d(c.SoftIRQ, before.SoftIRQ), d(c.Steal, before.Steal)}
}

// share is part of whole, 0 where the whole is 0.
func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// A procStat is /proc/stat.
type procStat struct {
	All     CPUTicks
	Cores   map[string]CPUTicks // by number
	Context uint64              // context switches since boot
	Running uint64
	Blocked uint64
}

// parseProcStat reads /proc/stat, or its beginning: a text that was cut after the cpu lines leaves
// the counters below them at 0.
func parseProcStat(b []byte) (procStat, error) {
	s := procStat{Cores: map[string]CPUTicks{}}
	seen := false
	for line := range bytes.Lines(b) {
		name, rest, _ := bytes.Cut(line, []byte(" "))
		switch {
		case bytes.HasPrefix(name, []byte("cpu")):
			c, err := parseCPULine(rest)
			if err != nil {
				return procStat{}, fmt.Errorf("parse /proc/stat: line %q: %w", bytes.TrimSpace(line), err)
			}
			if string(name) == "cpu" {
				s.All, seen = c, true
			} else {
				s.Cores[string(name[3:])] = c
			}
		case string(name) == "ctxt":
			s.Context = leadingUint(rest)
		case string(name) == "procs_running":
			s.Running = leadingUint(rest)
		case string(name) == "procs_blocked":
			s.Blocked = leadingUint(rest)
		}
	}
	if !seen {
		return procStat{}, fmt.Errorf("parse /proc/stat: no cpu line in %d bytes", len(b))
	}
	return s, nil
}

// parseCPULine reads the numbers of a cpu line. Kernels before 2.6.11 had no steal; four are the least.
func parseCPULine(b []byte) (CPUTicks, error) {
	var c CPUTicks
	into := [...]*uint64{&c.User, &c.Nice, &c.System, &c.Idle, &c.IOWait, &c.IRQ, &c.SoftIRQ, &c.Steal}
	n := 0
	for field := range bytes.FieldsSeq(b) {
		if n == len(into) {
			break
		}
		v, ok := wholeUint(field)
		if !ok {
			return CPUTicks{}, fmt.Errorf("got %q, want a number of ticks", field)
		}
		*into[n] = v
		n++
	}
	if n < 4 {
		return CPUTicks{}, fmt.Errorf("got %d numbers, want at least 4", n)
	}
	return c, nil
}

// leadingUint is the number that b starts with after blanks, 0 if there is none.
func leadingUint(b []byte) uint64 {
	b = bytes.TrimLeft(b, " \t")
	var n uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uint64(c-'0')
	}
	return n
}

// wholeUint is the number that b consists of. Unlike strconv's, it takes bytes and allocates nothing.
func wholeUint(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' || n > (1<<64-1-9)/10 {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, len(b) > 0
}

// counter is one line of a file of counters, found without reading the others: /proc/vmstat has two
// hundred of them and is read around every trial.
func counter(b []byte, name string) (uint64, bool) {
	for len(b) > 0 {
		i := bytes.Index(b, []byte(name))
		if i < 0 {
			return 0, false
		}
		after := b[i+len(name):]
		if (i == 0 || b[i-1] == '\n') && len(after) > 1 && after[0] == ' ' && after[1] >= '0' && after[1] <= '9' {
			return leadingUint(after), true
		}
		b = after
	}
	return 0, false
}
