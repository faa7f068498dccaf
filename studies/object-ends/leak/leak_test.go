package leak

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func peer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte{1}) }))
	t.Cleanup(server.Close)
	return server.URL
}

// The tidy client reads as often as one likes; the leaking one has room for one pass and a half.
func TestSecondPass(t *testing.T) {
	const files, pool = 60, 90
	url := peer(t)
	for _, leaks := range []bool{false, true} {
		c := NewClient(url, pool, leaks)
		defer c.Close()
		first, err := c.Pass(t.Context(), files, func(int) {})
		if err != nil || first.Files != files {
			t.Fatalf("leaks %t: first pass read %d files, %v", leaks, first.Files, err)
		}
		if want := map[bool]int{false: 0, true: files}[leaks]; first.Forgotten != want {
			t.Errorf("leaks %t: %d connections forgotten, want %d", leaks, first.Forgotten, want)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if !leaks {
			ctx = t.Context()
		}
		second, err := c.Pass(ctx, files, func(int) {})
		if hung := errors.Is(err, context.DeadlineExceeded); hung != leaks {
			t.Errorf("leaks %t: second pass read %d files, %v", leaks, second.Files, err)
		}
	}
}

func TestPassTellsProgress(t *testing.T) {
	c := NewClient(peer(t), 100, false)
	defer c.Close()
	server := httptest.NewServer(c)
	defer server.Close()
	var out bytes.Buffer
	if err := Command(t.Context(), []string{"pass", "--at", server.URL, "--files", "100"}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || lines[0] != "progress files=50" || !strings.Contains(lines[2], `"files":100`) {
		t.Errorf("got lines %q", lines)
	}
}

func TestCommandRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"read"}, {"serve", "--client", "clean"}} {
		if err := Command(t.Context(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("Command(%q) was taken", args)
		}
	}
}
