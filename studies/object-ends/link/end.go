package link

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// BulkBytes is the size of the answer to /bulk.
const BulkBytes = 1 << 20

// A FarEnd answers behind a path at once: /one with one byte, /bulk with [BulkBytes]. What a request
// takes there is the path's doing, and not that of a store which looks for an object.
type FarEnd struct {
	server   *http.Server
	listener net.Listener
	ended    chan error
}

// NewFarEnd begins to answer on loopback at a port that the system picks.
func NewFarEnd() (*FarEnd, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open far end: %w", err)
	}
	bulk := make([]byte, BulkBytes)
	mux := http.NewServeMux()
	answer := func(b []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Content-Length", strconv.Itoa(len(b)))
			w.Write(b)
		}
	}
	mux.HandleFunc("/one", answer(bulk[:1]))
	mux.HandleFunc("/bulk", answer(bulk))
	e := &FarEnd{&http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}, listener, make(chan error, 1)}
	go func() { e.ended <- e.server.Serve(listener) }()
	return e, nil
}

// Addr is where the far end answers.
func (e *FarEnd) Addr() string { return e.listener.Addr().String() }

// Close ends it.
func (e *FarEnd) Close() error {
	err := e.server.Close()
	if served := <-e.ended; !errors.Is(served, http.ErrServerClosed) {
		return served
	}
	return err
}

// Metrics answers with a listener's counts in the text format of Prometheus, and with 200 at any path.
func Metrics(l *Listener) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c := l.Counts()
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		io.WriteString(w, "# TYPE link_bytes_total counter\n")
		fmt.Fprintf(w, "link_bytes_total{direction=\"up\"} %d\nlink_bytes_total{direction=\"down\"} %d\n", c.UpBytes, c.DownBytes)
		fmt.Fprintf(w, "# TYPE link_connections_total counter\nlink_connections_total %d\n", c.Connections)
		fmt.Fprintf(w, "# TYPE link_connections_open gauge\nlink_connections_open %d\n", c.Open)
	})
}
