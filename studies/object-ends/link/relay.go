package link

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// chunk is how much is read at once, in bytes: what a pace is asked for.
const chunk = 32 << 10

// relay copies from src to dst until src ends, at a pace and with a delay, and counts. The end is
// passed on as the half-close that it is. Where dst fails, src is closed for reading, so that who
// writes there learns of it.
func relay(dst, src *net.TCPConn, p *pace, delay time.Duration, count *atomic.Int64) {
	var err error
	if delay == 0 {
		_, err = io.Copy(tap{dst, p, count}, onlyReader{src})
	} else {
		err = delayed(dst, src, p, delay, count)
	}
	if err != nil {
		src.CloseRead()
	}
	dst.CloseWrite()
}

// delayed sends what src says through Toxiproxy's latency toxic. Bytes leave at their pace before
// they travel: what waits in the toxic is on the wire.
func delayed(dst, src *net.TCPConn, p *pace, delay time.Duration, count *atomic.Int64) error {
	toxic := &toxics.LatencyToxic{Latency: delay.Milliseconds()}
	in := make(chan *stream.StreamChunk, toxic.GetBufferSize()) // on the way at once
	out := make(chan *stream.StreamChunk)
	stub := toxics.NewToxicStub(in, out)
	var stages sync.WaitGroup
	stages.Go(func() {
		wire := stream.NewChanWriter(in)
		defer wire.Close()
		// An end of src is passed on as one, whatever its cause.
		_, _ = io.CopyBuffer(tap{wire, p, count}, onlyReader{src}, make([]byte, chunk))
	})
	stages.Go(func() { toxic.Pipe(stub) })
	arrives := stream.NewChanReader(out)
	_, err := io.Copy(dst, arrives)
	if err != nil {
		src.CloseRead()
		// The stages before may be waiting to hand on what nobody wants any more.
		_, _ = io.Copy(io.Discard, arrives)
	}
	stages.Wait()
	return err
}

// onlyReader hides the kernel's own copying, which would go past pace and count.
type onlyReader struct{ io.Reader }

// A tap lets bytes leave at a pace and counts them.
type tap struct {
	io.Writer
	pace  *pace
	count *atomic.Int64
}

func (t tap) Write(b []byte) (int, error) {
	t.pace.leave(len(b))
	n, err := t.Writer.Write(b)
	t.count.Add(int64(n))
	return n, err
}
