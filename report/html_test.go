package report

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func htmlOf(t *testing.T, f Findings) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHTMLGolden(t *testing.T) {
	golden(t, "inflight.html", htmlOf(t, inflight(12)))
	golden(t, "every.html", htmlOf(t, every()))
}

func TestHTMLSameBytes(t *testing.T) {
	for _, f := range []func() Findings{func() Findings { return inflight(12) }, every, hostile} {
		if !bytes.Equal(htmlOf(t, f()), htmlOf(t, f())) {
			t.Error("two pages of the same findings differ")
		}
	}
}

var _ = html.Parse
var _ = strings.Contains
