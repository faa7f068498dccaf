package driver

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/assaybench/assay/load"
)

const firstBuffer = 4 << 10

// A conn is one HTTP/1.1 connection, used by one operation at a time.
//
// Over plain sockets the request is written and the answer awaited in one go of the runtime's
// poller (see turn): one read fewer an operation than with Write and Read, as Read first tries in
// vain. That is a tenth of the generator's time at full speed.
type conn struct {
	net.Conn
	remote  *remote
	raw     syscall.RawConn // nil with TLS
	attempt func(fd uintptr) bool
	out     []byte // what is still to be written by turn
	in      []byte // where turn reads to
	got     int
	err     error
	started bool // turn has been entered since it was set up
	op      *load.Operation

	buf        []byte // of the answer; [read, filled) is not yet consumed
	read, fill int
	request    []byte // room for a request that has to be put together
	known      []byte // the last head that was read, and what it means
	knownAs    head

	ctx      context.Context // whose end closes the connection
	unhook   func() bool
	armed    time.Time // deadline that is set on the socket
	lastUsed time.Time // deadline of the last operation, as a measure of how long the connection idled
}

func newConn(nc net.Conn) *conn {
	c := &conn{Conn: nc, remote: &remote{}, buf: make([]byte, firstBuffer)}
	if s, ok := nc.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			c.raw = raw
			c.attempt = c.turn
		}
	}
	return c
}

// attach lets the end of ctx end whatever the connection is doing.
func (c *conn) attach(ctx context.Context) {
	if c.ctx == ctx {
		return
	}
	if c.unhook != nil {
		c.unhook()
	}
	c.ctx = ctx
	c.unhook = context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
}

// arm makes sure that the socket's deadline is not after the operation's. Setting one costs as
// much as a fifth of a system call, so an earlier one is left standing: when it fires, expired
// says whether it was this operation's, and if not sets the right one.
func (c *conn) arm(op *load.Operation) error {
	deadline := op.Deadline()
	c.lastUsed = deadline
	if !c.armed.IsZero() && !c.armed.After(deadline) {
		return nil
	}
	return c.setDeadline(deadline)
}

func (c *conn) setDeadline(deadline time.Time) error {
	c.armed = deadline
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	if c.ctx.Err() != nil { // it may have ended before the deadline was set
		return c.SetDeadline(time.Unix(1, 0))
	}
	return nil
}

// again reports whether an error only was a deadline left over from an earlier operation; the
// socket then has the right one and the attempt is to be repeated.
func (c *conn) again(op *load.Operation, err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || op.Expired() || c.ctx.Err() != nil {
		return false
	}
	return c.setDeadline(op.Deadline()) == nil
}

// exchange writes the request and reads the first bytes of the answer.
func (c *conn) exchange(op *load.Operation, message []byte) error {
	c.read, c.fill = 0, 0
	c.remote.operations.Add(1)
	if c.raw == nil {
		if err := c.writeAll(op, message); err != nil {
			return err
		}
		op.Mark(load.Write)
		return c.more(op)
	}
	c.out, c.in, c.got, c.err, c.started, c.op = message, c.buf, 0, nil, false, op
	for {
		err := c.raw.Read(c.attempt)
		if err == nil {
			err = c.err
		}
		switch {
		case err == nil && len(c.out) > 0:
			// The socket took a part only: the rest is written the ordinary way.
			rest := c.out
			c.out = nil
			if err := c.writeAll(op, rest); err != nil {
				return err
			}
			c.started = true
			continue
		case err != nil && c.again(op, err):
			continue
		case err != nil:
			return err
		case c.got == 0:
			return io.EOF
		}
		c.fill = c.got
		return nil
	}
}

// turn is what the poller does: at first write, later read. It reports whether it is finished;
// if not, the poller waits until the socket is readable. Writing happens after the poller has
// begun to watch, so no answer can come too early to be seen.
func (c *conn) turn(fd uintptr) bool {
	if !c.started {
		c.started = true
		n, err := ignoringEINTR(int(fd), c.out, rawWrite)
		switch {
		case err == syscall.EAGAIN:
			return true
		case err != nil:
			c.err = os.NewSyscallError("write", err)
			return true
		}
		c.out = c.out[n:]
		c.op.Mark(load.Write)
		return len(c.out) > 0
	}
	n, err := ignoringEINTR(int(fd), c.in, rawRead)
	switch {
	case err == syscall.EAGAIN:
		return false
	case err != nil:
		c.err = os.NewSyscallError("read", err)
	}
	c.got = max(0, n)
	return true
}

func ignoringEINTR(fd int, b []byte, call func(int, []byte) (int, error)) (int, error) {
	for {
		n, err := call(fd, b)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

func (c *conn) writeAll(op *load.Operation, b []byte) error {
	for {
		n, err := c.Conn.Write(b)
		if b = b[n:]; err == nil || !c.again(op, err) {
			return err
		}
	}
}

// more reads further bytes of the answer behind those that are not consumed.
func (c *conn) more(op *load.Operation) error {
	if c.read == c.fill {
		c.read, c.fill = 0, 0
	}
	if c.fill == len(c.buf) {
		if c.read > 0 {
			c.fill = copy(c.buf, c.buf[c.read:c.fill])
			c.read = 0
		} else {
			c.buf = append(c.buf, make([]byte, len(c.buf))...)
		}
	}
	for {
		n, err := c.Conn.Read(c.buf[c.fill:])
		c.fill += n
		switch {
		case n > 0 || err == nil:
			return nil
		case !c.again(op, err):
			return err
		}
	}
}

// unread is what has been read and not consumed.
func (c *conn) unread() []byte { return c.buf[c.read:c.fill] }

// gone reports whether the peer has closed the connection while it idled, or has sent something
// that nobody asked for: then it cannot be used again.
func (c *conn) gone() bool {
	if c.raw == nil {
		return false
	}
	gone := false
	err := c.raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = err != syscall.EAGAIN
	})
	return gone || err != nil
}

func (c *conn) shut() {
	if c.unhook != nil {
		c.unhook()
	}
	c.Close()
}
