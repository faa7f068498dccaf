package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"\n  a  b\tc d \n ", []string{"a", "b", "c", "d"}},
		{`'a b' "c d" e\ f`, []string{"a b", "c d", "e f"}},
		{`a'b'"c"d`, []string{"abcd"}},
		{`'' ""`, []string{"", ""}},
		{`"\$x \"y\" \n \\"`, []string{`$x "y" \n \`}},
		{`'\n'`, []string{`\n`}},
		{"a\\\nb", []string{"ab"}},
		{`{"a":1} $HOME *.txt a|b`, []string{"{a:1}", "$HOME", "*.txt", "a|b"}},
		{`expr 1 '>' 2 \| 3`, []string{"expr", "1", ">", "2", "|", "3"}},
		{"{reader} {in flight}", []string{"{reader}", "{in", "flight}"}},
	} {
		got, err := Words(c.line)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Words(%q) = %q, %v, want %q", c.line, got, err, c.want)
		}
	}
	for line, want := range map[string]string{
		"a 'b": "not closed", `a "b`: "not closed", `a \`: "backslash", "a | b": "shell: true", "a > f": "shell: true", "a && b": "shell: true", "a\nb": "shell: true",
	} {
		if got, err := Words(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Words(%q) = %q, %v, want an error about %q", line, got, err, want)
		}
	}
}

func TestNearestNames(t *testing.T) {
	known := []string{"factors", "fixed", "hypotheses", "measures", "blocks", "kill"}
	for got, want := range map[string]string{
		"factor": "factors", "mesures": "measures", "hypothesis": "hypotheses", "bolcks": "blocks", "Fixed": "fixed", "zebra": "", "x": "",
	} {
		if name, ok := nearest(got, known); name != want || ok != (want != "") {
			t.Errorf("nearest(%q) = %q, %v, want %q", got, name, ok, want)
		}
	}
}
