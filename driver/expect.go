package driver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
	"github.com/theory/jsonpath"
)

// An expectation says which answers are right.
type expectation struct {
	status []int
	header string // in lower case; empty: not looked at
	value  assay.Template
	sha256 string
	path   *jsonpath.Path
	equals string
}

func newExpectation(e assay.HTTPExpect, values map[string]string) (expectation, error) {
	x := expectation{status: e.Status, header: strings.ToLower(e.Header.Name), sha256: strings.ToLower(e.SHA256), equals: e.Equals}
	var err error
	if x.value, _, err = fill(e.Header.Value, values); err != nil {
		return x, fmt.Errorf("expect header %s: %w", e.Header.Name, err)
	}
	if b, err := hex.DecodeString(x.sha256); err != nil || len(b) != 0 && len(b) != sha256.Size {
		return x, fmt.Errorf("expect sha256 %q: want 64 hexadecimal digits", e.SHA256)
	}
	if e.JSON != "" {
		path := e.JSON
		if !strings.HasPrefix(path, "$") {
			path = "$." + path
		}
		if x.path, err = jsonpath.Parse(path); err != nil {
			return x, fmt.Errorf("expect json %q: %w", e.JSON, err)
		}
	}
	return x, nil
}

// wantsBody reports whether the body has to be kept.
func (x *expectation) wantsBody() bool { return x.sha256 != "" || x.path != nil }

// right is nil if the answer is as expected. An answer of 429 or 503 that nobody expected says
// that the target sheds load, which is neither an error of the server nor a success.
func (x *expectation) right(status int, field func(string) (string, bool), body []byte, index int64) error {
	expected := status >= 200 && status < 300
	if len(x.status) > 0 {
		expected = slices.Contains(x.status, status)
	}
	switch {
	case expected:
	case status == 429 || status == 503:
		return load.Fail(load.Shed, fmt.Errorf("status %d", status))
	default:
		return load.Fail(load.Status, fmt.Errorf("status %d", status))
	}
	if x.header != "" {
		want, err := expand(x.value, index)
		if err != nil {
			return load.Fail(load.Wrong, err)
		}
		if got, ok := field(x.header); !ok || got != want {
			return load.Fail(load.Wrong, fmt.Errorf("header %s: got %.80q, want %q", x.header, got, want))
		}
	}
	return x.rightBody(body)
}

func (x *expectation) rightBody(body []byte) error {
	if x.sha256 != "" {
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != x.sha256 {
			return load.Fail(load.Wrong, fmt.Errorf("body of %d bytes: got sha256 %x, want %s", len(body), sum, x.sha256))
		}
	}
	if x.path == nil {
		return nil
	}
	var document any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // numbers keep their text
	if err := decoder.Decode(&document); err != nil {
		return load.Fail(load.Wrong, fmt.Errorf("body of %d bytes: read JSON: %w", len(body), err))
	}
	found := x.path.Select(document)
	if len(found) == 0 {
		return load.Fail(load.Wrong, fmt.Errorf("body: nothing at %s", x.path))
	}
	if x.equals != "" && fmt.Sprint(found[0]) != x.equals {
		return load.Fail(load.Wrong, fmt.Errorf("body: got %.80q at %s, want %q", fmt.Sprint(found[0]), x.path, x.equals))
	}
	return nil
}
