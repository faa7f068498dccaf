package store

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// Counters are what a client counted since it was made. Bytes are counted twice, by code that does not
// know of each other: where the library hands a response over, and where a connection is read.
type Counters struct {
	Body    atomic.Int64 // bytes of response bodies that the library handed over
	Heads   atomic.Int64 // bytes of the response heads that the library parsed
	Wire    atomic.Int64 // bytes read off the connections
	Get     atomic.Int64 // requests
	Head    atomic.Int64
	Retries atomic.Int64 // attempts that the library made on its own after the first
	Dials   atomic.Int64 // connections opened
}

// A Client speaks to one store. It retries nothing. Safe for several goroutines.
type Client struct {
	Counters Counters

	base   *url.URL
	signer *signer
	http   *http.Client
}

// NewClient makes a client of the store at endpoint ("http://127.0.0.1:7070") that opens at most pool
// connections; 0 bounds nothing. Requests beyond that wait for one.
func NewClient(endpoint string, keys Keys, pool int) (*Client, error) {
	base, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	if base.Scheme != "http" || base.Host == "" {
		return nil, fmt.Errorf("make client: got endpoint %q, want http://HOST:PORT", endpoint)
	}
	c := &Client{base: base, signer: &signer{keys: keys}}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	kept := pool
	if kept == 0 {
		kept = 1024
	}
	c.http = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			c.Counters.Dials.Add(1)
			return wire{Conn: conn, read: &c.Counters.Wire}, nil
		},
		MaxConnsPerHost:     pool,
		MaxIdleConnsPerHost: kept,
		MaxIdleConns:        kept,
		IdleConnTimeout:     time.Minute,
		DisableCompression:  true,
		ReadBufferSize:      32 << 10,
	}}
	return c, nil
}

// Close closes the connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A wire counts what is read off a connection.
type wire struct {
	net.Conn
	read *atomic.Int64
}

func (w wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.read.Add(int64(n))
	return n, err
}

// A Watch is told when a request has a connection, and when it is about to give it back. Its zero value
// is nobody.
type Watch struct{ Sent, Done func() }

// A passage is one request on its way: waiting, then sent, then done. The library's goroutines call it.
type passage struct {
	watch Watch
	state atomic.Int32
}

func (p *passage) sent() {
	if p.state.CompareAndSwap(0, 1) && p.watch.Sent != nil {
		p.watch.Sent()
	}
}

func (p *passage) done() {
	if p.state.CompareAndSwap(1, 2) && p.watch.Done != nil {
		p.watch.Done()
	}
}

// A StatusError is an answer that was not the wanted one.
type StatusError struct {
	Method, Key string
	Status      int
	Body        string // its beginning
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: got status %d: %s", e.Method, e.Key, e.Status, e.Body)
}

// Range returns the bytes from offset on, length of them, of an object, in the room of into. Less than
// length bytes are an error.
func (c *Client) Range(ctx context.Context, bucket, key string, offset, length int64, into []byte, watch Watch) ([]byte, error) {
	if length < 1 {
		return nil, fmt.Errorf("get %s: got length %d, want at least 1", key, length)
	}
	c.Counters.Get.Add(1)
	request := c.request(http.MethodGet, bucket, key, nil, nil)
	request.Header["Range"] = []string{"bytes=" + strconv.FormatInt(offset, 10) + "-" + strconv.FormatInt(offset+length-1, 10)}
	way := &passage{watch: watch}
	defer way.done()
	response, err := c.do(ctx, request, way)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent {
		return nil, refused(request, response)
	}
	return c.body(response, key, length, into, way)
}

// Get returns a whole object.
func (c *Client) Get(ctx context.Context, bucket, key string) ([]byte, error) {
	c.Counters.Get.Add(1)
	request := c.request(http.MethodGet, bucket, key, nil, nil)
	response, err := c.do(ctx, request, &passage{})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, refused(request, response)
	}
	b, err := io.ReadAll(response.Body)
	c.Counters.Body.Add(int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("get %s: read body: %w", key, err)
	}
	return b, nil
}

// body reads exactly length bytes into the room of into. The last read gives the connection back, so that
// the way is over before it: else the next request could seem to be beside this one.
func (c *Client) body(response *http.Response, key string, length int64, into []byte, way *passage) ([]byte, error) {
	if response.ContentLength >= 0 && response.ContentLength != length {
		return nil, fmt.Errorf("get %s: got %d bytes, want %d", key, response.ContentLength, length)
	}
	if int64(cap(into)) < length {
		into = make([]byte, length)
	}
	n, err := io.ReadFull(response.Body, into[:length-1])
	c.Counters.Body.Add(int64(n))
	if err != nil {
		return nil, fmt.Errorf("get %s: read body: %w", key, err)
	}
	way.done()
	n, err = io.ReadFull(response.Body, into[length-1:length])
	c.Counters.Body.Add(int64(n))
	if err != nil {
		return nil, fmt.Errorf("get %s: read body: %w", key, err)
	}
	if extra, err := response.Body.Read(make([]byte, 1)); extra != 0 || !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("get %s: body goes on after %d bytes", key, length)
	}
	return into[:length], nil
}

