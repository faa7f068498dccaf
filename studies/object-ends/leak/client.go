package leak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// fetchers is how many files a client has in flight.
const fetchers = 8

// A Client reads files from a peer, two requests each: one on a connection that is kept, one on a
// connection that the peer closes after its answer.
type Client struct {
	peer  string // URL of a small answer
	slots chan struct{}
	leaks bool

	kept, fresh *http.Client

	mu        sync.Mutex
	forgotten []net.Conn // the leak: nobody closes them, and nobody may collect them
}

// NewClient is a client with at most pool connections; leaks says that it forgets closed ones.
func NewClient(peer string, pool int, leaks bool) *Client {
	c := &Client{peer: peer, slots: make(chan struct{}, pool), leaks: leaks}
	c.kept = &http.Client{Transport: &http.Transport{DialContext: c.dial, MaxIdleConnsPerHost: fetchers}}
	c.fresh = &http.Client{Transport: &http.Transport{DialContext: c.dial, DisableKeepAlives: true}}
	return c
}

// dial opens a connection once the pool has a place.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		<-c.slots
		return nil, err
	}
	return &pooled{Conn: conn, of: c}, nil
}

// A pooled connection has a place in the pool until it is closed.
type pooled struct {
	net.Conn
	of     *Client
	closed atomic.Bool
}

// Close gives the place back, unless the client leaks: then connection and place are lost.
func (p *pooled) Close() error {
	if p.closed.Swap(true) {
		return net.ErrClosed
	}
	if p.of.leaks {
		p.of.mu.Lock()
		defer p.of.mu.Unlock()
		p.of.forgotten = append(p.of.forgotten, p.Conn)
		return nil
	}
	<-p.of.slots
	return p.Conn.Close()
}

// Close closes what the client still holds, what it forgot included.
func (c *Client) Close() {
	c.kept.CloseIdleConnections()
	c.fresh.CloseIdleConnections()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.forgotten {
		conn.Close()
	}
	c.forgotten = nil
}

// A Tally is what a pass came to.
type Tally struct {
	Files     int     `json:"files"`
	Rate      float64 `json:"files_per_s"`
	WallNS    int64   `json:"wall_ns"`
	InPool    int     `json:"in_pool"`   // places taken at the end
	Forgotten int     `json:"forgotten"` // of them, by connections that nobody will close
}

// Pass reads so many files and says each 50 how far it is. It waits as long as ctx lets it.
func (c *Client) Pass(ctx context.Context, files int, progress func(done int)) (Tally, error) {
	start := time.Now()
	var next, done atomic.Int64
	failures := make([]error, fetchers)
	var reading sync.WaitGroup
	for i := range fetchers {
		reading.Go(func() {
			for next.Add(1) <= int64(files) {
				if failures[i] = errors.Join(get(ctx, c.kept, c.peer), get(ctx, c.fresh, c.peer)); failures[i] != nil {
					return
				}
				if n := done.Add(1); n%50 == 0 {
					progress(int(n))
				}
			}
		})
	}
	reading.Wait()
	wall := time.Since(start)
	c.mu.Lock()
	defer c.mu.Unlock()
	return Tally{Files: int(done.Load()), Rate: float64(done.Load()) / wall.Seconds(), WallNS: wall.Nanoseconds(),
		InPool: len(c.slots), Forgotten: len(c.forgotten)}, errors.Join(failures...)
}

func get(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("read file: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("read file: %w", err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("got status %d, want 200", resp.StatusCode)
	}
	if err != nil {
		return fmt.Errorf("read file: %w", err)
	}
	return nil
}

// ServeHTTP executes a pass of ?files=N: a line of progress each 50 files, the tally as the last line.
// GET answers 200 without doing anything.
func (c *Client) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		return
	}
	files, err := strconv.Atoi(r.URL.Query().Get("files"))
	if err != nil || files < 1 {
		http.Error(w, "files: want a number above 0", http.StatusBadRequest)
		return
	}
	var mu sync.Mutex
	say := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		io.WriteString(w, line+"\n")
		http.NewResponseController(w).Flush()
	}
	tally, err := c.Pass(r.Context(), files, func(done int) { say(fmt.Sprintf("progress files=%d", done)) })
	if err != nil {
		say("error: " + err.Error())
		return
	}
	line, err := json.Marshal(tally)
	if err != nil {
		say("error: " + err.Error())
		return
	}
	say(string(line))
}
