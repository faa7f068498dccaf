package assay

import (
	"fmt"
	"strings"
)

// A Template is a string in which {identifier} stands for the value of a factor, a derived name or
// a built-in. {{ and }} are literal braces, and so is any brace around something that is not one
// bare identifier: {"a":1}, ${X} and \d{3} stay as they are. The zero Template is the empty string.
type Template struct {
	parts []part
}

type part struct {
	text string
	name bool
}

// ParseTemplate splits s into its literal and its named parts. It cannot fail.
func ParseTemplate(s string) Template {
	var t Template
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			t.parts = append(t.parts, part{text: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "{{"), strings.HasPrefix(s[i:], "}}"):
			lit.WriteByte(s[i])
			i += 2
		case s[i] == '{' && (i == 0 || s[i-1] != '$'):
			end := strings.IndexByte(s[i:], '}')
			if end > 0 && IsIdent(s[i+1:i+end]) {
				flush()
				t.parts = append(t.parts, part{text: s[i+1 : i+end], name: true})
				i += end + 1
				continue
			}
			fallthrough
		default:
			lit.WriteByte(s[i])
			i++
		}
	}
	flush()
	return t
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
