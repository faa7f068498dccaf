package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

// A courier carries the requests of a library over wires of its own. It carries one for each
// operation: a library that would send another, to repeat the first or to ask for something else, is
// held back, and how often is told with the operation's failure.
type courier struct {
	wires
	host string // that requests are for
	keep kept
}

// An errand is one operation on its way through the library, which hands it on with the context.
type errand struct {
	op     *load.Operation
	asked  int    // requests that the library handed over; the first one is sent
	answer answer // to it
	err    error  // that sending it came to
}

type errandKey struct{}

var errOnce = errors.New("one request an operation: this one is not sent")

// Do carries a request to the store and its answer back.
func (c *courier) Do(r *http.Request) (*http.Response, error) {
	e, ok := r.Context().Value(errandKey{}).(*errand)
	if !ok {
		return nil, errors.New("a request outside of any operation: it is not sent")
	}
	if e.asked++; e.asked > 1 {
		return nil, errOnce
	}
	if r.URL.Host != c.host {
		e.err = load.Fail(load.Wrong, fmt.Errorf("the library asks %s, want %s", r.URL.Host, c.host))
		return nil, e.err
	}
	e.op.Send()
	e.answer, e.err = c.carry(r.Context(), e.op, r)
	if e.err != nil {
		return nil, e.err
	}
	return response(r, &e.answer), nil
}

// carry sends the request and reads the whole answer.
func (c *courier) carry(ctx context.Context, op *load.Operation, r *http.Request) (answer, error) {
	cn, fresh, err := c.borrow(ctx, op)
	if err != nil {
		return answer{}, failure(err, load.Refused)
	}
	message := bytes.NewBuffer(cn.request[:0])
	err = r.Write(message)
	cn.request = message.Bytes()
	if err != nil {
		c.giveBack(cn, false)
		return answer{}, load.Fail(load.Wrong, fmt.Errorf("write request: %w", err))
	}
	if !fresh {
		cn.attach(ctx)
	}
	err = cn.arm(op)
	if err == nil {
		err = cn.exchange(op, cn.request)
	}
	var a answer
	if err == nil {
		a, err = cn.receive(op, r.Method, c.keep)
	}
	c.giveBack(cn, err == nil && !a.close)
	return a, err
}

// response is an answer in the library's form. A body that was not kept has been read all the same.
func response(r *http.Request, a *answer) *http.Response {
	header := http.Header{}
	for rest := a.fields; len(rest) > 0; {
		var line []byte
		if line, rest = cutLine(rest); len(line) == 0 {
			break
		}
		if name, value, err := cutField(line); err == nil {
			header.Add(string(name), string(value))
		}
	}
	return &http.Response{
		StatusCode: a.status, Status: fmt.Sprint(a.status, " ", http.StatusText(a.status)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: r,
	}
}

// rightPart holds what a get read against what it asked for: how many bytes, and which ones.
func (s *store) rightPart(a *answer) error {
	if s.span != "" {
		if err := rightRange(s.span, a); err != nil {
			return load.Fail(load.Wrong, err)
		}
	}
	if s.bytes > 0 && a.size != s.bytes {
		return load.Fail(load.Wrong, fmt.Errorf("body: got %d bytes, want %d", a.size, s.bytes))
	}
	return nil
}

// rightRange reports an answer that is not the part asked for (RFC 9110, 14.4). A part that goes
// beyond the object's end is cut there.
func rightRange(span assay.ByteRange, a *answer) error {
	if a.status != http.StatusPartialContent {
		return fmt.Errorf("range %s: got status %d, want 206", span, a.status)
	}
	text, _ := a.field("content-range")
	var first, last, whole int64
	if n, err := fmt.Sscanf(text, "bytes %d-%d/%d", &first, &last, &whole); err != nil || n != 3 {
		return fmt.Errorf("range %s: got content-range %.80q", span, text)
	}
	wantFirst, wantLast := span.Within(whole)
	if first != wantFirst || last != wantLast || a.size != last-first+1 {
		return fmt.Errorf("range %s of %d bytes: got %d-%d in a body of %d bytes, want %d-%d", span, whole, first, last, a.size, wantFirst, wantLast)
	}
	return nil
}
