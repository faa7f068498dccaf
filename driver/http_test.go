package driver

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

var text = assay.ParseTemplate

// do carries out operation 0 of an HTTP load.
func do(t *testing.T, h assay.HTTPLoad) error {
	t.Helper()
	return open(t, assay.Load{HTTP: &h}).Do(t.Context(), load.NewOperation(0, 10*time.Second))
}

// raw is a listener whose every connection is handed to serve.
func raw(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return "http://" + l.Addr().String() + "/"
}

// reads takes in what has come of a request.
func reads(c net.Conn) { c.Read(make([]byte, 4096)) }

func TestFailuresOfTheNetworkAreToldApart(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	for _, c := range []struct {
		name string
		h    assay.HTTPLoad
		want load.Class
	}{
		{"nobody listens", assay.HTTPLoad{URL: text("http://" + free.Addr().String())}, load.Refused},
		{"no such socket", assay.HTTPLoad{URL: text("http://x/"), Unix: filepath.Join(t.TempDir(), "none")}, load.Refused},
		{"no such name", assay.HTTPLoad{URL: text("http://no..such/"), AllowHosts: []string{"no..such"}}, load.DNS},
		{"not encrypted", assay.HTTPLoad{URL: text(strings.Replace(raw(t, func(c net.Conn) { reads(c); io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }), "http", "https", 1))}, load.TLS},
		{"unknown authority", assay.HTTPLoad{URL: text(serve(t, behave("ok", new(atomic.Int64)), nil, true).URL)}, load.TLS},
		{"closed without an answer", assay.HTTPLoad{URL: text(raw(t, reads))}, load.Closed},
		{"closed in the answer", assay.HTTPLoad{URL: text(raw(t, func(c net.Conn) { reads(c); io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") }))}, load.Closed},
		{"reset", assay.HTTPLoad{URL: text(raw(t, func(c net.Conn) { reads(c); c.(*net.TCPConn).SetLinger(0) }))}, load.Reset},
		{"another protocol", assay.HTTPLoad{URL: text(raw(t, func(c net.Conn) { reads(c); io.WriteString(c, "220 mail ready\r\n\r\n") }))}, load.Protocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := do(t, c.h); classOf(err) != c.want {
				t.Errorf("got %v, want class %s", err, c.want)
			}
		})
	}
}

func TestClassOfSystemErrors(t *testing.T) {
	for errno, want := range map[syscall.Errno]load.Class{
		syscall.EADDRNOTAVAIL: load.Ports, syscall.EMFILE: load.Descriptors, syscall.ENFILE: load.Descriptors,
		syscall.ECONNREFUSED: load.Refused, syscall.ECONNRESET: load.Reset, syscall.EPIPE: load.Reset, syscall.ETIMEDOUT: load.TimedOut,
	} {
		err := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
		if got := classOf(failure(err, load.Protocol)); got != want {
			t.Errorf("%s: got %s, want %s", errno, got, want)
		}
	}
}

func TestNoDescriptorsLeft(t *testing.T) {
	s := serve(t, behave("ok", new(atomic.Int64)), nil, false)
	d := open(t, assay.Load{HTTP: &assay.HTTPLoad{URL: text(s.URL)}})
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	err := d.Do(t.Context(), load.NewOperation(0, time.Minute))
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if classOf(err) != load.Descriptors {
		t.Errorf("got %v, want class descriptors", err)
	}
}

func TestExpectations(t *testing.T) {
	const document = `{"status": "done", "batches": [{"ns": 10000000000000001}]}`
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Kind", "a")
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/slower":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/gone":
			w.WriteHeader(http.StatusGone)
		default:
			io.WriteString(w, document)
		}
	}), nil, false)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(document)))
	for _, c := range []struct {
		path string
		e    assay.HTTPExpect
		want load.Class
	}{
		{"/", assay.HTTPExpect{}, 0},
		{"/moved", assay.HTTPExpect{}, load.Status},
		{"/moved", assay.HTTPExpect{Status: []int{302}}, 0},
		{"/", assay.HTTPExpect{Status: []int{302}}, load.Status},
		{"/busy", assay.HTTPExpect{}, load.Shed},
		{"/slower", assay.HTTPExpect{}, load.Shed},
		{"/busy", assay.HTTPExpect{Status: []int{503}}, 0},
		{"/gone", assay.HTTPExpect{}, load.Status},
		{"/", assay.HTTPExpect{Header: assay.Header{Name: "X-Kind", Value: text("a")}}, 0},
		{"/", assay.HTTPExpect{Header: assay.Header{Name: "x-kind", Value: text("b")}}, load.Wrong},
		{"/", assay.HTTPExpect{Header: assay.Header{Name: "X-None", Value: text("")}}, load.Wrong},
		{"/", assay.HTTPExpect{SHA256: sum}, 0},
		{"/busy", assay.HTTPExpect{Status: []int{503}, SHA256: sum}, load.Wrong},
		{"/", assay.HTTPExpect{JSON: "status"}, 0},
		{"/", assay.HTTPExpect{JSON: "status", Equals: "done"}, 0},
		{"/", assay.HTTPExpect{JSON: "status", Equals: "open"}, load.Wrong},
		{"/", assay.HTTPExpect{JSON: "batches[0].ns", Equals: "10000000000000001"}, 0},
		{"/", assay.HTTPExpect{JSON: "none"}, load.Wrong},
		{"/busy", assay.HTTPExpect{Status: []int{503}, JSON: "status"}, load.Wrong},
	} {
		for _, version := range []string{"1.1", "2"} {
			err := do(t, assay.HTTPLoad{URL: text(s.URL + c.path), Version: version, Expect: c.e})
			if classOf(err) != c.want {
				t.Errorf("HTTP/%s %s, expecting %+v: got %v, want class %d", version, c.path, c.e, err, c.want)
			}
		}
	}
}

