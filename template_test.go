package assay

import "testing"

func TestTemplateKeepsBracesThatAreNobodysName(t *testing.T) {
	values := map[string]string{"n": "4", "reader": "stream"}
	for _, tt := range []struct{ text, want string }{
		{"--n={n}", "--n=4"},
		{`{"a":1}`, `{"a":1}`},
		{`{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{`{"a":{"b":{n}}}`, `{"a":{"b":4}}`},
		{`{"a":[{"b":{}},{"c":"{reader}"}]}`, `{"a":[{"b":{}},{"c":"stream"}]}`},
		{"{{n}}", "{n}"},
		{"{{{n}}}", "{4}"},
		{"${X} ${n}", "${X} ${n}"},
		{`\d{3}`, `\d{3}`},
		{"}}", "}"},
		{"{n}}}", "4}"},
	} {
		got, err := ParseTemplate(tt.text).Expand(values)
		if err != nil || got != tt.want {
			t.Errorf("%s expands to %s, %v; want %s", tt.text, got, err, tt.want)
		}
	}
}
