package spec

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// A fault is what is wrong with one value, and what it should have been. Without an instead it can
// only be reported.
type fault struct {
	message string
	instead string
}

// mend explains what is wrong with a file that is not YAML. Faults whose right form is certain are
// mended, so that the rest of the file can be read too.
func (r *reader) mend(err error) (*yaml.Node, error) {
	lines := slices.Clone(r.lines)
	found := r.mendIndents(lines)
	scanned := scan(r.lines)
	for _, b := range scanned.unclosed {
		found = true
		r.in(b.line+1, column(r.lines[b.line], b.column), "", "this bracket is not closed; a %s is missing before line %d", b.closer, b.until+1)
	}
	for _, s := range scanned.spans {
		f := faultOf(s)
		if f.message == "" {
			continue
		}
		if r.full() {
			break // and give up mending
		}
		found = true
		r.in(s.line+1, column(r.lines[s.line], s.start), f.instead, "%s", f.message)
		r.replace(lines, s, f.instead)
	}
	found = r.mendColons(lines) || found
	for _, b := range slices.Backward(scanned.unclosed) {
		lines[b.until-1] += b.closer
	}
	if !found {
		r.explain(err)
		return nil, err
	}
	doc, err := load([]byte(strings.Join(lines, "\n")))
	if err != nil && len(r.mistakes) == 0 {
		r.explain(err)
	}
	return doc, err
}

func column(line string, offset int) int {
	return utf8.RuneCountInString(line[:min(offset, len(line))]) + 1
}

// replace puts instead in the place of a span. Spans of one line come from left to right, so what
// was put in before shifts the place.
func (r *reader) replace(lines []string, s span, instead string) {
	if instead == "" {
		return
	}
	by := len(lines[s.line]) - len(r.lines[s.line])
	line := lines[s.line]
	lines[s.line] = line[:s.start+by] + instead + line[s.end+by:]
	more := utf8.RuneCountInString(instead) - utf8.RuneCountInString(s.text)
	r.moved = append(r.moved, shift{s.line + 1, column(line, s.start+by), more})
}

// mendIndents reports tabs in the indentation.
func (r *reader) mendIndents(lines []string) bool {
	found, before := false, -2
	for i, text := range lines {
		indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		if !strings.Contains(indent, "\t") || indent == text {
			continue
		}
		if before != i-1 { // one mistake for lines that follow each other
			r.in(i+1, strings.Index(indent, "\t")+1, "", "a tab in the indentation; YAML wants spaces")
		}
		found, before = true, i
		r.moved = append(r.moved, shift{i + 1, 0, strings.Count(indent, "\t")})
		lines[i] = strings.ReplaceAll(indent, "\t", "  ") + text[len(indent):]
	}
	return found
}

var gluedKey = regexp.MustCompile(`^(\s*(?:- )?)([A-Za-z_][A-Za-z0-9_]*):([^\s/:][^:]*)$`)

// mendColons reports keys with no space behind the colon, on lines of their own.
func (r *reader) mendColons(lines []string) bool {
	found := false
	for i, text := range lines {
		m := gluedKey.FindStringSubmatch(text)
		if m == nil || strings.HasPrefix(strings.TrimSpace(text), "#") {
			continue
		}
		found = true
		r.in(i+1, column(text, len(m[1])), m[2]+": "+m[3], "%q: a space is missing after the colon", strings.TrimSpace(text))
		lines[i] = m[1] + m[2] + ": " + m[3]
		r.moved = append(r.moved, shift{i + 1, column(text, len(m[1]+m[2])), 1})
	}
	return found
}

var (
	badEscape = regexp.MustCompile(`\\[^0abt\tnvfre "/\\N_LPxuU]`)
	laterKey  = regexp.MustCompile(`\s([A-Za-z_][A-Za-z0-9_]*): `)
)

// faultOf says what is wrong with a value, if anything is.
func faultOf(s span) fault {
	v := s.text
	switch first := v[0]; {
	case first == '"' || first == '\'':
		return quotedFault(v, first)
	case first == '>' || first == '|':
		return fault{"YAML reads " + v[:1] + " at the start of a value as the start of a block of text; put the value in quotes", double(v)}
	case startsWithName(v):
		return fault{"YAML reads " + bareName.FindString(v) + " at the start of a value as keys with values; put the value in quotes", double(v)}
	case first == '@' || first == '`' || first == '%':
		return fault{"a value cannot start with " + v[:1] + " in YAML; put it in quotes", double(v)}
	case first == '*' || first == '&' || first == '!':
		return fault{"a value that starts with " + v[:1] + " means something else in YAML (an alias, an anchor or a tag); put it in quotes", double(v)}
	case strings.HasPrefix(v, "- ") && !s.flow:
		return fault{"a list cannot start behind a key; put its elements on lines of their own, or write it in brackets", "[" + v[2:] + "]"}
	case s.flow && strings.ContainsAny(v, "{}[]"):
		return fault{"braces and brackets inside of [ ] or { } end a text in YAML; put the value in quotes", double(v)}
	case strings.Contains(v, ": ") || strings.HasSuffix(v, ":"):
		if m := laterKey.FindStringSubmatchIndex(v); m != nil && s.flow {
			return fault{"a comma is missing before " + v[m[2]:m[3]] + ":", strings.TrimRight(v[:m[0]], " ") + ", " + v[m[2]:]}
		}
		return fault{"YAML reads a colon with a space behind it as a key; put a value with a colon in quotes", double(v)}
	}
	return fault{}
}

