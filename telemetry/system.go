package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// machineObject is the object of readings of the machine as a whole whose names also stand for a
// trial's own: ctx_switches is a command's, ctx_switches(machine) everybody's.
const machineObject = "machine"

// System reads the machine as a whole: load1; cpu_idle and cpu_steal (shares since the read before);
// cpu_busy(core); mem_free and swap_used; runnable(machine) and blocked(machine); time_wait(machine),
// TCP sockets of the network namespace that wait for stragglers and belong to no process; and since the
// watch began ctx_switches(machine), page_faults(machine), swap_in_bytes and swap_out_bytes.
type System struct {
	root   root
	held   held
	seldom time.Time // when what changes slowly was read
	before *procStat
	first  *systemCounts
}

// systemCounts only grow.
type systemCounts struct {
	switches, faults, swapIn, swapOut uint64
}

// Source names the interface.
func (s *System) Source() string {
	return "machine: /proc/stat, vmstat, meminfo, loadavg, net/sockstat"
}

// Close closes the files that were read.
func (s *System) Close() error { return s.held.Close() }

// memoryAge is how often memory, load and counters of paging are read: the kernel sums them up over all
// cores for it, and renews the load once in five seconds.
const memoryAge = 450 * time.Millisecond

// Read emits the readings of the machine.
func (s *System) Read(_ context.Context, emit Emit) error {
	if s.root == "" {
		s.root = "/"
	}
	s.held.root = s.root
	b, err := s.held.record("proc/stat")
	if err != nil {
		return fmt.Errorf("machine: %w: %w", ErrAbsent, err)
	}
	stat, err := parseProcStat(b)
	if err != nil {
		return err
	}
	if s.before != nil {
		all := stat.All.minus(s.before.All)
		emit("cpu_idle", "", share(all.Idle+all.IOWait, all.Total()))
		emit("cpu_steal", "", share(all.Steal, all.Total()))
		for core, now := range stat.Cores {
			d := now.minus(s.before.Cores[core])
			if total := d.Total(); total > 0 {
				emit("cpu_busy", core, 1-share(d.Idle+d.IOWait, total))
			}
		}
	}
	s.before = &stat
	emit("runnable", machineObject, float64(stat.Running))
	emit("blocked", machineObject, float64(stat.Blocked))
	if s.first != nil && time.Since(s.seldom) < memoryAge {
		return nil
	}
	s.seldom = time.Now()
	if b, err := s.held.record("proc/net/sockstat"); err == nil {
		if waiting, ok := parseTimeWait(b); ok {
			emit("time_wait", machineObject, float64(waiting))
		}
	}
	return errors.Join(s.counts(stat, emit), s.memory(emit))
}

