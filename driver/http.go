package driver

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

// staleAfter is how long a connection may have idled before it is asked whether the server has
// closed it meanwhile. Asking costs a system call; not asking, a failed operation.
const staleAfter = 500 * time.Millisecond

// A client carries out HTTP/1.1 requests over connections of its own. It is written on sockets
// because net/http costs about three times as much an operation, which would make the generator
// the bottleneck. It follows no redirect and repeats nothing.
type client struct {
	request *request
	expect  expectation
	dial    *dialer
	pool    pool[*conn]
}

// newHTTP is the driver for the version that the load names.
func newHTTP(h assay.HTTPLoad, values map[string]string, seed uint64) (load.Driver, error) {
	r, err := newRequest(h, values, seed)
	if err != nil {
		return nil, fmt.Errorf("driver http: %w", err)
	}
	if h.Unix == "" {
		if err := allow(r.parsed.Hostname(), h.AllowHosts); err != nil {
			return nil, fmt.Errorf("driver http: %w", err)
		}
	}
	x, err := newExpectation(h.Expect, values)
	if err != nil {
		return nil, fmt.Errorf("driver http: %w", err)
	}
	d := newDialer(h, r.parsed)
	switch h.Version {
	case "", "1.1", "1":
		c := &client{request: r, expect: x, dial: d}
		c.pool.most = h.Connections
		c.pool.open = c.connect
		return c, nil
	case "2":
		return newHTTP2(h, r, x, d), nil
	}
	return nil, fmt.Errorf("driver http: version %q: want 1.1 or 2", h.Version)
}

// connect opens a connection.
func (c *client) connect(ctx context.Context, op *load.Operation) (*conn, error) {
	nc, err := c.dial.connect(ctx, op)
	if err != nil {
		return nil, err
	}
	return newConn(nc), nil
}

// Do carries out one request.
func (c *client) Do(ctx context.Context, op *load.Operation) error {
	cn, fresh, err := c.borrow(ctx, op)
	if err != nil {
		return failure(err, load.Refused)
	}
	message, err := c.request.message(cn.request, op.Index)
	if err != nil {
		c.giveBack(cn, false)
		return load.Fail(load.Wrong, err)
	}
	if c.request.whole == nil {
		cn.request = message
	}
	if !fresh {
		cn.attach(ctx)
	}
	a, err := c.roundTrip(cn, op, message)
	if err != nil {
		c.giveBack(cn, false)
		return failure(err, load.Protocol)
	}
	c.giveBack(cn, !a.close && !c.request.close)
	return c.expect.right(a.status, a.field, a.body, op.Index)
}

// borrow takes a connection that is still open.
func (c *client) borrow(ctx context.Context, op *load.Operation) (*conn, bool, error) {
	for {
		cn, fresh, waited, err := c.pool.take(ctx, op)
		if err != nil {
			return nil, false, err
		}
		if waited {
			op.Send()
		}
		if fresh {
			cn.attach(ctx)
			return cn, true, nil
		}
		if op.Deadline().Sub(cn.lastUsed) < staleAfter || !cn.gone() {
			return cn, false, nil
		}
		c.giveBack(cn, false)
	}
}

func (c *client) roundTrip(cn *conn, op *load.Operation, message []byte) (answer, error) {
	if err := cn.arm(op); err != nil {
		return answer{}, err
	}
	if err := cn.exchange(op, message); err != nil {
		return answer{}, err
	}
	return cn.receive(op, c.request.method, c.expect.header != "", c.expect.wantsBody())
}

// giveBack returns a connection to the pool, or closes it.
func (c *client) giveBack(cn *conn, usable bool) {
	if usable && c.pool.give(cn) {
		return
	}
	cn.shut()
	if !usable {
		c.pool.drop()
	}
}

// Connections counts the connections.
func (c *client) Connections() load.Connections { return c.pool.connections() }

// Close closes them.
func (c *client) Close() error {
	for _, cn := range c.pool.empty() {
		cn.shut()
	}
	return nil
}

// tlsSettings is how connections to the load's host are encrypted, with application protocols.
func tlsSettings(h assay.HTTPLoad, host string, protocols ...string) *tls.Config {
	return &tls.Config{ServerName: host, InsecureSkipVerify: h.Insecure, NextProtos: protocols}
}

var _ load.Driver = (*client)(nil)

// encrypted wraps a connection in TLS and shakes hands.
func encrypted(ctx context.Context, nc net.Conn, settings *tls.Config) (net.Conn, error) {
	tc := tls.Client(nc, settings)
	if err := tc.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, failure(err, load.TLS)
	}
	return tc, nil
}
