package link

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Path is one emulated cable: what all its listeners share.
type Path struct {
	rtt      time.Duration
	up, down *pace
}

// NewPath is a path with a round trip in whole milliseconds, 0 for none, and a bandwidth in bytes per
// second in each direction, 0 for no limit.
func NewPath(rtt time.Duration, bytesPerSecond float64) (*Path, error) {
	if rtt < 0 || rtt%time.Millisecond != 0 {
		return nil, fmt.Errorf("make path: round trip %v: want whole milliseconds, 0 or more", rtt)
	}
	if bytesPerSecond < 0 {
		return nil, fmt.Errorf("make path: bandwidth %v B/s: want 0 or more", bytesPerSecond)
	}
	return &Path{rtt: rtt, up: newPace(bytesPerSecond), down: newPace(bytesPerSecond)}, nil
}

// Counts is what passed through a listener since it began.
type Counts struct {
	UpBytes, DownBytes int64 // towards the far end, and back
	Connections        int64
	Open               int64
}

// A Listener is an entrance to a path.
type Listener struct {
	path     *Path
	upstream string
	entrance *net.TCPListener

	up, down, total, open atomic.Int64

	mu     sync.Mutex
	conns  map[*net.TCPConn]bool // nil once closed
	relays sync.WaitGroup
}

// Listen opens an entrance at an address (HOST:PORT; port 0 picks one) that leads to upstream.
func (p *Path) Listen(address, upstream string) (*Listener, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	entrance, err := net.ListenTCP("tcp", a)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	l := &Listener{path: p, upstream: upstream, entrance: entrance, conns: map[*net.TCPConn]bool{}}
	l.relays.Go(l.accept)
	return l, nil
}

// Addr is where the listener accepts connections.
func (l *Listener) Addr() string { return l.entrance.Addr().String() }

// Counts is what has passed until now.
func (l *Listener) Counts() Counts {
	return Counts{l.up.Load(), l.down.Load(), l.total.Load(), l.open.Load()}
}

// Close ends all connections and waits for them.
func (l *Listener) Close() error {
	err := l.entrance.Close()
	l.mu.Lock()
	for c := range l.conns {
		c.Close()
	}
	l.conns = nil
	l.mu.Unlock()
	l.relays.Wait()
	return err
}

func (l *Listener) accept() {
	for {
		c, err := l.entrance.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond) // out of descriptors: others will be closed
			continue
		}
		l.relays.Go(func() { l.serve(c) })
	}
}

// serve relays one connection until both directions have ended.
func (l *Listener) serve(near *net.TCPConn) {
	defer near.Close()
	far, err := net.DialTimeout("tcp", l.upstream, 5*time.Second)
	if err != nil {
		return // the client sees its connection closed, as behind any relay
	}
	defer far.Close()
	farTCP := far.(*net.TCPConn)
	if !l.hold(near, farTCP) {
		return
	}
	defer l.release(near, farTCP)
	var up sync.WaitGroup
	up.Go(func() { relay(farTCP, near, l.path.up, 0, &l.up) })
	relay(near, farTCP, l.path.down, l.path.rtt, &l.down)
	up.Wait()
}

// hold notes a pair of connections; it is false once the listener is closed.
func (l *Listener) hold(pair ...*net.TCPConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil {
		return false
	}
	for _, c := range pair {
		l.conns[c] = true
	}
	l.total.Add(1)
	l.open.Add(1)
	return true
}

func (l *Listener) release(pair ...*net.TCPConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range pair {
		delete(l.conns, c)
	}
	l.open.Add(-1)
}
