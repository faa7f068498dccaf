package driver

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	assay "github.com/assaybench/assay"
)

// A request makes the bytes of one operation. What does not depend on the operation is put
// together once.
type request struct {
	method   string
	url      assay.Template
	parsed   *url.URL // of operation 0
	headers  []assay.Header
	open     bool // {operation} is left in the URL or a header
	payloads *payloads
	close    bool     // ask for the connection to be closed
	whole    [][]byte // the finished bytes for each body where nothing is open
}

func newRequest(h assay.HTTPLoad, values map[string]string, seed uint64) (*request, error) {
	r := &request{method: h.Method, close: h.NoKeepAlive}
	var err error
	if r.payloads, err = newPayloads(h.Body, values, seed); err != nil {
		return nil, err
	}
	if r.method == "" {
		r.method = "GET"
		if h.Body.Path != "" || !h.Body.Text.IsZero() {
			r.method = "POST"
		}
	}
	for _, c := range []byte(r.method) {
		if !tokenByte[c] {
			return nil, fmt.Errorf("method %q: want a word such as GET or POST", r.method)
		}
	}
	if r.url, r.open, err = fill(h.URL, values); err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	text, err := expand(r.url, 0)
	if err != nil {
		return nil, err
	}
	if r.parsed, err = parseURL(text); err != nil {
		return nil, err
	}
	if err := r.addHeaders(h.Headers, values); err != nil {
		return nil, err
	}
	return r, r.finishOnce()
}

// parseURL accepts http and https with a host.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("url %q: want http:// or https:// and a host", text)
	}
	return u, nil
}

// hostPort is where the URL's connection goes.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func (r *request) addHeaders(headers []assay.Header, values map[string]string) error {
	has := func(name string) bool {
		for _, h := range r.headers {
			if strings.EqualFold(h.Name, name) {
				return true
			}
		}
		return false
	}
	for _, h := range headers {
		for _, c := range []byte(h.Name) {
			if !tokenByte[c] {
				return fmt.Errorf("header %q: want a name of letters, digits and hyphens", h.Name)
			}
		}
		switch strings.ToLower(h.Name) {
		case "content-length", "transfer-encoding", "connection", "":
			return fmt.Errorf("header %q: it follows from the body and from keep_alive", h.Name)
		}
		value, open, err := fill(h.Value, values)
		if err != nil {
			return fmt.Errorf("header %s: %w", h.Name, err)
		}
		r.open = r.open || open
		r.headers = append(r.headers, assay.Header{Name: h.Name, Value: value})
	}
	add := func(name, value string) {
		if !has(name) {
			r.headers = append(r.headers, assay.Header{Name: name, Value: assay.ParseTemplate(value)})
		}
	}
	add("Host", r.parsed.Host)
	add("User-Agent", "assay")
	if user := r.parsed.User; user != nil {
		password, _ := user.Password()
		add("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	return nil
}

// finishOnce puts the whole request together for each body, if no operation differs from another.
func (r *request) finishOnce() error {
	for i := range r.payloads.bodies {
		b := &r.payloads.bodies[i]
		message, err := r.appendMessage(nil, b, 0)
		if err != nil {
			return err
		}
		if !r.open && !b.open {
			r.whole = append(r.whole, message)
		}
	}
	if len(r.whole) != len(r.payloads.bodies) {
		r.whole = nil
	}
	return nil
}

// message is the bytes of one operation, in buffer where they have to be put together.
func (r *request) message(buffer []byte, index int64) ([]byte, error) {
	b, i := r.payloads.of(index)
	if r.whole != nil {
		return r.whole[i], nil
	}
	return r.appendMessage(buffer[:0], b, index)
}

// target is the request target of one operation: path and query.
func (r *request) target(index int64) (string, error) {
	if !r.open {
		return r.parsed.RequestURI(), nil
	}
	text, err := expand(r.url, index)
	if err != nil {
		return "", err
	}
	u, err := parseURL(text)
	if err != nil {
		return "", err
	}
	if u.Host != r.parsed.Host || u.Scheme != r.parsed.Scheme {
		return "", fmt.Errorf("url %q: {operation} may change path and query, not the host", text)
	}
	return u.RequestURI(), nil
}

func (r *request) appendMessage(m []byte, b *body, index int64) ([]byte, error) {
	target, err := r.target(index)
	if err != nil {
		return nil, err
	}
	content, err := b.content(index)
	if err != nil {
		return nil, err
	}
	m = append(m, r.method...)
	m = append(m, ' ')
	m = append(m, target...)
	m = append(m, " HTTP/1.1\r\n"...)
	for _, h := range r.headers {
		value, err := expand(h.Value, index)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			return nil, fmt.Errorf("header %s: value %q: want one line", h.Name, value)
		}
		m = append(m, h.Name...)
		m = append(m, ": "...)
		m = append(m, value...)
		m = append(m, "\r\n"...)
	}
	if len(content) > 0 || r.method == "POST" || r.method == "PUT" || r.method == "PATCH" {
		m = append(m, "Content-Length: "...)
		m = strconv.AppendInt(m, int64(len(content)), 10)
		m = append(m, "\r\n"...)
	}
	if r.close {
		m = append(m, "Connection: close\r\n"...)
	}
	m = append(m, "\r\n"...)
	return append(m, content...), nil
}
