package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const digested = `experiment: e
factors:
  reader: [readfile, stream]
  size: [0.10, 64k]
command: ./x {reader} {size}
gates: ["load1 < 4"]
kill:
  - {when: "cpu(command) > 2 over 5s"}
hypotheses:
  H1: {claim: One, value: wall, expect: "< 1s"}
`

func TestDigestIgnoresForm(t *testing.T) {
	want, err := Digest([]byte(digested))
	if err != nil || len(want) != 64 {
		t.Fatalf("Digest = %q, %v", want, err)
	}
	for name, same := range map[string]string{
		"comments":        "# why\n" + strings.ReplaceAll(digested, "factors:", "factors: # what varies"),
		"spacing":         strings.ReplaceAll(digested, "[0.10, 64k]", "[ 0.10,   64k ]\n\n"),
		"quoting":         strings.NewReplacer("[readfile", "['readfile'", "0.10", `"0.10"`, `"< 1s"`, "< 1s").Replace(digested),
		"block style":     strings.Replace(digested, "reader: [readfile, stream]", "reader:\n    - readfile\n    - stream", 1),
		"flow style":      strings.Replace(digested, "kill:\n  - {when: \"cpu(command) > 2 over 5s\"}", "kill: [{when: \"cpu(command) > 2 over 5s\"}]", 1),
		"line ends":       strings.ReplaceAll(digested, "\n", "\r\n"),
		"byte order mark": "\ufeff" + digested,
		"order of keys":   strings.Replace(digested, "{claim: One, value: wall,", "{value: wall, claim: One,", 1),
	} {
		if got, err := Digest([]byte(same)); got != want || err != nil {
			t.Errorf("%s change the digest to %s (%v)", name, got, err)
		}
	}
}

func TestDigestAndChangesSeeMeaning(t *testing.T) {
	before, err := Digest([]byte(digested))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		old, new string
		want     []string
	}{
		{"< 1s", "< 2s", []string{"hypotheses.H1.expect"}},
		{"readfile, stream", "stream, readfile", []string{"factors.reader"}},
		{"0.10, 64k", "0.1, 64k", []string{"factors.size"}},
		{"over 5s", "over 6s", []string{"kill[0].when"}},
		{"load1 < 4", "load1 < 5", []string{"gates"}},
		{"claim: One", "claim: Two", []string{"hypotheses.H1.claim"}},
		{"experiment: e\n", "experiment: e\nblocks: 12\n", []string{"blocks"}},
		{"  reader: [readfile, stream]\n  size: [0.10, 64k]\n", "  size: [0.10, 64k]\n  reader: [readfile, stream]\n", []string{"factors"}},
		{"  H1: {claim: One, value: wall, expect: \"< 1s\"}", "  H2: {claim: One, value: wall, expect: \"< 1s\"}", []string{"hypotheses.H1", "hypotheses.H2"}},
		{`["load1 < 4"]`, `["load1 < 4", "temp < 80"]`, []string{"gates"}},
	} {
		changed := strings.Replace(digested, c.old, c.new, 1)
		if changed == digested {
			t.Fatalf("%q is not in the file", c.old)
		}
		if after, err := Digest([]byte(changed)); after == before || err != nil {
			t.Errorf("%q for %q does not change the digest (%v)", c.new, c.old, err)
		}
		got, err := Changes([]byte(digested), []byte(changed))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("Changes(%q for %q) (-want +got), %v:\n%s", c.new, c.old, err, diff)
		}
	}
	if got, err := Changes([]byte(digested), []byte("# same\n"+digested)); len(got) > 0 || err != nil {
		t.Errorf("Changes of a comment = %v, %v", got, err)
	}
	if _, err := Digest([]byte("a: [")); err == nil {
		t.Error("Digest of broken YAML is fine")
	}
}
