package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
	"unsafe"

	"github.com/assaybench/assay"
	"golang.org/x/sys/unix"
)

// A Prober performs one small operation on the thing that is shared, as a bystander would.
type Prober interface {
	// Probe says how long the operation took. An operation that fails or runs into its timeout is
	// an error; ctx cancels it.
	Probe(ctx context.Context) (time.Duration, error)
	Close() error
}

// Defaults of a declared probe.
const (
	probeBytes   = 64 << 10
	probeRate    = 5 // a second
	probeTimeout = 5 * time.Second
)

// NewProber opens what a declared probe needs. It is an error when the file, URL or address cannot
// be used at all.
func NewProber(p assay.Probe) (Prober, error) {
	timeout := p.Timeout
	if timeout == 0 {
		timeout = probeTimeout
	}
	var prober Prober
	var err error
	switch {
	case p.Read != "":
		prober, err = newReadProber(p.Read, p.Bytes)
	case p.HTTP != "":
		prober, err = newHTTPProber(p.HTTP)
	case p.TCP != "":
		prober = tcpProber(p.TCP)
	default:
		err = fmt.Errorf("want read, http or tcp")
	}
	if err != nil {
		return nil, fmt.Errorf("open probe %s: %w", p.Name, err)
	}
	return &limited{prober, timeout, nil}, nil
}

// limited bounds a prober by its timeout, also where the operation cannot be cancelled, as a read
// from a share that is gone cannot. There is never more than one operation under way.
type limited struct {
	Prober
	timeout time.Duration
	stuck   chan probed // of an operation that outlived its timeout
}

type probed struct {
	took time.Duration
	err  error
}

func (l *limited) Probe(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.timeout, fmt.Errorf("no answer within %v", l.timeout))
	defer cancel()
	if l.stuck != nil {
		select {
		case <-l.stuck:
			l.stuck = nil
		case <-ctx.Done():
			return 0, fmt.Errorf("an earlier probe is still under way: %w", context.Cause(ctx))
		}
	}
	came := make(chan probed, 1)
	go func() {
		took, err := l.Prober.Probe(ctx)
		came <- probed{took, err}
	}()
	select {
	case p := <-came:
		return p.took, p.err
	case <-ctx.Done():
		l.stuck = came
		return 0, context.Cause(ctx)
	}
}

// Close gives an operation that is stuck a moment and then leaves it to the kernel.
func (l *limited) Close() error {
	if l.stuck != nil {
		t := time.NewTimer(100 * time.Millisecond)
		defer t.Stop()
		select {
		case <-l.stuck:
		case <-t.C:
			return errors.New("an operation is still under way and was left behind")
		}
	}
	return l.Prober.Close()
}

// A readProber reads a few pages past the page cache, each time of another place.
type readProber struct {
	files  []string
	random *rand.Rand
	block  []byte
	direct bool
}

func newReadProber(pattern string, bytes int) (*readProber, error) {
	files, err := Files(pattern)
	if err != nil {
		return nil, err
	}
	if bytes <= 0 {
		bytes = probeBytes
	}
	bytes = (bytes + alignment - 1) / alignment * alignment
	return &readProber{files: files, random: rand.New(rand.NewPCG(uint64(len(files)), uint64(bytes))), block: aligned(bytes), direct: directIO != 0}, nil
}

// alignment is what O_DIRECT asks of addresses, lengths and places on every common file system.
const alignment = 4096

// aligned is a block of memory that begins at a page.
func aligned(n int) []byte {
	b := make([]byte, n+alignment)
	off := int(-uintptr(unsafe.Pointer(&b[0])) & (alignment - 1))
	return b[off : off+n : off+n]
}

func (p *readProber) Probe(context.Context) (time.Duration, error) {
	path := p.files[p.random.IntN(len(p.files))]
	f, err := p.open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return 0, err
	}
	at := int64(0)
	if spare := stat.Size() - int64(len(p.block)); spare > 0 {
		at = p.random.Int64N(spare/alignment+1) * alignment
	}
	if !p.direct {
		// No read-ahead, and nothing left behind: what it warmed it would later measure.
		err := errors.Join(noReadAhead(int(f.Fd())), p.evict(f, at))
		if err != nil {
			return 0, fmt.Errorf("evict %s: %w", path, err)
		}
		defer p.evict(f, at)
	}
	start := time.Now()
	n, err := unix.Pread(int(f.Fd()), p.block, at)
	took := time.Since(start)
	if errors.Is(err, unix.EINVAL) && p.direct {
		p.direct = false
		return p.Probe(context.Background())
	}
	if err == nil && n == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return took, fmt.Errorf("read %s: %w", path, err)
	}
	return took, nil
}

// evict drops the block at a place from the page cache.
func (p *readProber) evict(f *os.File, at int64) error {
	return dropCached(int(f.Fd()), at, int64(len(p.block)))
}

// open opens past the page cache where the file system can, else reads are preceded by an eviction.
func (p *readProber) open(path string) (*os.File, error) {
	if p.direct {
		f, err := os.OpenFile(path, os.O_RDONLY|directIO, 0)
		if !errors.Is(err, unix.EINVAL) {
			return f, err
		}
		p.direct = false
	}
	return os.Open(path)
}

func (p *readProber) Close() error { return nil }

// An httpProber is one GET on a kept connection; a response of 400 and above is a failure.
type httpProber struct {
	url    string
	client *http.Client
}

func newHTTPProber(url string) (*httpProber, error) {
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return nil, fmt.Errorf("url %q: want http:// or https://", url)
	}
	// No proxy from the environment: a hidden input, and not what is shared.
	return &httpProber{url, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}}, nil
}

func (p *httpProber) Probe(ctx context.Context) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	resp, err := p.client.Do(req)
	if err != nil {
		return time.Since(start), err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	took := time.Since(start)
	err = errors.Join(err, resp.Body.Close())
	if err == nil && resp.StatusCode >= 400 {
		err = fmt.Errorf("get %s: status %d", p.url, resp.StatusCode)
	}
	return took, err
}

func (p *httpProber) Close() error {
	p.client.CloseIdleConnections()
	return nil
}

// A tcpProber opens a connection to its address and closes it.
type tcpProber string

func (p tcpProber) Probe(ctx context.Context) (time.Duration, error) {
	var d net.Dialer
	start := time.Now()
	c, err := d.DialContext(ctx, "tcp", string(p))
	took := time.Since(start)
	if err != nil {
		return took, err
	}
	// Reset instead of FIN: at five a second, TIME_WAIT would take 300 of the ports.
	if tcp, ok := c.(*net.TCPConn); ok {
		if err := tcp.SetLinger(0); err != nil {
			return took, errors.Join(err, c.Close())
		}
	}
	return took, c.Close()
}

func (tcpProber) Close() error { return nil }