// parseTimeWait is the "tw" of the TCP line of /proc/net/sockstat.
func parseTimeWait(b []byte) (uint64, bool) {
	_, rest, ok := bytes.Cut(b, []byte("TCP:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	_, number, found := bytes.Cut(line, []byte(" tw "))
	return leadingUint(number), ok && found
}

func (s *System) counts(stat procStat, emit Emit) error {
	b, err := s.held.lines("proc/vmstat")
	if err != nil {
		return fmt.Errorf("machine: read vmstat: %w", err)
	}
	now := systemCounts{switches: stat.Context}
	now.faults, _ = counter(b, "pgfault")
	now.swapIn, _ = counter(b, "pswpin")
	now.swapOut, _ = counter(b, "pswpout")
	if s.first == nil {
		s.first = &now
	}
	emit("ctx_switches", machineObject, float64(now.switches-s.first.switches))
	emit("page_faults", machineObject, float64(now.faults-s.first.faults))
	emit("swap_in_bytes", "", float64(pages(now.swapIn, s.first.swapIn)))
	emit("swap_out_bytes", "", float64(pages(now.swapOut, s.first.swapOut)))
	return nil
}

func (s *System) memory(emit Emit) error {
	b, err := s.held.record("proc/meminfo")
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	if free := statusBytes(b, "MemAvailable:"); free > 0 {
		emit("mem_free", "", float64(free))
	}
	emit("swap_used", "", float64(statusBytes(b, "SwapTotal:")-statusBytes(b, "SwapFree:")))
	if b, err = s.held.record("proc/loadavg"); err != nil {
		return fmt.Errorf("load1: %w", err)
	}
	load, err := parseLoad1(b)
	if err == nil {
		emit("load1", "", load)
	}
	return err
}

// Devices reads disks and network interfaces: bandwidth(device) in bytes a second, both directions
// together, and its parts read_bytes_per_s, write_bytes_per_s, rx_bytes_per_s, tx_bytes_per_s; of
// disks also operations_per_s and disk_busy (share of time). Idle devices that never moved are left
// out.
type Devices struct {
	root   root
	held   held
	isDisk map[string]bool // whole devices, of the names that were asked for
	at     time.Time
	before map[string]flows
}

// flows are counters of one device, in bytes but for operations and busy (ms).
type flows struct {
	in, out, operations, busy uint64
	disk                      bool
}

// Source names the interface.
func (d *Devices) Source() string { return "devices: /proc/diskstats, /proc/net/dev" }

// Close closes the files that were read.
func (d *Devices) Close() error { return d.held.Close() }

// Read emits the readings of all devices that have moved something.
func (d *Devices) Read(_ context.Context, emit Emit) error {
	if d.root == "" {
		d.root = "/"
	}
	d.held.root = d.root
	now := map[string]flows{}
	disks, diskErr := d.held.lines("proc/diskstats")
	if diskErr == nil {
		parseDiskstats(disks, d.whole, now)
	}
	nets, netErr := d.held.lines("proc/net/dev")
	if netErr == nil {
		parseNetDev(nets, now)
	}
	if diskErr != nil && netErr != nil {
		return fmt.Errorf("devices: %w: %w", ErrAbsent, errors.Join(diskErr, netErr))
	}
	at := time.Now()
	seconds := at.Sub(d.at).Seconds()
	for name, f := range now {
		b, known := d.before[name]
		if !known || f.in+f.out == 0 {
			continue
		}
		perSecond := func(now, before uint64) float64 { return float64(now-min(before, now)) / seconds }
		in, out := perSecond(f.in, b.in), perSecond(f.out, b.out)
		emit("bandwidth", name, in+out)
		if !f.disk {
			emit("rx_bytes_per_s", name, in)
			emit("tx_bytes_per_s", name, out)
			continue
		}
		emit("read_bytes_per_s", name, in)
		emit("write_bytes_per_s", name, out)
		emit("operations_per_s", name, perSecond(f.operations, b.operations))
		emit("disk_busy", name, min(perSecond(f.busy, b.busy)/1000, 1))
	}
	d.at, d.before = at, now
	return nil
}

// whole reports whether a name of /proc/diskstats is a whole device: partitions count twice.
func (d *Devices) whole(name string) bool {
	if strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "ram") {
		return false
	}
	is, asked := d.isDisk[name]
	if !asked {
		matches, _ := filepath.Glob(d.root.path("sys/block", strings.ReplaceAll(name, "/", "!")))
		if is = len(matches) > 0; d.isDisk == nil {
			d.isDisk = map[string]bool{}
		}
		d.isDisk[name] = is
	}
	return is
}

// parseDiskstats reads /proc/diskstats (Documentation/admin-guide/iostats.rst): sectors are 512
// bytes whatever the device's own are. Lines of another form are passed over.
func parseDiskstats(b []byte, whole func(string) bool, into map[string]flows) {
	for line := range bytes.Lines(b) {
		f := strings.Fields(string(line))
		if len(f) < 14 {
			continue
		}
		var n [14]uint64
		ok := true
		for i := 3; i < 14; i++ {
			v, err := strconv.ParseUint(f[i], 10, 64)
			ok = ok && err == nil
			n[i] = v
		}
		if ok && n[5]+n[9] > 0 && whole(f[2]) {
			into[f[2]] = flows{in: n[5] * 512, out: n[9] * 512, operations: n[3] + n[7], busy: n[12], disk: true}
		}
	}
}

// parseNetDev reads /proc/net/dev. Lines of another form are passed over.
func parseNetDev(b []byte, into map[string]flows) {
	for line := range bytes.Lines(b) {
		name, rest, ok := strings.Cut(string(line), ":")
		f := strings.Fields(rest)
		if !ok || len(f) < 16 {
			continue
		}
		in, err := strconv.ParseUint(f[0], 10, 64)
		out, err2 := strconv.ParseUint(f[8], 10, 64)
		if err == nil && err2 == nil {
			into[strings.TrimSpace(name)] = flows{in: in, out: out}
		}
	}
}
