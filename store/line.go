package store

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/assaybench/assay"
)

// A lineReader decodes lines of trials.jsonl. The form in which this package writes them is read
// directly, and names that recur are kept once: a folder of 100,000 trials takes a third of the time
// and half of the memory that encoding/json needs. Whatever else JSON allows is left to encoding/json,
// so that there is one meaning of a line and not two; a test holds the two against each other.
type lineReader struct {
	b     []byte
	i     int
	names map[string]string
}

// decode decodes one line.
func (r *lineReader) decode(line []byte, t *assay.Trial) error {
	r.b, r.i = line, 0
	if r.trial(t) && r.i == len(line) {
		return nil
	}
	*t = assay.Trial{}
	return json.Unmarshal(line, t)
}

// trial reads an object of known keys; false leaves the line to encoding/json.
func (r *lineReader) trial(t *assay.Trial) bool {
	return r.object(func(key string) bool {
		switch key {
		case "trial":
			return r.integer(&t.Trial)
		case "block":
			return r.integer(&t.Block)
		case "position":
			return r.integer(&t.Position)
		case "exit":
			return r.integer(&t.Exit)
		case "warmup":
			return r.boolean(&t.Warmup)
		case "valid":
			return r.boolean(&t.Valid)
		case "session":
			return r.text(&t.Session)
		case "registration":
			return r.text(&t.Registration)
		case "outcome":
			return r.text((*string)(&t.Outcome))
		case "signal":
			return r.text(&t.Signal)
		case "output_sha256":
			return r.text(&t.OutputSHA256)
		case "executable_sha256":
			return r.text(&t.ExecutableSHA256)
		case "prev":
			raw, ok := r.plain()
			t.Prev = string(raw)
			return ok
		case "cell":
			return r.cell(&t.Cell)
		case "measures":
			return r.values(&t.Measures)
		case "achieved":
			return r.values(&t.Achieved)
		case "void_by":
			return r.other(&t.VoidBy, func() { t.VoidBy = []string{} })
		case "refused_by":
			return r.other(&t.RefusedBy, func() { t.RefusedBy = []string{} })
		case "notes":
			return r.other(&t.Notes, func() { t.Notes = []string{} })
		case "gates":
			return r.other(&t.Gates, func() { t.Gates = []assay.GateReading{} })
		case "started_at":
			return r.other(&t.StartedAt, func() {})
		}
		return false
	})
}

// object reads {"key":value,…}; member reads the value of a key.
func (r *lineReader) object(member func(key string) bool) bool {
	if !r.take('{') {
		return false
	}
	if r.take('}') {
		return true
	}
	for {
		key, ok := r.plain()
		if !ok || !r.take(':') || !member(r.name(key)) {
			return false
		}
		if r.take('}') {
			return true
		}
		if !r.take(',') {
			return false
		}
	}
}

func (r *lineReader) cell(c *assay.Cell) bool {
	if *c != nil {
		return false // a key that stands twice
	}
	*c = assay.Cell{}
	return r.object(func(key string) bool {
		var level string
		ok := r.text(&level)
		(*c)[key] = level
		return ok
	})
}

func (r *lineReader) values(m *map[string]assay.Value) bool {
	if *m != nil {
		return false
	}
	*m = make(map[string]assay.Value, 8)
	return r.object(func(key string) bool {
		var v assay.Value
		if r.i < len(r.b) && r.b[r.i] == '"' {
			v.IsText = true
			ok := r.text(&v.Text)
			(*m)[key] = v
			return ok
		}
		start := r.i
		if !r.number() {
			return false
		}
		x, err := strconv.ParseFloat(string(r.b[start:r.i]), 64)
		v.Number = x
		(*m)[key] = v
		return err == nil
	})
}

// other leaves a value to encoding/json, an empty list apart.
func (r *lineReader) other(to any, empty func()) bool {
	if r.i+1 < len(r.b) && r.b[r.i] == '[' && r.b[r.i+1] == ']' {
		r.i += 2
		empty()
		return true
	}
	start := r.i
	return r.skip() && json.Unmarshal(r.b[start:r.i], to) == nil
}

// skip passes over a string or a list.
func (r *lineReader) skip() bool {
	depth := 0
	for r.i < len(r.b) {
		c := r.b[r.i]
		r.i++
		switch c {
		case '"':
			for r.i < len(r.b) && r.b[r.i] != '"' {
				if r.b[r.i] == '\\' {
					r.i++
				}
				r.i++
			}
			r.i++
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth == 0 {
			return r.i <= len(r.b)
		}
	}
	return false
}

func (r *lineReader) take(c byte) bool {
	if r.i < len(r.b) && r.b[r.i] == c {
		r.i++
		return true
	}
	return false
}

// plain is a string of printable ASCII without escapes.
func (r *lineReader) plain() ([]byte, bool) {
	if !r.take('"') {
		return nil, false
	}
	start := r.i
	for r.i < len(r.b) {
		c := r.b[r.i]
		r.i++
		switch {
		case c == '"':
			return r.b[start : r.i-1], true
		case c == '\\' || c < ' ' || c > '~':
			return nil, false
		}
	}
	return nil, false
}

func (r *lineReader) text(to *string) bool {
	raw, ok := r.plain()
	*to = r.name(raw)
	return ok
}

// name is raw as a string that is shared with all equal ones.
func (r *lineReader) name(raw []byte) string {
	const most = 1 << 14 // texts that never recur are not worth keeping
	if s, ok := r.names[string(raw)]; ok {
		return s
	}
	s := string(raw)
	if len(r.names) < most {
		r.names[s] = s
	}
	return s
}

func (r *lineReader) boolean(to *bool) bool {
	rest := r.b[r.i:]
	switch {
	case bytes.HasPrefix(rest, []byte("true")):
		*to = true
		r.i += len("true")
	case bytes.HasPrefix(rest, []byte("false")):
		*to = false
		r.i += len("false")
	default:
		return false
	}
	return true
}

func (r *lineReader) integer(to *int) bool {
	start := r.i
	if !r.number() {
		return false
	}
	n, err := strconv.Atoi(string(r.b[start:r.i]))
	*to = n
	return err == nil
}

// number passes over a number as RFC 8259, section 6, has it.
func (r *lineReader) number() bool {
	r.take('-')
	if !r.take('0') && !r.digits() {
		return false
	}
	if r.take('.') && !r.digits() {
		return false
	}
	if r.take('e') || r.take('E') {
		if !r.take('+') {
			r.take('-')
		}
		return r.digits()
	}
	return true
}

func (r *lineReader) digits() bool {
	start := r.i
	for r.i < len(r.b) && r.b[r.i] >= '0' && r.b[r.i] <= '9' {
		r.i++
	}
	return r.i > start
}
