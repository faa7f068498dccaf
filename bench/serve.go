//go:build linux

package main

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// A Truth is what a server knows of the load that it had. A log of arrivals follows it on standard
// output, as pairs of integers, if one was asked for.
type Truth struct {
	Arrived     int64   `json:"arrived"`  // whole requests
	Answered    int64   `json:"answered"` // answers that the kernel took
	Connections int64   `json:"connections"`
	Unstamped   int64   `json:"unstamped"` // arrivals without a stamp of the kernel's, timed by the server
	Log         []event `json:"-"`
}

// An event is one request in nanoseconds of CLOCK_REALTIME: when the kernel received it, and when
// its answer was handed to the kernel; 0 if it never was.
type event struct{ Arrived, Written int64 }

// serveOptions say what a server does besides answering at once.
type serveOptions struct {
	log    bool          // keep an event for every request
	freeze time.Duration // stop for so long every five seconds, from two seconds after the first request on
	slots  int           // serve so many requests at a time; 0: no bound, no work
	work   time.Duration // that each of them takes
}

const (
	freezeAfter = 2 * time.Second
	freezeEvery = 5 * time.Second
)

// A server answers HTTP/1.1 requests without bodies, on one thread and epoll, with as little as can
// be done: the measured side of a benchmark must not be what is measured.
type server struct {
	serveOptions
	epoll, listener int
	open            []connection // by descriptor
	truth           Truth
	next            time.Time // of the freezes; zero: no request yet
	queue           []held
	free            []int64 // when each slot is free, CLOCK_REALTIME
	buffer          []byte
	control         []byte
}

// A connection is how far the end of a request's head has been seen, and which of the connections
// that had this descriptor it is.
type connection struct {
	seen byte
	turn int32
}

// A held request is answered when its work is done.
type held struct {
	fd    int
	turn  int32
	event int
	due   int64
}

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok"

// backlog is how many connections may wait to be accepted: as many as the kernel allows.
const backlog = 4096

func serveVerb(args []string) error {
	var o serveOptions
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.BoolVar(&o.log, "log", false, "keep and print the times of every request")
	flags.DurationVar(&o.freeze, "freeze", 0, "stop for so long every 5s")
	flags.IntVar(&o.slots, "slots", 0, "requests served at a time (0: all, at once)")
	flags.DurationVar(&o.work, "work", 0, "that a request takes in its slot")
	if err := flags.Parse(args); err != nil {
		return err
	}
	debug.SetGCPercent(-1) // it allocates its log and nothing else
	runtime.LockOSThread()
	s, port, err := newServer(o)
	if err != nil {
		return err
	}
	fmt.Printf("http://127.0.0.1:%d/\n", port)
	if err := s.serve(); err != nil {
		return err
	}
	return s.truth.write(os.Stdout)
}

func newServer(o serveOptions) (*server, int, error) {
	s := &server{serveOptions: o, free: make([]int64, o.slots), buffer: make([]byte, 64<<10), control: make([]byte, 128)}
	if o.log {
		s.truth.Log = make([]event, 0, 1<<18)
	}
	var err error
	if s.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, 0, fmt.Errorf("make socket: %w", err)
	}
	if o.log { // accepted sockets inherit it
		if err := unix.SetsockoptInt(s.listener, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
			return nil, 0, fmt.Errorf("ask for the kernel's stamps: %w", err)
		}
	}
	if err := unix.Bind(s.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, 0, fmt.Errorf("bind: %w", err)
	}
	if err := unix.Listen(s.listener, backlog); err != nil {
		return nil, 0, fmt.Errorf("listen: %w", err)
	}
	address, err := unix.Getsockname(s.listener)
	if err != nil {
		return nil, 0, fmt.Errorf("find port: %w", err)
	}
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, 0, fmt.Errorf("make epoll: %w", err)
	}
	for _, fd := range []int{s.listener, 0} {
		if err := s.watch(fd); err != nil {
			return nil, 0, err
		}
	}
	return s, address.(*unix.SockaddrInet4).Port, nil
}

