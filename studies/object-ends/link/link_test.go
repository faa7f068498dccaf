package link

import (
	"bytes"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// open is a path to a far end.
func open(t *testing.T, rtt time.Duration, bytesPerSecond float64) (*Listener, *FarEnd) {
	t.Helper()
	p, err := NewPath(rtt, bytesPerSecond)
	if err != nil {
		t.Fatal(err)
	}
	far, err := NewFarEnd()
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Listen("127.0.0.1:0", far.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := far.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, far
}

// The bounds are wide on the side where a busy machine can push: what a path adds is never less than
// it says, and its bandwidth never more.
func TestPathIsWhatItSays(t *testing.T) {
	for _, c := range []struct {
		rtt      time.Duration
		perSec   float64
		from, to time.Duration
		low      float64
	}{
		{0, 0, 0, 3 * time.Millisecond, 5e6},
		{10 * time.Millisecond, 0, 9 * time.Millisecond, 20 * time.Millisecond, 10e6}, // more than one chunk is on the way
		{2 * time.Millisecond, 12.5e6, 1500 * time.Microsecond, 8 * time.Millisecond, 6e6},
	} {
		l, far := open(t, c.rtt, c.perSec)
		m, err := Measure(t.Context(), l.Addr(), far.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if m.RTT < c.from || m.RTT > c.to {
			t.Errorf("round trip %v of a path of %v, want %v to %v", m.RTT, c.rtt, c.from, c.to)
		}
		if m.BytesPerSecond < c.low || c.perSec > 0 && m.BytesPerSecond > 1.1*c.perSec {
			t.Errorf("%.3g B/s of a path of %.3g", m.BytesPerSecond, c.perSec)
		}
	}
}

// Eight connections have one link between them.
func TestConnectionsShareThePath(t *testing.T) {
	const perSecond = 50e6
	l, _ := open(t, 0, perSecond)
	start := time.Now()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			resp, err := httpGet("http://" + l.Addr() + "/bulk")
			if err != nil || len(resp) != BulkBytes {
				t.Errorf("got %d bytes, %v", len(resp), err)
			}
		})
	}
	all.Wait()
	if least := time.Duration(8 * BulkBytes / perSecond * float64(time.Second) * 9 / 10); time.Since(start) < least {
		t.Errorf("8 MiB took %v through 50 MB/s, want at least %v", time.Since(start), least)
	}
}

func TestBytesArriveAsSent(t *testing.T) {
	sent := bytes.Repeat([]byte("0123456789abcdef~"), 40_000)
	for _, rtt := range []time.Duration{0, 3 * time.Millisecond} {
		echo, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer echo.Close()
		go func() {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			all, _ := io.ReadAll(c) // until the half-close has come through
			c.Write(all)
			c.Close()
		}()
		p, err := NewPath(rtt, 0)
		if err != nil {
			t.Fatal(err)
		}
		l, err := p.Listen("127.0.0.1:0", echo.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", l.Addr())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c.Write(sent)
			c.(*net.TCPConn).CloseWrite()
		}()
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("round trip %v: got %d bytes back of %d, %v", rtt, len(got), len(sent), err)
		}
		c.Close()
		if n := l.Counts(); n.UpBytes != int64(len(sent)) || n.DownBytes != int64(len(sent)) || n.Connections != 1 {
			t.Errorf("round trip %v: counted %+v, want %d each way", rtt, n, len(sent))
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A client that goes away in the middle leaves nothing behind: Close waits for all relays.
func TestClientGoesAway(t *testing.T) {
	for _, rtt := range []time.Duration{0, 2 * time.Millisecond} {
		l, _ := open(t, rtt, 10e6)
		c, err := net.Dial("tcp", l.Addr())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, "GET /bulk HTTP/1.1\r\nHost: x\r\n\r\n")
		io.ReadFull(c, make([]byte, 100))
		c.Close()
	}
}

func TestMetrics(t *testing.T) {
	l, _ := open(t, 0, 0)
	if _, err := httpGet("http://" + l.Addr() + "/one"); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	Metrics(l).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{`link_bytes_total{direction="down"} `, "link_connections_total 1\n"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("metrics lack %q:\n%s", want, w.Body)
		}
	}
}

func TestPathRefuses(t *testing.T) {
	if _, err := NewPath(1500*time.Microsecond, 0); err == nil {
		t.Error("a round trip of 1.5 ms was taken; the toxic has whole milliseconds")
	}
	if _, err := NewPath(0, -1); err == nil {
		t.Error("a bandwidth below 0 was taken")
	}
}
