package assay

import (
	"fmt"
	"strconv"
	"strings"
)

// A ByteRange is a part of an object as HTTP writes it (RFC 9110, section 14.1.2), in bytes:
// FIRST-LAST with both included, FIRST- to the end, or -LENGTH for the end itself. The empty range is
// the whole object.
type ByteRange string

// ParseByteRange reads a range. The error says what is wrong with it.
func ParseByteRange(text string) (ByteRange, error) {
	from, to, ok := strings.Cut(text, "-")
	first, firstErr := strconv.ParseUint(from, 10, 62)
	last, lastErr := strconv.ParseUint(to, 10, 62)
	switch {
	case !ok, from != "" && firstErr != nil, to != "" && lastErr != nil, from == "" && lastErr != nil, from == "" && last == 0:
		return "", fmt.Errorf("range %q: want FIRST-LAST such as 0-65535, FIRST- or -LENGTH, in bytes", text)
	case from != "" && to != "" && last < first:
		return "", fmt.Errorf("range %q: it ends before it begins", text)
	}
	return ByteRange(text), nil
}

// Within is the first and the last byte of the range in an object of size bytes; what lies beyond the
// object's end is cut off. A range that was not parsed, and the empty one, are the whole object.
func (r ByteRange) Within(size int64) (first, last int64) {
	from, to, ok := strings.Cut(string(r), "-")
	first, _ = strconv.ParseInt(from, 10, 64)
	last, _ = strconv.ParseInt(to, 10, 64)
	switch {
	case !ok || from != "" && to == "":
		return first, size - 1
	case from == "":
		return max(0, size-last), size - 1
	}
	return first, min(last, size-1)
}
