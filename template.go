package assay

import (
	"fmt"
	"strings"
)

// A Template is a string in which {identifier} stands for the value of a factor, a derived name or
// a built-in. {{ and }} are literal braces, and so is any brace around something that is not one
// bare identifier: {"a":{"b":1}}, ${X} and \d{3} stay as they are. The zero Template is the empty string.
type Template struct {
	parts []part
}

type part struct {
	text string
	name bool
}

// ParseTemplate splits s into its literal and its named parts. It cannot fail. A }} closes the {{ that
// is open; where a single { is open instead, as in {"a":{"b":1}}, it is two single braces.
func ParseTemplate(s string) Template {
	var t Template
	var lit strings.Builder
	var open []string // braces that are not closed yet: "{" or "{{"
	flush := func() {
		if lit.Len() > 0 {
			t.parts = append(t.parts, part{text: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(s); {
		if name := bareName(s, i); name != "" {
			flush()
			t.parts = append(t.parts, part{text: name, name: true})
			i += len(name) + 2
			continue
		}
		lit.WriteByte(s[i])
		var read int
		read, open = brace(s[i:], open)
		i += read
	}
	flush()
	return t
}

// bareName is the identifier in braces that starts at s[i]; empty if there is none.
func bareName(s string, i int) string {
	if s[i] != '{' || i > 0 && s[i-1] == '$' {
		return ""
	}
	end := strings.IndexByte(s[i:], '}')
	if end <= 0 || !IsIdent(s[i+1:i+end]) {
		return ""
	}
	return s[i+1 : i+end]
}

// brace is how many bytes stand for the one literal byte at the start of s, and which braces are open
// behind it.
func brace(s string, open []string) (read int, after []string) {
	top := ""
	if n := len(open); n > 0 {
		top = open[n-1]
	}
	switch {
	case strings.HasPrefix(s, "{{"):
		return 2, append(open, "{{")
	case s[0] == '{':
		return 1, append(open, "{")
	case strings.HasPrefix(s, "}}") && top == "{{":
		return 2, open[:len(open)-1]
	case s[0] == '}' && top == "{":
		return 1, open[:len(open)-1]
	case strings.HasPrefix(s, "}}"):
		return 2, open
	}
	return 1, open
}

// Names are the identifiers that t needs, in order of appearance, with repetitions.
func (t Template) Names() []string {
	var names []string
	for _, p := range t.parts {
		if p.name {
			names = append(names, p.text)
		}
	}
	return names
}

// Fill replaces the names that values holds and leaves the others to a later Fill or Expand.
func (t Template) Fill(values map[string]string) Template {
	out := Template{parts: make([]part, len(t.parts))}
	for i, p := range t.parts {
		if v, ok := values[p.text]; ok && p.name {
			p = part{text: v}
		}
		out.parts[i] = p
	}
	return out
}

// Expand replaces every name; one that values lacks is an error.
func (t Template) Expand(values map[string]string) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		if !p.name {
			b.WriteString(p.text)
			continue
		}
		v, ok := values[p.text]
		if !ok {
			return "", fmt.Errorf("expand {%s}: no such factor, derived name or built-in", p.text)
		}
		b.WriteString(v)
	}
	return b.String(), nil
}

// IsZero reports whether t is the empty string.
func (t Template) IsZero() bool { return len(t.parts) == 0 }

// String is t in the file's notation; ParseTemplate reads it back.
func (t Template) String() string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.name {
			b.WriteString("{" + p.text + "}")
			continue
		}
		b.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(p.text))
	}
	return b.String()
}
