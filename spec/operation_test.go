package spec

import (
	"strings"
	"testing"
)

// {operation} is known where an operation is described, and nowhere else.
func TestOperationIsKnownInRequests(t *testing.T) {
	for _, c := range []struct{ load, wrong string }{
		{`http: {url: "http://127.0.0.1/{operation}", headers: {X-Id: "{operation}"}, method: POST, body: {text: "{operation}"}}`, ""},
		{`http: {url: "http://127.0.0.1/{operations}"}`, "{operations} is no factor"},
		{`process: ./driver {operation}`, "{operation} is no factor"},
	} {
		_, err := Read("e.yaml", []byte("experiment: e\nfactors: {n: [1]}\nblocks: 6\nload:\n  "+c.load+"\n  rate: 1/s\n  for: 1s\nhypotheses:\n  H1: {claim: c, value: rate, expect: \"> 0\"}\n"), Host{})
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: got %v, want %q", c.load, err, c.wrong)
		}
	}
}
