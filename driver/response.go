package driver

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/assaybench/assay/load"
)

// maxHead bounds the status line and headers of an answer.
const maxHead = 1 << 20

// A head is what the generator needs to know of a status line and its headers (RFC 9112).
type head struct {
	status  int
	minor   int   // HTTP/1.minor
	length  int64 // Content-Length; -1: none
	chunked bool
	close   bool // the connection ends with this answer
	fields  []byte
}

// errHead marks what is no HTTP/1 head.
var errHead = errors.New("malformed answer")

// headEnd is the length of the head in b, its empty line included; 0 if it is not whole yet. from
// is how far an earlier call has looked.
func headEnd(b []byte, from int) int {
	for i := max(0, from-3); ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return 0
		}
		i += n + 1
		switch {
		case i < len(b) && b[i] == '\n':
			return i + 1
		case i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n':
			return i + 2
		}
	}
}

// parseHead reads a whole head, its empty line included. Lines end with CR LF or LF alone (RFC
// 9112, section 2.2).
func parseHead(b []byte) (head, error) {
	h := head{length: -1}
	line, rest := cutLine(b)
	if err := h.statusLine(line); err != nil {
		return h, err
	}
	h.close = h.minor == 0
	h.fields = rest
	var keepAlive, lengths, encodings = false, 0, 0
	for len(rest) > 0 {
		if line, rest = cutLine(rest); len(line) == 0 {
			break
		}
		name, value, err := cutField(line)
		if err != nil {
			return h, err
		}
		switch {
		case isName(name, "content-length"):
			n, err := parseLength(value)
			if err != nil || lengths > 0 && n != h.length {
				return h, fmt.Errorf("%w: content-length %q", errHead, value)
			}
			h.length, lengths = n, lengths+1
		case isName(name, "transfer-encoding"):
			if encodings++; encodings > 1 || !equalFold(value, "chunked") {
				return h, fmt.Errorf("%w: transfer-encoding %q, want chunked", errHead, value)
			}
		case isName(name, "connection"):
			h.close = h.close || hasToken(value, "close")
			keepAlive = keepAlive || hasToken(value, "keep-alive")
		}
	}
	if h.minor == 0 && keepAlive {
		h.close = false
	}
	// HTTP/1.0 has no transfer encodings; where both are named, chunked wins (RFC 9112, 6.3).
	if encodings > 0 && h.minor > 0 {
		h.chunked, h.length = true, -1
	}
	return h, nil
}

// statusLine reads "HTTP/1.1 200 OK"; the reason may be missing.
func (h *head) statusLine(line []byte) error {
	const prefix = "HTTP/1."
	ok := len(line) >= len(prefix)+5 && string(line[:len(prefix)]) == prefix && line[len(prefix)+1] == ' '
	if ok {
		h.minor = int(line[len(prefix)]) - '0'
		digits := line[len(prefix)+2:]
		ok = h.minor >= 0 && h.minor <= 9 && (len(digits) == 3 || digits[3] == ' ')
		for _, c := range digits[:3] {
			ok = ok && c >= '0' && c <= '9'
			h.status = h.status*10 + int(c) - '0'
		}
	}
	if !ok || h.status < 100 {
		return fmt.Errorf("%w: status line %.80q", errHead, line)
	}
	return nil
}

// bodiless reports whether an answer has no body whatever its headers say (RFC 9112, 6.3).
func (h *head) bodiless(method string) bool {
	return method == "HEAD" || h.status < 200 || h.status == 204 || h.status == 304
}

// field is the value of the first header of that name, in lower case.
func (h *head) field(lower string) (string, bool) {
	for rest := h.fields; len(rest) > 0; {
		var line []byte
		if line, rest = cutLine(rest); len(line) == 0 {
			break
		}
		if name, value, err := cutField(line); err == nil && isName(name, lower) {
			return string(value), true
		}
	}
	return "", false
}

// cutLine splits b after its first line; the line comes without its ending.
func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return b, nil
	}
	line, rest = b[:i], b[i+1:]
	if i > 0 && line[i-1] == '\r' {
		line = line[:i-1]
	}
	return line, rest
}

// cutField splits a header line. A name is a token; a line that continues another is refused, as
// obsolete folding must not come from a server (RFC 9112, 5.2).
func cutField(line []byte) (name, value []byte, err error) {
	i := bytes.IndexByte(line, ':')
	if i <= 0 {
		return nil, nil, fmt.Errorf("%w: header line %.80q", errHead, line)
	}
	for _, c := range line[:i] {
		if !tokenByte[c] {
			return nil, nil, fmt.Errorf("%w: header name %.80q", errHead, line[:i])
		}
	}
	value = bytes.Trim(line[i+1:], " \t")
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return nil, nil, fmt.Errorf("%w: header value %.80q", errHead, value)
		}
	}
	return line[:i], value, nil
}

// tokenByte tells which bytes a header name may have (RFC 9110, 5.6.2).
var tokenByte = func() (t [256]bool) {
	for c := '0'; c <= 'z'; c++ {
		t[c] = c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a'
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] = true
	}
	return t
}()

// isName compares a header name with one in lower case.
func isName(name []byte, lower string) bool {
	return len(name) == len(lower) && equalFold(name, lower)
}

// equalFold compares ASCII without regard to case; want is in lower case.
func equalFold(b []byte, want string) bool {
	if len(b) != len(want) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

// hasToken reports whether a comma-separated list holds a word.
func hasToken(list []byte, want string) bool {
	for len(list) > 0 {
		word, rest, _ := bytes.Cut(list, []byte(","))
		if equalFold(bytes.Trim(word, " \t"), want) {
			return true
		}
		list = rest
	}
	return false
}

// parseLength reads the digits of a Content-Length.
func parseLength(b []byte) (int64, error) {
	if len(b) == 0 || len(b) > 18 {
		return 0, errHead
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, errHead
		}
		n = n*10 + int64(c-'0')
	}
	return n, nil
}

// protocol is a failure to speak HTTP.
func protocol(err error) error { return load.Fail(load.Protocol, err) }