func (s *server) watch(fd int) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: int32(fd)}
	if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		return fmt.Errorf("watch descriptor %d: %w", fd, err)
	}
	return nil
}

// serve answers until standard input ends.
func (s *server) serve() error {
	events := make([]unix.EpollEvent, 256)
	for {
		n, err := unix.EpollWait(s.epoll, events, s.patience())
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("wait for events: %w", err)
		}
		s.stall()
		for _, e := range events[:max(0, n)] {
			switch int(e.Fd) {
			case 0:
				return nil
			case s.listener:
				if err := s.accept(); err != nil {
					return err
				}
			default:
				s.receive(int(e.Fd))
			}
		}
		s.release(realtime())
	}
}

// patience is the longest wait for events, in milliseconds.
func (s *server) patience() int {
	switch {
	case len(s.queue) > 0:
		return max(0, int((s.queue[0].due-realtime()+999_999)/1e6))
	case s.freeze > 0:
		return 1
	}
	return -1
}

// stall freezes the server when it is time to.
func (s *server) stall() {
	if s.freeze == 0 || s.next.IsZero() || time.Now().Before(s.next) {
		return
	}
	time.Sleep(s.freeze - time.Since(s.next))
	s.next = s.next.Add(freezeEvery)
}

func (s *server) accept() error {
	for {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
		case unix.EAGAIN, unix.ECONNABORTED, unix.EMFILE:
			return nil
		default:
			return fmt.Errorf("accept: %w", err)
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		for len(s.open) <= fd {
			s.open = append(s.open, connection{})
		}
		s.open[fd].seen = 0
		s.truth.Connections++
		if err := s.watch(fd); err != nil {
			return err
		}
	}
}

// receive reads what is there and answers every request that is whole.
func (s *server) receive(fd int) {
	n, arrived, err := s.read(fd)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return
	case err != nil || n == 0:
		s.open[fd].turn++
		unix.Close(fd)
		return
	}
	c := &s.open[fd]
	for _, b := range s.buffer[:n] {
		c.seen = headState(c.seen, b)
		if c.seen == 4 {
			c.seen = 0
			s.request(fd, arrived)
		}
	}
}

// headState is how many bytes of the empty line that ends a head have been seen after one more byte.
func headState(seen, b byte) byte {
	switch {
	case b == "\r\n\r\n"[seen]:
		return seen + 1
	case b == '\r':
		return 1
	}
	return 0
}

// request books a request and answers it, at once or when a slot has done its work.
func (s *server) request(fd int, arrived int64) {
	s.truth.Arrived++
	if s.freeze > 0 && s.next.IsZero() {
		s.next = time.Now().Add(freezeAfter)
	}
	if s.log {
		if arrived == 0 {
			arrived = realtime()
			s.truth.Unstamped++
		}
		s.truth.Log = append(s.truth.Log, event{Arrived: arrived})
	}
	h := held{fd: fd, turn: s.open[fd].turn, event: len(s.truth.Log) - 1}
	if s.slots == 0 {
		s.reply(h)
		return
	}
	// All work takes equally long, so that slots become free in the order in which they were taken.
	slot := &s.free[int(s.truth.Arrived-1)%s.slots]
	*slot = max(*slot, realtime()) + int64(s.work)
	h.due = *slot
	s.queue = append(s.queue, h)
}

// release answers what is done.
func (s *server) release(now int64) {
	n := 0
	for n < len(s.queue) && s.queue[n].due <= now {
		s.reply(s.queue[n])
		n++
	}
	s.queue = s.queue[n:]
}

func (s *server) reply(h held) {
	if s.open[h.fd].turn != h.turn {
		return // whoever asked is gone
	}
	if s.write(h.fd) != len(answer) {
		return
	}
	s.truth.Answered++
	if s.log {
		s.truth.Log[h.event].Written = realtime()
	}
}

// write writes the truth and its log.
func (t *Truth) write(w io.Writer) error {
	log := t.Log
	t.Log = nil
	if err := json.NewEncoder(w).Encode(t); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, log)
}
