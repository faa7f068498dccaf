package driver

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

// A client carries out HTTP/1.1 requests over connections of its own. It is written on sockets
// because net/http costs about three times as much an operation, which would make the generator
// the bottleneck. It follows no redirect and repeats nothing.
type client struct {
	wires
	request *request
	expect  expectation
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
		c := &client{request: r, expect: x}
		c.wires.lay(d, h.Connections)
		return c, nil
	case "2":
		return newHTTP2(h, r, x, d), nil
	}
	return nil, fmt.Errorf("driver http: version %q: want 1.1 or 2", h.Version)
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

func (c *client) roundTrip(cn *conn, op *load.Operation, message []byte) (answer, error) {
	if err := cn.arm(op); err != nil {
		return answer{}, err
	}
	if err := cn.exchange(op, message); err != nil {
		return answer{}, err
	}
	return cn.receive(op, c.request.method, kept{fields: c.expect.header != "", body: c.expect.wantsBody()})
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
