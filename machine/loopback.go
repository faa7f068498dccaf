package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// loopback measures TCP within the machine: the round trip of one byte, and one stream's bandwidth.
func (c Ceilings) loopback(context.Context) (bench, error) {
	a, b, err := tcpPair()
	if err != nil {
		return bench{}, fmt.Errorf("loopback: %w: %w", errUnavailable, err)
	}
	return bench{[]ceiling{
		{"rtt(loopback)", "ns", "round trip of one byte over TCP on 127.0.0.1 between two blocking threads, mean of 1000 in a run",
			func(ctx context.Context) (float64, error) {
				rtt, err := pingPong(a, a, b, b, 1000)
				return float64(rtt), errors.Join(err, context.Cause(ctx))
			}},
		{"bandwidth(loopback)", "B/s", fmt.Sprintf("one TCP stream on 127.0.0.1, blocks of 128 KiB for %v", c.For),
			func(ctx context.Context) (float64, error) { return stream(ctx, a, b, c.For) }},
	}, func() error { closeAll(a, b); return nil }}, nil
}

// tcpPair is two descriptors of one connection, in blocking mode and with a timeout, so that nothing
// hangs.
func tcpPair() (a, b int, err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	client, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		return 0, 0, err
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		return 0, 0, err
	}
	defer server.Close()
	if a, err = blocking(client); err != nil {
		return 0, 0, err
	}
	if b, err = blocking(server); err != nil {
		closeAll(a)
		return 0, 0, err
	}
	return a, b, nil
}

// blocking is a second descriptor of a connection that the runtime's poller has nothing to do with.
func blocking(c net.Conn) (int, error) {
	f, err := c.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	timeout := unix.NsecToTimeval(int64(5 * time.Second))
	err = errors.Join(unix.SetNonblock(fd, false),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &timeout))
	if err != nil {
		closeAll(fd)
		return 0, err
	}
	return fd, nil
}

// stream sends blocks for d and gives the bytes a second that arrived. All bytes are 0 but the last,
// which tells the receiver that nothing more will come: the connection is needed again.
func stream(ctx context.Context, out, in int, d time.Duration) (float64, error) {
	const block = 128 << 10
	sent := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		b := make([]byte, block)
		var err error
		for start := time.Now(); err == nil && b[block-1] == 0; err = writeAll(out, b) {
			if time.Since(start) >= d || ctx.Err() != nil {
				b[block-1] = 1
			}
		}
		sent <- err
	}()
	b := make([]byte, block)
	var got int64
	var err error
	start := time.Now()
	for last := byte(0); last == 0; {
		var n int
		if n, err = unix.Read(in, b); err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			err = fmt.Errorf("receive: closed or late: %w", err)
			break
		}
		got += int64(n)
		last = b[n-1]
	}
	took := time.Since(start)
	if err := errors.Join(err, <-sent, context.Cause(ctx)); err != nil {
		return 0, err
	}
	return float64(got) / took.Seconds(), nil
}
