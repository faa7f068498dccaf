package spec

import (
	"regexp"
	"strings"
)

// A span is a value in the source of a file that is not valid YAML, as a person would see it.
type span struct {
	line       int // index into the lines
	start, end int // bytes of the line
	flow       bool
	text       string
}

// A scanner finds the values line by line, without minding whether they are valid. It follows what
// was meant: {rate}/s is one text to it, although it is none to YAML.
type scanner struct {
	lines []string
	spans []span
	open  []bracket
	block int // indentation of the key whose block text is going on; -1: none
	quote byte
	// unclosed are the brackets that are still open where a line must be outside of them.
	unclosed []bracket
}

// A bracket is one that was opened.
type bracket struct {
	line, column int
	closer       string
	until        int // the line before which it ought to have been closed
}

var (
	blockKey    = regexp.MustCompile(`^("[^"]*"|'[^']*'|[^\s"'#\[{][^#"'\[{]*?):(\s+|$)`)
	blockHeader = regexp.MustCompile(`^[>|][+-]?[0-9]?[+-]?$`)
	bareName    = regexp.MustCompile(`^\{[A-Za-z_][A-Za-z0-9_]*\}`)
)

func scan(lines []string) *scanner {
	s := &scanner{lines: lines, block: -1}
	for i := range lines {
		s.line(i)
	}
	return s
}

var wholeKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*:(\s|$)`)

// giveUp forgets the open brackets where the line cannot be within them: a key that stands no deeper
// than the line on which the first one was opened.
func (s *scanner) giveUp(i, indent int) {
	if len(s.open) == 0 || s.quote != 0 || !wholeKey.MatchString(s.lines[i][indent:]) {
		return
	}
	first := s.lines[s.open[0].line]
	if indent > len(first)-len(strings.TrimLeft(first, " \t")) {
		return
	}
	for _, b := range s.open {
		b.until = i
		s.unclosed = append(s.unclosed, b)
	}
	s.open = nil
}

func (s *scanner) line(i int) {
	text := s.lines[i]
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	blank := indent == len(text)
	if s.block >= 0 && (blank || indent > s.block) {
		return
	}
	s.block = -1
	s.giveUp(i, indent)
	switch {
	case s.quote != 0:
		if at := closing(text, 0, s.quote); at >= 0 {
			s.quote = 0
			if len(s.open) > 0 {
				s.inFlow(i, at)
			}
		}
	case len(s.open) > 0:
		s.inFlow(i, indent)
	case !blank && text[indent] != '#':
		s.inBlock(i, indent)
	}
}

// inBlock looks at a line outside of brackets, from at on.
func (s *scanner) inBlock(i, at int) {
	text := s.lines[i]
	indent := at
	for strings.HasPrefix(text[at:], "- ") {
		at += 2
		for at < len(text) && text[at] == ' ' {
			at++
		}
	}
	if m := blockKey.FindString(text[at:]); m != "" {
		at += len(m)
	}
	end := uncommented(text, at)
	value := text[at:end]
	switch {
	case value == "":
	case blockHeader.MatchString(value):
		s.block = indent
	case value[0] == '"' || value[0] == '\'':
		if closing(text, at+1, value[0]) < 0 {
			s.quote = value[0]
			return
		}
		s.add(i, at, end, false)
	case value[0] == '[', value[0] == '{' && !startsWithName(value):
		s.inFlow(i, at)
	default:
		s.add(i, at, end, false)
	}
}

// startsWithName reports whether value is {name} with more text behind it: a substitution that
// somebody forgot to quote.
func startsWithName(value string) bool {
	m := bareName.FindString(value)
	rest := strings.TrimLeft(value[len(m):], " ")
	return m != "" && rest != "" && !strings.ContainsRune(",]}#", rune(rest[0]))
}

func (s *scanner) add(i, start, end int, flow bool) {
	s.spans = append(s.spans, span{line: i, start: start, end: end, flow: flow, text: s.lines[i][start:end]})
}

// inFlow looks at a line from at on, inside of brackets or at the first one.
func (s *scanner) inFlow(i, at int) {
	text := s.lines[i]
	for at < len(text) {
		c := text[at]
		switch {
		case c == '#' && (at == 0 || text[at-1] == ' '):
			return
		case c == ' ' || c == ',' || c == '\t':
			at++
		case c == ']' || c == '}':
			at++
			if s.open = s.open[:max(0, len(s.open)-1)]; len(s.open) == 0 {
				return
			}
		case c == '[' || c == '{' && !startsWithName(text[at:]):
			s.open = append(s.open, bracket{line: i, column: at, closer: map[byte]string{'[': "]", '{': "}"}[c]})
			at++
		default:
			if at = s.flowValue(i, at); at < 0 {
				return
			}
		}
	}
}

// flowValue takes one key or value and gives the place behind it; -1 where a quote goes on.
func (s *scanner) flowValue(i, at int) int {
	text := s.lines[i]
	if c := text[at]; c == '"' || c == '\'' {
		end := closing(text, at+1, c)
		if end < 0 {
			s.quote = c
			return -1
		}
		if rest := strings.TrimLeft(text[end:], " "); rest == "" || strings.ContainsRune(",]}:#", rune(rest[0])) {
			s.add(i, at, end, true)
			if strings.HasPrefix(rest, ":") {
				s.spans = s.spans[:len(s.spans)-1] // a key
				return len(text) - len(rest) + 1
			}
			return end
		}
	}
	end, nested := at, 0
	for ; end < len(text); end++ {
		c := text[end]
		switch {
		case c == '{' || c == '[':
			nested++
		case (c == '}' || c == ']') && nested > 0:
			nested--
		case c == ',' && nested == 0, c == '}', c == ']', c == '#' && text[end-1] == ' ':
			s.add(i, at, trimmed(text, at, end), true)
			return end
		case c == ':' && nested == 0 && strings.HasPrefix(text[end:], ": ") && !strings.Contains(text[at:end], " "):
			return end + 2 // a key
		}
	}
	s.add(i, at, trimmed(text, at, end), true)
	return end
}

func trimmed(text string, at, end int) int {
	return at + len(strings.TrimRight(text[at:end], " \t"))
}

// closing is the place behind the quote that ends the text starting at from; -1 if there is none.
func closing(text string, from int, quote byte) int {
	for i := from; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return -1
}

// uncommented is the end of the value that starts at from: before a comment and trailing spaces.
func uncommented(text string, from int) int {
	end := len(text)
	var quote byte
	for i := from; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == 0 && (c == '"' || c == '\'') && i == from:
			quote = c
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && c == '#' && (i == from || text[i-1] == ' ' || text[i-1] == '\t'):
			end = i
		}
		if end < len(text) {
			break
		}
	}
	return trimmed(text, from, end)
}
