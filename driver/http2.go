package driver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
	"golang.org/x/net/http2"
)

// An http2Client carries out HTTP/2 requests, many at a time over each connection. The protocol is
// net/http's; connections, and how many streams share one, are decided here.
type http2Client struct {
	request *request
	expect  expectation
	dial    *dialer
	most    int // connections; 0: as many as are needed
	streams int // at a time on a connection

	mu      sync.Mutex
	changed *sync.Cond
	conns   []*http2Conn
	opening int
	count   load.Connections
}

// An http2Conn is one connection with the streams that are out on it.
type http2Conn struct {
	*http.ClientConn
	remote *remote
	busy   int
}

// defaultStreams is how many streams share a connection if the load does not say: what most
// servers allow (RFC 9113, 6.5.2, recommends no less than 100).
const defaultStreams = 100

func newHTTP2(h assay.HTTPLoad, r *request, x expectation, d *dialer) *http2Client {
	c := &http2Client{request: r, expect: x, dial: d, most: h.Connections, streams: h.Streams}
	if c.streams == 0 {
		c.streams = defaultStreams
	}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// Do carries out one request.
func (c *http2Client) Do(ctx context.Context, op *load.Operation) error {
	ctx, cancel := context.WithDeadline(ctx, op.Deadline())
	defer cancel()
	cn, err := c.borrow(ctx, op)
	if err != nil {
		return failure(err, load.Refused)
	}
	status, header, body, err := c.roundTrip(ctx, cn, op)
	c.giveBack(cn)
	if err != nil {
		return failure(http2Cause(ctx, err), load.Protocol)
	}
	field := func(name string) (string, bool) {
		values := header.Values(name)
		if len(values) == 0 {
			return "", false
		}
		return values[0], true
	}
	return c.expect.right(status, field, body, op.Index)
}

// http2Cause tells what ended a stream where the library's own error does not.
func http2Cause(ctx context.Context, err error) error {
	var stream http2.StreamError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &stream) && stream.Code == http2.ErrCodeRefusedStream:
		return load.Fail(load.Shed, err)
	case errors.As(err, &stream):
		return load.Fail(load.Reset, err)
	}
	for _, lost := range []string{"GOAWAY", "client connection lost", "connection is closed", "conn closed"} {
		if strings.Contains(err.Error(), lost) {
			return load.Fail(load.Closed, err)
		}
	}
	return err
}

func (c *http2Client) roundTrip(ctx context.Context, cn *http2Conn, op *load.Operation) (int, http.Header, []byte, error) {
	req, err := c.http2Request(ctx, op.Index)
	if err != nil {
		cn.Release()
		return 0, nil, nil, load.Fail(load.Wrong, err)
	}
	response, err := cn.RoundTrip(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	op.Mark(load.Wait)
	var kept bytes.Buffer
	sink := io.Discard
	if c.expect.wantsBody() {
		sink = &kept
	}
	if _, err := io.Copy(sink, io.LimitReader(response.Body, maxBody)); err != nil {
		return 0, nil, nil, err
	}
	op.Mark(load.Read)
	return response.StatusCode, response.Header, kept.Bytes(), nil
}

// maxBody bounds what is read of one answer.
const maxBody = 1 << 40

// http2Request puts one request together.
func (c *http2Client) http2Request(ctx context.Context, index int64) (*http.Request, error) {
	target, err := c.request.target(index)
	if err != nil {
		return nil, err
	}
	b, _ := c.request.payloads.of(index)
	content, err := b.content(index)
	if err != nil {
		return nil, err
	}
	u := *c.request.parsed
	u.User = nil
	req, err := http.NewRequestWithContext(ctx, c.request.method, u.Scheme+"://"+u.Host+target, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if len(content) == 0 {
		req.Body = http.NoBody
	}
	req.GetBody = nil // so that nothing can be sent twice
	for _, h := range c.request.headers {
		value, err := expand(h.Value, index)
		if err != nil {
			return nil, err
		}
		if strings.EqualFold(h.Name, "Host") {
			req.Host = value
			continue
		}
		req.Header.Add(h.Name, value)
	}
	return req, nil
}

// borrow takes a stream on a connection with room, opens a connection, or waits for room.
func (c *http2Client) borrow(ctx context.Context, op *load.Operation) (*http2Conn, error) {
	unhook := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})
	defer unhook()
	c.mu.Lock()
	defer c.mu.Unlock()
	for waited := false; ; waited = true {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if cn := c.room(); cn != nil {
			cn.busy++
			cn.remote.operations.Add(1)
			if waited {
				op.Send()
			}
			return cn, nil
		}
		c.sweep()
		if c.most == 0 && c.opening == 0 || c.most > 0 && len(c.conns)+c.opening < c.most {
			return c.open(ctx, op)
		}
		c.changed.Wait()
	}
}