// seen is a server that keeps what it was asked.
func seen(t *testing.T) (url string, requests func() []string) {
	var mu sync.Mutex
	var list []string
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		list = append(list, fmt.Sprintf("%s %s %s %q %q %q", r.Method, r.URL.RequestURI(), r.Host, r.Header.Get("X-Op"), body, r.Header.Get("Authorization")))
		mu.Unlock()
	}), nil, false)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), list...)
	}
}

func TestRequestsAreMadeOfTemplates(t *testing.T) {
	for _, version := range []string{"1.1", "2"} {
		url, requests := seen(t)
		host := strings.TrimPrefix(url, "http://")
		d := open(t, assay.Load{HTTP: &assay.HTTPLoad{
			URL: text("http://me:secret@" + host + "/item/{operation}?t={trial}"), Version: version,
			Headers: []assay.Header{{Name: "X-Op", Value: text("{operation}-{trial}")}},
			Body:    assay.Body{Text: text(`{"id": {operation}, "x": []}`)},
		}})
		for i := range int64(3) {
			if err := d.Do(t.Context(), load.NewOperation(i, time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		for i, got := range requests() {
			want := fmt.Sprintf("POST /item/%d?t=7 %s %q %q %q", i, host, fmt.Sprintf("%d-7", i), fmt.Sprintf(`{"id": %d, "x": []}`, i), "Basic bWU6c2VjcmV0")
			if got != want {
				t.Errorf("HTTP/%s: got %s, want %s", version, got, want)
			}
		}
	}
}

func TestBodiesComeFromAFolderInTurnOrByWeight(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("body "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	weights := filepath.Join(t.TempDir(), "weights.csv")
	if err := os.WriteFile(weights, []byte("file,weight\na,1\nb,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := newPayloads(assay.Body{Path: dir}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"body a", "body b", "body c", "body a"} {
		if b, _ := p.of(int64(i)); string(b.bytes) != want {
			t.Errorf("operation %d: got %q, want %q", i, b.bytes, want)
		}
	}
	p, err = newPayloads(assay.Body{Path: dir, Weights: weights}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for i := range int64(4000) {
		b, _ := p.of(i)
		count[string(b.bytes)]++
	}
	if a := count["body a"]; a < 880 || a > 1120 || count["body c"] != 0 || count["body b"] != 4000-a {
		t.Errorf("got %v of 4,000, want a quarter a, three quarters b", count)
	}
}

func TestOnlyThisMachineUnlessAllowed(t *testing.T) {
	for host, ok := range map[string]bool{"127.0.0.1": true, "localhost": true, "[::1]": true, "127.9.9.9": true, "example.com": false, "10.0.0.1": false, "[fe80::1]": false, "0.0.0.0": false} {
		_, err := New(assay.Load{HTTP: &assay.HTTPLoad{URL: text("http://" + host + "/")}}, nil, 1)
		if ok != (err == nil) {
			t.Errorf("%s: got %v, want allowed: %t", host, err, ok)
		}
		if !ok && !strings.Contains(err.Error(), "--allow-host") {
			t.Errorf("%s: %v does not say what to do", host, err)
		}
	}
	if _, err := New(assay.Load{HTTP: &assay.HTTPLoad{URL: text("http://example.com/"), AllowHosts: []string{"example.com"}}}, nil, 1); err != nil {
		t.Error(err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		l    assay.Load
		want string
	}{
		{"unknown driver", assay.Load{Driver: "ftp"}, `driver "ftp": want http, s3 or process`},
		{"unknown name", assay.Load{HTTP: &assay.HTTPLoad{URL: text("http://localhost/{x}")}}, "expand {x}: want one of operation"},
		{"no scheme", assay.Load{HTTP: &assay.HTTPLoad{URL: text("localhost/")}}, "want http:// or https://"},
		{"version", assay.Load{HTTP: &assay.HTTPLoad{URL: text("http://localhost/"), Version: "3"}}, "want 1.1 or 2"},
		{"header", assay.Load{HTTP: &assay.HTTPLoad{URL: text("http://localhost/"), Headers: []assay.Header{{Name: "a b"}}}}, `header "a b"`},
		{"two lines", assay.Load{HTTP: &assay.HTTPLoad{URL: text("http://localhost/"), Headers: []assay.Header{{Name: "a", Value: text("b\r\nc: d")}}}}, "want one line"},
		{"length", assay.Load{HTTP: &assay.HTTPLoad{URL: text("http://localhost/"), Headers: []assay.Header{{Name: "Content-Length", Value: text("3")}}}}, "follows from the body"},
		{"method", assay.Load{HTTP: &assay.HTTPLoad{URL: text("http://localhost/"), Method: "GE T"}}, "method"},
		{"no body", assay.Load{HTTP: &assay.HTTPLoad{URL: text("http://localhost/"), Body: assay.Body{Path: filepath.Join(t.TempDir(), "none")}}}, "read body"},
		{"hash", assay.Load{HTTP: &assay.HTTPLoad{URL: text("http://localhost/"), Expect: assay.HTTPExpect{SHA256: "xy"}}}, "64 hexadecimal digits"},
		{"no command", assay.Load{Process: &assay.Command{}}, "want a command"},
	} {
		if _, err := New(c.l, nil, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestConnectionsAreKeptOrNotAsAsked(t *testing.T) {
	for _, c := range []struct {
		name   string
		h      assay.HTTPLoad
		answer string
		opened int
	}{
		{"kept", assay.HTTPLoad{}, "Content-Length: 0\r\n", 1},
		{"asked not to be", assay.HTTPLoad{NoKeepAlive: true}, "Content-Length: 0\r\n", 4},
		{"closed by the server", assay.HTTPLoad{}, "Connection: close\r\nContent-Length: 0\r\n", 4},
	} {
		h := c.h
		h.URL = text(raw(t, func(conn net.Conn) {
			for {
				if n, err := conn.Read(make([]byte, 4096)); n == 0 || err != nil {
					return
				}
				io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+c.answer+"\r\n")
			}
		}))
		d := open(t, assay.Load{HTTP: &h})
		for i := range int64(4) {
			if err := d.Do(t.Context(), load.NewOperation(i, time.Minute)); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if got := d.Connections(); got.Opened != c.opened || got.Peak != 1 {
			t.Errorf("%s: got %+v, want 1 at once and %d in all", c.name, got, c.opened)
		}
	}
}

// A connection that the server closed while it idled must not cost an operation.
func TestAnIdleConnectionThatWasClosedIsNotUsed(t *testing.T) {
	url := raw(t, func(c net.Conn) {
		reads(c)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	d := open(t, assay.Load{HTTP: &assay.HTTPLoad{URL: text(url)}})
	if err := d.Do(t.Context(), load.NewOperation(0, time.Minute)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(staleAfter + 100*time.Millisecond)
	if err := d.Do(t.Context(), load.NewOperation(1, time.Minute)); err != nil {
		t.Error(err)
	}
}

func TestMoreOperationsThanConnectionsWait(t *testing.T) {
	var now, most atomic.Int64
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(20 * time.Millisecond)
		now.Add(-1)
	}), nil, false)
	for _, version := range []string{"1.1", "2"} {
		most.Store(0)
		d := open(t, assay.Load{HTTP: &assay.HTTPLoad{URL: text(s.URL), Connections: 2, Streams: 1, Version: version}})
		var wg sync.WaitGroup
		for i := range int64(10) {
			wg.Go(func() {
				if err := d.Do(t.Context(), load.NewOperation(i, time.Minute)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := d.Connections(); most.Load() != 2 || got.Peak != 2 || got.Opened != 2 {
			t.Errorf("HTTP/%s: got %d at once over %+v, want 2 over 2", version, most.Load(), got)
		}
		// Who waits for a connection gives up at its deadline.
		hold := make(chan struct{}, 2)
		for i := range int64(2) {
			wg.Go(func() { d.Do(t.Context(), load.NewOperation(i, time.Minute)); hold <- struct{}{} })
		}
		time.Sleep(5 * time.Millisecond)
		if err := d.Do(t.Context(), load.NewOperation(9, time.Millisecond)); classOf(err) != load.TimedOut {
			t.Errorf("HTTP/%s: got %v, want timed out", version, err)
		}
		wg.Wait()
	}
}

// Whatever an operation leaves behind, the collector has to clear away while the load is under way.
func TestAnOperationAllocatesNothing(t *testing.T) {
	url := raw(t, func(c net.Conn) {
		in, out := make([]byte, 4096), []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok")
		for {
			if n, err := c.Read(in); n == 0 || err != nil {
				return
			}
			c.Write(out)
		}
	})
	d := open(t, assay.Load{HTTP: &assay.HTTPLoad{URL: text(url)}})
	op := load.NewOperation(0, time.Minute)
	ctx := t.Context()
	allocations := testing.AllocsPerRun(200, func() {
		if err := d.Do(ctx, op); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 0 {
		t.Errorf("got %g allocations an operation, want none", allocations)
	}
}
