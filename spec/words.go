package spec

import (
	"fmt"
	"slices"
	"strings"
)

// Words splits a command line by the quoting rules of the POSIX shell (IEEE Std 1003.1, Shell
// Command Language, section 2.2) and by nothing else: no variables, no wildcards, no operators. An
// operator of the shell that stands unquoted as a word of its own is an error, since the program
// would get it as an argument; so is a second line, which would be a second command.
func Words(s string) ([]string, error) {
	var list []string
	var word strings.Builder
	inWord, quoted := false, false
	flush := func() error {
		if !inWord {
			return nil
		}
		w := word.String()
		if !quoted && isShellOperator(w) {
			return fmt.Errorf("%s means nothing without a shell; add shell: true, or quote it if the program wants it", w)
		}
		list = append(list, w)
		word.Reset()
		inWord, quoted = false, false
		return nil
	}
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case ' ', '\t', '\n':
			if err := flush(); err != nil {
				return nil, err
			}
			if c == '\n' && len(list) > 0 && strings.TrimSpace(s[i:]) != "" {
				return nil, fmt.Errorf("a second line means nothing without a shell; add shell: true, or join the lines with > in place of |")
			}
			i++
		case '\'', '"':
			n, err := unquote(s[i:], &word)
			if err != nil {
				return nil, err
			}
			inWord, quoted = true, true
			i += n
		case '\\':
			if i+1 >= len(s) {
				return nil, fmt.Errorf("a backslash stands at the end")
			}
			if s[i+1] != '\n' { // a backslash before a line break joins the lines
				word.WriteByte(s[i+1])
				inWord, quoted = true, true
			}
			i += 2
		default:
			word.WriteByte(c)
			inWord = true
			i++
		}
	}
	return list, flush()
}

// unquote writes the quoted text at the start of s and gives its length with the quotes.
func unquote(s string, word *strings.Builder) (int, error) {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i + 1, nil
		case quote == '"' && s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0:
			i++
			if s[i] != '\n' {
				word.WriteByte(s[i])
			}
		default:
			word.WriteByte(s[i])
		}
	}
	return 0, fmt.Errorf("the quote %c is not closed", quote)
}

func isShellOperator(word string) bool {
	return slices.Contains([]string{"|", "||", "&", "&&", ";", "<", ">", ">>", "<<", "2>", "2>&1", ">&2", "&>", "|&"}, word)
}