// room is a connection on which a stream has been reserved; nil if all are full. Where the name has
// several addresses, each gets a connection at first and the one that got least comes next. The lock
// is held.
func (c *http2Client) room() *http2Conn {
	if c.dial.remotes.several() {
		if n := len(c.conns); c.opening == 0 && n < c.dial.remotes.count() && (c.most == 0 || n < c.most) {
			return nil
		}
		slices.SortStableFunc(c.conns, func(a, b *http2Conn) int {
			return cmp.Compare(a.remote.operations.Load(), b.remote.operations.Load())
		})
	}
	for _, cn := range c.conns {
		if cn.busy < c.streams && cn.Reserve() == nil {
			return cn
		}
	}
	return nil
}

// sweep closes and forgets connections that cannot be used any more and are not in use. The lock
// is held.
func (c *http2Client) sweep() {
	c.conns = slices.DeleteFunc(c.conns, func(cn *http2Conn) bool {
		gone := cn.busy == 0 && cn.Err() != nil
		if gone {
			cn.Close()
		}
		return gone
	})
}

// open adds a connection with one stream taken. The lock is held on entry and exit, and free
// meanwhile.
func (c *http2Client) open(ctx context.Context, op *load.Operation) (*http2Conn, error) {
	c.opening++
	c.mu.Unlock()
	client, remote, err := c.connect(ctx, op)
	c.mu.Lock()
	c.opening--
	c.changed.Broadcast()
	if err != nil {
		return nil, err
	}
	remote.operations.Add(1)
	cn := &http2Conn{ClientConn: client, remote: remote, busy: 1}
	c.conns = append(c.conns, cn)
	c.count.Opened++
	c.count.Peak = max(c.count.Peak, len(c.conns))
	return cn, nil
}

// connect opens one connection over the dialer's socket, through a transport of its own: that
// makes net/http open exactly this one and no other.
func (c *http2Client) connect(ctx context.Context, op *load.Operation) (*http.ClientConn, *remote, error) {
	var r *remote
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			nc, err := c.dial.socket(ctx, op)
			if err == nil {
				r = c.dial.remotes.of(nc)
			}
			return nc, err
		},
		TLSClientConfig:    c.dial.encrypt,
		DisableCompression: true,
		Protocols:          new(http.Protocols),
	}
	t.Protocols.SetHTTP2(true)
	t.Protocols.SetUnencryptedHTTP2(true)
	client, err := t.NewClientConn(ctx, c.request.parsed.Scheme, hostPort(c.request.parsed))
	if err != nil {
		return nil, nil, fmt.Errorf("begin HTTP/2: %w", err)
	}
	op.Mark(load.Connect)
	if err := client.Reserve(); err != nil {
		client.Close()
		return nil, nil, fmt.Errorf("begin HTTP/2: %w", err)
	}
	return client, r, nil
}

func (c *http2Client) giveBack(cn *http2Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cn.busy--
	c.changed.Signal()
}

// Connections counts the connections.
func (c *http2Client) Connections() load.Connections {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dial.remotes.into(c.count)
}

// Close closes them.
func (c *http2Client) Close() error {
	c.mu.Lock()
	conns := c.conns
	c.conns = nil
	c.mu.Unlock()
	for _, cn := range conns {
		cn.Close() // a connection that is gone already is no loss
	}
	return nil
}

var _ load.Driver = (*http2Client)(nil)