func quotedFault(v string, quote byte) fault {
	end := closing(v, 1, quote)
	switch {
	case end > 0 && end < len(v) && quote == '\'':
		return fault{"the text goes on behind the closing quote; an apostrophe inside of '…' is written twice, or use \"…\"", double(strings.Trim(v, "'"))}
	case end > 0 && end < len(v):
		return fault{"the text goes on behind the closing quote; put all of it in quotes", "'" + strings.ReplaceAll(v, "'", "''") + "'"}
	case quote == '"' && badEscape.MatchString(strings.ReplaceAll(v, `\\`, "")):
		inner := v[1 : len(v)-1]
		return fault{badEscape.FindString(strings.ReplaceAll(v, `\\`, "")) + " is not known inside of \"…\"; use single quotes, in which \\ is an ordinary character",
			"'" + strings.ReplaceAll(inner, "'", "''") + "'"}
	}
	return fault{}
}

// double is s in double quotes, or in single ones where it holds what double quotes give a meaning.
func double(s string) string {
	if strings.ContainsAny(s, `\"`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return `"` + s + `"`
}

// explain says in plain words what the YAML reader did not like.
func (r *reader) explain(err error) {
	var e *yaml.LoadError
	if !errors.As(err, &e) || e.Mark.Line < 1 {
		r.explainWhole(err)
		return
	}
	at, start := e.Mark, e.ContextMark
	text := ""
	if at.Line >= 1 && at.Line <= len(r.lines) {
		text = strings.TrimSpace(r.lines[at.Line-1])
	}
	has := func(s string) bool { return strings.Contains(e.Message, s) }
	switch {
	case has("expected ',' or ']'"), has("expected ',' or '}'"):
		open := e.Message[len(e.Message)-2 : len(e.Message)-1]
		r.in(start.Line, start.Column, "", "this bracket is not closed: a %s or a comma is missing at the latest on line %d", open, at.Line)
	case has("unexpected end of stream"), has("unexpected document indicator"):
		r.in(start.Line, start.Column, "", "the quote that starts here is not closed")
	case has("mapping values are not allowed"):
		r.in(at.Line, indentOf(r.lines, at.Line), "", "the indentation does not fit: keys that belong together start in the same column, and a key with a value has none below it")
	case has("expected key") && strings.HasPrefix(text, "-"):
		r.in(at.Line, at.Column, "", "an element of a list stands beside a key; indent it below the key that it belongs to")
	case has("expected key"):
		r.in(at.Line, at.Column, "", "the indentation does not fit: keys that belong together start in the same column")
	case has("expected '-' indicator"):
		r.in(at.Line, at.Column, "", "a key stands beside the elements of a list; indent it, or put it before them")
	case has("expected node content"):
		r.in(at.Line, at.Column, "", "a value is missing here, or a comma or bracket is too many")
	case has("could not find expected ':'"):
		r.in(start.Line, start.Column, "", "want key: value; the colon is missing")
	case has("block sequence entries are not allowed"):
		r.in(at.Line, at.Column, "", "a list cannot start here; put its elements on lines of their own, or write it in brackets")
	case has("incompatible YAML document"), has("%YAML"):
		r.in(at.Line, at.Column, "", "lines that start with %% give orders to YAML, which experiment files do not need; leave it out")
	default:
		r.in(at.Line, at.Column, "", "this is not YAML: %s", e.Message)
	}
}

// explainWhole is for errors without a place.
func (r *reader) explainWhole(err error) {
	if !strings.Contains(err.Error(), "found multiple") {
		r.in(1, 1, "", "this is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	for i, text := range r.lines {
		if i > 0 && (strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...")) {
			r.in(i+1, 1, "", "a second document starts here; an experiment file is one")
			return
		}
	}
	r.in(1, 1, "", "the file holds several documents; an experiment file is one")
}

// indentOf is the column of the first character of a line, counted from 1.
func indentOf(lines []string, line int) int {
	if line < 1 || line > len(lines) {
		return 1
	}
	text := lines[line-1]
	return len(text) - len(strings.TrimLeft(text, " ")) + 1
}
