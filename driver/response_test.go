package driver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay/load"
)

// pieces is a connection whose answer comes in pieces of a given size; what is written is lost.
type pieces struct {
	net.Conn
	rest []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.size, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

func (p *pieces) Write(b []byte) (int, error)     { return len(b), nil }
func (p *pieces) SetDeadline(time.Time) error     { return nil }
func (p *pieces) SetReadDeadline(time.Time) error { return nil }

// receiveAll has the parser read one answer from text, cut into pieces.
func receiveAll(t *testing.T, method, text string, size int) (answer, error) {
	t.Helper()
	c := newConn(&pieces{rest: []byte(text), size: size})
	c.ctx = t.Context()
	op := load.NewOperation(0, time.Minute)
	if err := c.exchange(op, nil); err != nil {
		return answer{}, unexpected(err)
	}
	return c.receive(op, method, kept{fields: true, body: true})
}

func TestAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name, method, text string
		status             int
		body               string
		close              bool
		class              load.Class // of the failure; 0: none
	}{
		{name: "length", text: ok + "Content-Length: 5\r\n\r\nhello", status: 200, body: "hello"},
		{name: "length zero", text: ok + "Content-Length: 0\r\n\r\n", status: 200},
		{name: "line feeds only", text: "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", status: 200, body: "hi"},
		{name: "no reason", text: "HTTP/1.1 204\r\n\r\n", status: 204},
		{name: "chunked", text: ok + "Transfer-Encoding: Chunked\r\n\r\n4;x=1\r\nWiki\r\n5\r\npedia\r\n0\r\nTrailer: 1\r\n\r\n", status: 200, body: "Wikipedia"},
		{name: "chunked beats length", text: ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", status: 200, body: "x"},
		{name: "to the end", text: ok + "\r\nall there is", status: 200, body: "all there is", close: true},
		{name: "HTTP/1.0", text: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", close: true},
		{name: "HTTP/1.0 kept alive", text: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x"},
		{name: "asked to close", text: ok + "Connection: x, Close\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", close: true},
		{name: "interim answers", text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx", status: 200, body: "x"},
		{name: "head", method: "HEAD", text: ok + "Content-Length: 500\r\n\r\n", status: 200},
		{name: "not modified", text: "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n", status: 304},
		{name: "more than asked for", text: ok + "Content-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n", status: 200, body: "x", close: true},
		{name: "huge header", text: ok + "X: " + strings.Repeat("y", 300<<10) + "\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x"},
		{name: "header without end", text: ok + "X: " + strings.Repeat("y", maxHead), class: load.Protocol},
		{name: "not HTTP", text: "SSH-2.0-OpenSSH_9.2\r\n\r\n", class: load.Protocol},
		{name: "HTTP/2 preface", text: "HTTP/2.0 200 OK\r\n\r\n", class: load.Protocol},
		{name: "two lengths", text: ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", class: load.Protocol},
		{name: "signed length", text: ok + "Content-Length: +1\r\n\r\nx", class: load.Protocol},
		{name: "bad chunk size", text: ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", class: load.Protocol},
		{name: "chunk too long", text: ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n", class: load.Protocol},
		{name: "unknown encoding", text: ok + "Transfer-Encoding: gzip\r\n\r\n", class: load.Protocol},
		{name: "folded header", text: ok + "A: b\r\n c\r\nContent-Length: 0\r\n\r\n", class: load.Protocol},
		{name: "nothing", text: "", class: load.Closed},
		{name: "broken off in the head", text: "HTTP/1.1 20", class: load.Closed},
		{name: "broken off in the body", text: ok + "Content-Length: 10\r\n\r\nhalf", class: load.Closed},
		{name: "broken off in a chunk", text: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nha", class: load.Closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.method == "" {
				c.method = "GET"
			}
			for _, size := range []int{1, 3, 7, 1 << 20} {
				if size < 7 && len(c.text) > 10<<10 {
					continue
				}
				a, err := receiveAll(t, c.method, c.text, size)
				if c.class != 0 {
					var f *load.Failure
					if !errors.As(failure(err, load.Refused), &f) || f.Class != c.class {
						t.Errorf("pieces of %d: got %v, want %s", size, err, c.class)
					}
					continue
				}
				// What lies beyond the answer is seen only if it came with it.
				close := c.close
				if c.name == "more than asked for" && size < 100 {
					close = a.close
				}
				if err != nil || a.status != c.status || string(a.body) != c.body || a.close != close {
					t.Errorf("pieces of %d: got status %d, body %.40q, close %t, %v; want %d, %.40q, %t", size, a.status, a.body, a.close, err, c.status, c.body, close)
				}
			}
		})
	}
}

// FuzzAgainstNetHTTP holds the parser against the standard library's: what both accept, both must
// read alike; what ours alone accepts or refuses must be one of the differences listed here.
func FuzzAgainstNetHTTP(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWiki\r\n0\r\n\r\n",
		"HTTP/1.0 404 Not Found\nConnection: keep-alive\n\nbody",
		"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304\r\nContent-Length: 9\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\nConnection: a,close\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\nA;e\r\n0123456789\r\n0\r\nA: b\r\n\r\n",
	} {
		f.Add(seed, false, uint8(5))
	}
	f.Fuzz(func(t *testing.T, text string, isHead bool, size uint8) {
		if strings.HasPrefix(text, "HTTP/1.1 1") || strings.HasPrefix(text, "HTTP/1.0 1") {
			return // interim answers: ReadResponse gives each of them, ours the one that follows
		}
		method := "GET"
		if isHead {
			method = "HEAD"
		}
		want, wantBody, wantErr := readByNetHTTP(method, text)
		got, gotErr := receiveAll(t, method, text, int(size)+1)
		switch {
		case gotErr != nil && wantErr != nil:
		case gotErr != nil:
			if !stricter(text, gotErr) {
				t.Fatalf("ours refuses %q (%v), net/http reads status %d and %d bytes", text, gotErr, want.StatusCode, len(wantBody))
			}
		case wantErr != nil:
			if !laxer(text, wantErr) {
				t.Fatalf("net/http refuses %q (%v), ours reads status %d and %q", text, wantErr, got.status, got.body)
			}
		default:
			if got.status != want.StatusCode || !bytes.Equal(got.body, wantBody) {
				t.Fatalf("%q: ours reads status %d and %q, net/http %d and %q", text, got.status, got.body, want.StatusCode, wantBody)
			}
			if want.Close && !got.close {
				t.Fatalf("%q: ours keeps a connection that net/http closes", text)
			}
		}
	})
}

func readByNetHTTP(method, text string) (*http.Response, []byte, error) {
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), &http.Request{Method: method})
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(r.Body)
	return r, body, err
}

// stricter lists what ours refuses on purpose: headers that RFC 9112 forbids and net/http mends.
func stricter(text string, err error) bool {
	return errors.Is(err, errHead)
}

// laxer lists what ours accepts and net/http does not, by net/http's message.
func laxer(text string, err error) bool {
	for _, known := range []string{
		"malformed HTTP version", "malformed chunked encoding", "too many", "bad trailer", "invalid trailer", "malformed MIME header", "suspiciously long",
	} {
		if strings.Contains(err.Error(), known) {
			return true
		}
	}
	return false
}