// Size asks for the length of an object in bytes.
func (c *Client) Size(ctx context.Context, bucket, key string, watch Watch) (int64, error) {
	c.Counters.Head.Add(1)
	request := c.request(http.MethodHead, bucket, key, nil, nil)
	way := &passage{watch: watch}
	defer way.done()
	response, err := c.do(ctx, request, way)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, refused(request, response)
	}
	return response.ContentLength, nil
}

// Put stores an object.
func (c *Client) Put(ctx context.Context, bucket, key string, content []byte) error {
	return c.put(ctx, c.request(http.MethodPut, bucket, key, nil, content))
}

// CreateBucket makes a bucket. One that is there already is no error.
func (c *Client) CreateBucket(ctx context.Context, bucket string) error {
	err := c.put(ctx, c.request(http.MethodPut, bucket, "", nil, nil))
	var status *StatusError
	if errors.As(err, &status) && status.Status == http.StatusConflict {
		return nil
	}
	return err
}

func (c *Client) put(ctx context.Context, request *http.Request) error {
	response, err := c.do(ctx, request, &passage{})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refused(request, response)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// An Object is what a listing says of one.
type Object struct {
	Key  string
	Size int64  // bytes
	ETag string // without quotes; the MD5 of an object that was put in one piece
}

// List returns all objects of a bucket, page after page.
func (c *Client) List(ctx context.Context, bucket string) ([]Object, error) {
	var all []Object
	token := ""
	for {
		query := url.Values{"list-type": {"2"}, "max-keys": {"1000"}}
		if token != "" {
			query.Set("continuation-token", token)
		}
		page, err := c.listPage(ctx, bucket, query)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", bucket, err)
		}
		for _, object := range page.Contents {
			all = append(all, Object{Key: object.Key, Size: object.Size, ETag: trimQuotes(object.ETag)})
		}
		if !page.IsTruncated {
			return all, nil
		}
		if page.NextContinuationToken == "" || page.NextContinuationToken == token {
			return nil, fmt.Errorf("list %s: truncated after %d objects without a next page", bucket, len(all))
		}
		token = page.NextContinuationToken
	}
}

type listing struct {
	IsTruncated           bool
	NextContinuationToken string
	Contents              []Object
}

func (c *Client) listPage(ctx context.Context, bucket string, query url.Values) (listing, error) {
	request := c.request(http.MethodGet, bucket, "", query, nil)
	response, err := c.do(ctx, request, &passage{})
	if err != nil {
		return listing{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return listing{}, refused(request, response)
	}
	var page listing
	if err := xml.NewDecoder(response.Body).Decode(&page); err != nil {
		return listing{}, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return page, err
}

func trimQuotes(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// request makes a request in path style. Buckets and keys of the study need no escaping.
func (c *Client) request(method, bucket, key string, query url.Values, content []byte) *http.Request {
	target := *c.base
	target.Path = "/" + bucket
	if key != "" {
		target.Path += "/" + key
	}
	target.RawQuery = canonicalQuery(query)
	request := &http.Request{
		Method: method, URL: &target, Host: target.Host, Header: make(http.Header, 5),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if content != nil {
		request.Body = io.NopCloser(bytes.NewReader(content))
		request.ContentLength = int64(len(content))
	}
	return request
}

// do signs and sends a request. The library may try again on its own when a kept connection turns out to
// be closed; that cannot be turned off, so it is counted.
func (c *Client) do(ctx context.Context, request *http.Request, way *passage) (*http.Response, error) {
	c.signer.sign(request, time.Now())
	tries := 0
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		if tries++; tries > 1 {
			c.Counters.Retries.Add(1)
		}
		way.sent()
	}}
	if request.Method == http.MethodHead {
		// There is no body: with the head, the connection goes back.
		trace.GotFirstResponseByte = way.done
	}
	response, err := c.http.Do(request.WithContext(httptrace.WithClientTrace(ctx, trace)))
	if err != nil {
		return nil, err
	}
	c.Counters.Heads.Add(headBytes(response))
	return response, nil
}

// headBytes returns how long a response's head was, as the library parsed it: "HTTP/1.1 200 OK\r\n",
// "Name: value\r\n" each, and the empty line.
func headBytes(response *http.Response) int64 {
	n := len("HTTP/1.1 ") + len(response.Status) + 4
	for name, values := range response.Header {
		for _, value := range values {
			n += len(name) + len(value) + 4
		}
	}
	return int64(n)
}

func refused(request *http.Request, response *http.Response) error {
	beginning, _ := io.ReadAll(io.LimitReader(response.Body, 300))
	return &StatusError{Method: request.Method, Key: request.URL.Path, Status: response.StatusCode, Body: string(beginning)}
}
