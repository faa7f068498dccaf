package telemetry

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A socketState is a state of TCP, as include/net/tcp_states.h numbers them.
type socketState int

const (
	established socketState = 1
	synSent     socketState = 2
	timeWait    socketState = 6
	closeWait   socketState = 8
	listen      socketState = 10
	states                  = 13
)

func (s socketState) String() string {
	names := [states]string{1: "established", "syn_sent", "syn_received", "fin_wait1", "fin_wait2", "time_wait", "close",
		"close_wait", "last_ack", "listening", "closing", "new_syn_received"}
	return names[s]
}

// A socket is one line of /proc/net/tcp or tcp6, of which only what readings need is kept.
type socket struct {
	local, remote uint16 // ports
	state         socketState
	unsent        uint64 // bytes that the peer has not confirmed
	unread        uint64 // bytes that the owner has not read; of a listener: connections not accepted
	inode         uint64 // 0 for TIME_WAIT, which belongs to nobody
}

// parseSockets reads /proc/net/tcp or tcp6 and hands every socket to each.
func parseSockets(b []byte, each func(socket)) error {
	header := true
	for line := range bytes.Lines(b) {
		if header {
			header = false
			continue
		}
		s, ok := parseSocket(line)
		if !ok {
			return fmt.Errorf("parse /proc/net/tcp: line %q: want local and remote address, state and inode", bytes.TrimSpace(line))
		}
		each(s)
	}
	return nil
}

// parseSocket reads one line: sl local remote state queues timer retransmits uid timeout inode ….
func parseSocket(line []byte) (s socket, ok bool) {
	i := 0
	for f := range bytes.FieldsSeq(line) {
		switch i {
		case 1:
			s.local, ok = hexPort(f)
		case 2:
			var good bool
			s.remote, good = hexPort(f)
			ok = ok && good
		case 3:
			n, err := strconv.ParseUint(string(f), 16, 8)
			s.state, ok = socketState(n), ok && err == nil && n < states
		case 4:
			unsent, unread, both := strings.Cut(string(f), ":")
			var err, err2 error
			s.unsent, err = strconv.ParseUint(unsent, 16, 64)
			s.unread, err2 = strconv.ParseUint(unread, 16, 64)
			ok = ok && both && err == nil && err2 == nil
		case 9:
			n, err := strconv.ParseUint(string(f), 10, 64)
			s.inode = n
			return s, ok && err == nil
		}
		i++
	}
	return s, false
}

// hexPort is the port of "0100007F:1F90".
func hexPort(b []byte) (uint16, bool) {
	i := bytes.LastIndexByte(b, ':')
	if i < 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[i+1:]), 16, 16)
	return uint16(n), err == nil
}

// eachSocket reads the TCP sockets of both families in this process's network namespace.
func eachSocket(r root, each func(socket)) error {
	b, err := r.read("proc/net/tcp")
	if err != nil {
		return fmt.Errorf("sockets: %w: %w", ErrAbsent, err)
	}
	if err := parseSockets(b, each); err != nil {
		return err
	}
	if b, err = r.read("proc/net/tcp6"); err != nil {
		return nil // booted with ipv6.disable=1
	}
	return parseSockets(b, each)
}

// portsTaken is the range that a connect without a bind takes its port from, with those in use. A
// port counts as used while any socket has it, also in TIME_WAIT: towards one destination it is not
// given out again.
type portsTaken struct {
	low, high, used int
	taken           [1 << 16]bool
}

func portRange(r root) (*portsTaken, error) {
	b, err := r.read("proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return nil, fmt.Errorf("ports: %w: %w", ErrAbsent, err)
	}
	var p portsTaken
	if _, err := fmt.Sscan(string(b), &p.low, &p.high); err != nil || p.low < 0 || p.high < p.low || p.high > 65535 {
		return nil, fmt.Errorf("parse ip_local_port_range: got %q, want two ports", bytes.TrimSpace(b))
	}
	return &p, nil
}

func (p *portsTaken) take(port uint16) {
	if int(port) >= p.low && int(port) <= p.high && !p.taken[port] {
		p.taken[port] = true
		p.used++
	}
}

func (p *portsTaken) free() int { return p.high - p.low + 1 - p.used }

// ports counts the ephemeral ports that are free and those in use.
func ports(r root) (free, used int, err error) {
	p, err := portRange(r)
	if err != nil {
		return 0, 0, err
	}
	err = eachSocket(r, func(s socket) { p.take(s.local) })
	return p.free(), p.used, err
}
