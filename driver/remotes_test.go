package driver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
	"golang.org/x/net/dns/dnsmessage"
)

// nameServer serves DNS on a loopback port: every name has the addresses that addresses gives at the
// time of asking.
func nameServer(t *testing.T, addresses func() []string) *net.Resolver {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		b := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			for _, a := range addresses() {
				if m.Questions[0].Type == dnsmessage.TypeA {
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 1},
						Body:   &dnsmessage.AResource{A: [4]byte(net.ParseIP(a).To4())},
					})
				}
			}
			if answer, err := m.Pack(); err == nil {
				c.WriteTo(answer, from)
			}
		}
	})
	t.Cleanup(func() {
		c.Close()
		wg.Wait()
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", c.LocalAddr().String())
	}}
}

// A backend is a server on one of two addresses with the same port.
type backend struct {
	arrived atomic.Int64
	takes   time.Duration
}

func (b *backend) ServeHTTP(http.ResponseWriter, *http.Request) {
	b.arrived.Add(1)
	time.Sleep(b.takes)
}

// backends serve on 127.0.0.1 and 127.0.0.2.
func backends(t *testing.T, two [2]*backend) (port string) {
	t.Helper()
	for range 20 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ = net.SplitHostPort(first.Addr().String())
		second, err := net.Listen("tcp", "127.0.0.2:"+port)
		if err != nil {
			first.Close()
			continue
		}
		serve(t, two[0], first, false)
		serve(t, two[1], second, false)
		return port
	}
	t.Fatal("no port is free on both addresses")
	return ""
}

// sent carries a load out at a name that stands for addresses.
func sent(t *testing.T, l assay.Load, port string, addresses func() []string) load.Account {
	t.Helper()
	l.HTTP.URL, l.HTTP.AllowHosts = text("http://backends.test:"+port+"/"), []string{"backends.test"}
	p, err := load.NewPlan(l, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, l)
	switch c := d.(type) {
	case *client:
		c.dial.names = nameServer(t, addresses)
	case *http2Client:
		c.dial.names = nameServer(t, addresses)
	}
	a, err := load.Run(t.Context(), p, d, load.Options{})
	if err != nil || a.OK == 0 {
		t.Fatalf("%+v %v %v", a.Ledger, a.Failures, err)
	}
	return a
}

func twice() []string { return []string{"127.0.0.1", "127.0.0.2"} }

// operationsAre holds the counts by address against the servers' own.
func operationsAre(t *testing.T, a load.Account, two [2]*backend) error {
	t.Helper()
	if len(a.Remotes) != 2 {
		return fmt.Errorf("got %+v, want two addresses", a.Remotes)
	}
	for i, b := range two {
		if got := a.Remotes[i].Operations; got != b.arrived.Load() {
			return fmt.Errorf("%s: counted %d, the server %d", a.Remotes[i].Address, got, b.arrived.Load())
		}
	}
	return nil
}

func notes(a load.Account, word string) bool {
	return strings.Contains(strings.Join(a.Notes, "\n"), word)
}

func TestAddressesBehindANameTakeTurnsAndAreCounted(t *testing.T) {
	for name, l := range map[string]assay.Load{
		"open loop":       {Rate: 400, For: 500 * time.Millisecond, HTTP: &assay.HTTPLoad{}},
		"closed loop":     {Clients: 8, For: 300 * time.Millisecond, HTTP: &assay.HTTPLoad{}},
		"no keep-alive":   {Rate: 200, For: 500 * time.Millisecond, HTTP: &assay.HTTPLoad{NoKeepAlive: true}},
		"HTTP/2":          {Rate: 400, For: 500 * time.Millisecond, HTTP: &assay.HTTPLoad{Version: "2"}},
		"few connections": {Clients: 8, For: 300 * time.Millisecond, HTTP: &assay.HTTPLoad{Connections: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			two := [2]*backend{{takes: 2 * time.Millisecond}, {takes: 2 * time.Millisecond}}
			a := sent(t, l, backends(t, two), twice)
			if err := operationsAre(t, a, two); err != nil {
				t.Error(err)
			}
			if notes(a, "skew:") || !notes(a, "got equal shares") {
				t.Errorf("got %q of %+v, want equal shares", a.Notes, a.Remotes)
			}
		})
	}
}

// One of two is slow, so that closed-loop clients are mostly with the other.
func TestAnAddressThatGetsLessIsCalledSkew(t *testing.T) {
	two := [2]*backend{{takes: time.Millisecond}, {takes: 60 * time.Millisecond}}
	a := sent(t, assay.Load{Clients: 4, For: 400 * time.Millisecond, HTTP: &assay.HTTPLoad{}}, backends(t, two), twice)
	if err := operationsAre(t, a, two); err != nil {
		t.Error(err)
	}
	if !notes(a, "skew: the 2 addresses") {
		t.Errorf("got %q of %+v, want skew", a.Notes, a.Remotes)
	}
}

func TestNamesAreResolvedAgainByRule(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration
		both  bool
	}{"once": {0, false}, "every 50 ms": {50 * time.Millisecond, true}} {
		t.Run(name, func(t *testing.T) {
			two := [2]*backend{{}, {}}
			begun := time.Now()
			moved := func() []string {
				if time.Since(begun) < 250*time.Millisecond {
					return []string{"127.0.0.1"}
				}
				return []string{"127.0.0.2"}
			}
			a := sent(t, assay.Load{Rate: 100, For: 600 * time.Millisecond, HTTP: &assay.HTTPLoad{NoKeepAlive: true, Resolve: c.every}}, backends(t, two), moved)
			if got := two[1].arrived.Load() > 0; got != c.both {
				t.Errorf("the second address got %d", two[1].arrived.Load())
			}
			var err error
			if c.both {
				err = operationsAre(t, a, two)
			}
			if err != nil || notes(a, "resolved to other addresses 1 times") != c.both || notes(a, "skew") {
				t.Errorf("got %q of %+v: %v", a.Notes, a.Remotes, err)
			}
		})
	}
}
