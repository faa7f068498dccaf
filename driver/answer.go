package driver

import (
	"errors"
	"fmt"
	"io"

	"github.com/assaybench/assay/load"
)

// An answer is a response that was read to its end.
type answer struct {
	head
	body []byte // empty unless it was to be kept
	size int64  // of the body, kept or not
}

// Kept says what of an answer is kept besides its status.
type kept struct {
	fields  bool // the headers
	body    bool
	refusal bool // the body of an answer outside of 200 to 299
}

func (k kept) bodyOf(status int) bool { return k.body || k.refusal && (status < 200 || status > 299) }

// maxKept bounds a body that is kept for its hash or JSON.
const maxKept = 64 << 20

// receive reads the answer to a request of that method; the first bytes are already there. Interim
// answers (1xx) are passed over.
func (c *conn) receive(op *load.Operation, method string, keep kept) (answer, error) {
	for {
		h, err := c.receiveHead(op)
		if err != nil {
			return answer{}, err
		}
		if h.status < 200 && h.status != 101 {
			continue
		}
		op.Mark(load.Wait)
		a := answer{head: h}
		a.fields = nil // they lie in a buffer that the body is going to overwrite
		if keep.fields {
			a.fields = append([]byte(nil), h.fields...)
		}
		if !h.bodiless(method) {
			b := &bodyReader{conn: c, op: op, keep: keep.bodyOf(h.status)}
			if a.close, err = b.readBody(h); err != nil {
				return answer{}, err
			}
			a.body, a.size = b.kept, b.size
		}
		op.Mark(load.Read)
		if c.read != c.fill || h.status == 101 {
			a.close = true // bytes that nobody asked for: the connection is of no further use
		}
		return a, nil
	}
}

// receiveHead consumes a head. Most answers on a connection begin with the very bytes of the one
// before; as a head ends with its only empty line, these bytes are the whole head then, and need not be
// looked at again.
func (c *conn) receiveHead(op *load.Operation) (head, error) {
	looked := 0
	for {
		unread := c.unread()
		if n := len(c.known); n > 0 && len(unread) >= n && string(unread[:n]) == string(c.known) {
			c.read += n
			return c.knownAs, nil
		}
		if n := headEnd(unread, looked); n > 0 {
			h, err := parseHead(unread[:n])
			c.read += n
			if err != nil {
				return h, protocol(err)
			}
			c.remember(unread[:n], h)
			return h, nil
		}
		if looked = len(unread); looked > maxHead {
			return head{}, protocol(fmt.Errorf("%w: no end of headers within %d bytes", errHead, maxHead))
		}
		if err := c.more(op); err != nil {
			return head{}, unexpected(err)
		}
	}
}

// remember keeps a head that was read, unless it is too long to be worth it.
func (c *conn) remember(b []byte, h head) {
	if c.known = c.known[:0]; len(b) > firstBuffer {
		return
	}
	c.known = append(c.known, b...)
	h.fields = c.known[len(b)-len(h.fields):] // they were the end of the connection's buffer
	c.knownAs = h
}

// unexpected is the error for an end of the stream within an answer.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("answer broken off: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// A bodyReader consumes a body, and keeps it if it is wanted.
type bodyReader struct {
	*conn
	op   *load.Operation
	keep bool
	kept []byte
	size int64 // consumed
}

// readBody consumes the body that h announces; close says that the connection ends with it.
func (b *bodyReader) readBody(h head) (close bool, err error) {
	switch {
	case h.chunked:
		return h.close, b.readChunks()
	case h.length >= 0:
		return h.close, b.take(h.length)
	}
	for { // to the end of the connection
		if err := b.pass(int64(b.fill - b.read)); err != nil {
			return true, err
		}
		err := b.more(b.op)
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
	}
}

// take consumes n bytes, reading as many as are missing.
func (b *bodyReader) take(n int64) error {
	for n > 0 {
		here := min(n, int64(b.fill-b.read))
		if err := b.pass(here); err != nil {
			return err
		}
		if n -= here; n > 0 {
			if err := b.more(b.op); err != nil {
				return unexpected(err)
			}
		}
	}
	return nil
}

// pass consumes n bytes that are there.
func (b *bodyReader) pass(n int64) error {
	if b.keep {
		if int64(len(b.kept))+n > maxKept {
			return protocol(fmt.Errorf("body: longer than the %d bytes that can be looked at", maxKept))
		}
		b.kept = append(b.kept, b.buf[b.read:b.read+int(n)]...)
	}
	b.read += int(n)
	b.size += n
	return nil
}

// line consumes a line of the chunked coding and gives it without its ending, which must be CR LF;
// it is valid until the next read.
func (b *bodyReader) line() ([]byte, error) {
	for {
		unread := b.unread()
		for i, c := range unread {
			if c != '\n' {
				continue
			}
			if i == 0 || unread[i-1] != '\r' {
				return nil, protocol(fmt.Errorf("%w: a chunk's line ends with LF alone", errHead))
			}
			b.read += i + 1
			return unread[:i-1], nil
		}
		if len(unread) > maxHead {
			return nil, protocol(fmt.Errorf("%w: a chunk's line longer than %d bytes", errHead, maxHead))
		}
		if err := b.more(b.op); err != nil {
			return nil, unexpected(err)
		}
	}
}

// readChunks consumes a chunked body with its trailers (RFC 9112, section 7.1).
func (b *bodyReader) readChunks() error {
	for {
		line, err := b.line()
		if err != nil {
			return err
		}
		n, err := chunkSize(line)
		if err != nil {
			return protocol(err)
		}
		if n == 0 {
			break
		}
		if err := b.take(n); err != nil {
			return err
		}
		if line, err = b.line(); err != nil {
			return err
		}
		if len(line) != 0 {
			return protocol(fmt.Errorf("%w: chunk longer than its size of %d", errHead, n))
		}
	}
	for {
		line, err := b.line()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			return nil
		}
		if _, _, err := cutField(line); err != nil {
			return protocol(err)
		}
	}
}

// chunkSize reads the hexadecimal size that a chunk begins with; extensions mean nothing.
func chunkSize(line []byte) (int64, error) {
	var n int64
	digits := 0
	for _, c := range line {
		var d byte
		switch {
		case c >= '0' && c <= '9':
			d = c - '0'
		case c >= 'a' && c <= 'f':
			d = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			d = c - 'A' + 10
		case (c == ';' || c == ' ' || c == '\t') && digits > 0:
			return n, nil
		default:
			return 0, fmt.Errorf("%w: chunk size %.40q", errHead, line)
		}
		if digits++; digits > 15 {
			return 0, fmt.Errorf("%w: chunk size %.40q", errHead, line)
		}
		n = n<<4 | int64(d)
	}
	if digits == 0 {
		return 0, fmt.Errorf("%w: chunk without a size", errHead)
	}
	return n, nil
}
