package driver

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

// A dialer opens connections to one host. Names are resolved once, or again after every so long;
// the addresses of a name take turns.
type dialer struct {
	unix    string
	host    string
	port    string
	local   bool          // the name must mean this machine
	every   time.Duration // 0: resolve once
	encrypt *tls.Config   // nil: plain
	net     net.Dialer
	names   *net.Resolver
	remotes remotes

	mu        sync.Mutex
	addresses []string
	resolved  time.Time // deadline of the operation that resolved, which dates the resolution
	next      int
	settled   bool // the family of the addresses is known to answer
}

func newDialer(h assay.HTTPLoad, u *url.URL) *dialer {
	d := &dialer{unix: h.Unix, host: u.Hostname(), local: loopback(u.Hostname()), every: h.Resolve, names: net.DefaultResolver}
	_, d.port, _ = net.SplitHostPort(hostPort(u))
	if u.Scheme == "https" {
		protocol := "http/1.1"
		if h.Version == "2" {
			protocol = "h2"
		}
		d.encrypt = tlsSettings(h, d.host, protocol)
	}
	d.net.KeepAlive = -1 // no probes: nothing unplanned is sent
	return d
}

// connect opens one connection by the operation's deadline.
func (d *dialer) connect(ctx context.Context, op *load.Operation) (net.Conn, error) {
	ctx, cancel := context.WithDeadline(ctx, op.Deadline())
	defer cancel()
	nc, err := d.socket(ctx, op)
	if err != nil {
		return nil, err
	}
	op.Mark(load.Connect)
	if d.encrypt != nil {
		if nc, err = encrypted(ctx, nc, d.encrypt); err != nil {
			return nil, err
		}
		op.Mark(load.Encrypt)
	}
	return nc, nil
}

// socket connects to the host. A name with addresses of both families settles for the family that
// answers first (RFC 8305 in its simplest form): a refused connection has sent nothing yet.
func (d *dialer) socket(ctx context.Context, op *load.Operation) (net.Conn, error) {
	if d.unix != "" {
		nc, err := d.net.DialContext(ctx, "unix", d.unix)
		if err != nil {
			return nil, failure(err, load.Refused)
		}
		return nc, nil
	}
	for {
		address, err := d.address(ctx, op)
		if err != nil {
			return nil, failure(err, load.DNS)
		}
		op.Mark(load.Resolve)
		nc, err := d.net.DialContext(ctx, "tcp", address)
		if !d.settle(address, err == nil) || err == nil {
			if err != nil {
				return nil, failure(err, load.Refused)
			}
			return nc, nil
		}
	}
}

// settle keeps, once, only the addresses of the family that answered; before any has, it drops
// those of a family that did not. It reports whether another family is left to be tried.
func (d *dialer) settle(address string, answered bool) (another bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.settled {
		return false
	}
	d.settled = answered
	family := func(a string) bool { return strings.HasPrefix(a, "[") }
	kept := slices.DeleteFunc(slices.Clone(d.addresses), func(a string) bool {
		return (family(a) == family(address)) != answered
	})
	if len(kept) == 0 {
		return false
	}
	d.addresses = kept
	if answered {
		d.remotes.resolved(kept)
	}
	return true
}

// address is where the next connection goes.
func (d *dialer) address(ctx context.Context, op *load.Operation) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := op.Deadline()
	if d.addresses == nil || d.every > 0 && now.Sub(d.resolved) >= d.every {
		hosts, err := d.names.LookupHost(ctx, d.host)
		if err != nil {
			return "", fmt.Errorf("resolve %s: %w", d.host, err)
		}
		d.addresses, d.resolved, d.settled = nil, now, false
		for _, h := range hosts {
			if !d.local || net.ParseIP(h).IsLoopback() {
				d.addresses = append(d.addresses, net.JoinHostPort(h, d.port))
			}
		}
		if len(d.addresses) == 0 {
			return "", fmt.Errorf("resolve %s: got %v, want an address of this machine", d.host, hosts)
		}
	}
	d.next++
	return d.addresses[d.next%len(d.addresses)], nil
}
