package driver

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

// A head like the one before is taken as known: its fields must outlive the body that followed it, and
// one that differs in a byte must not be taken for it, though it is as long.
func TestAKnownHeadIsNotAnothersHead(t *testing.T) {
	var asked atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		word := "right"
		if asked.Add(1) == 4 {
			word = "wrong"
		}
		w.Header()["Date"] = nil // the same bytes every time
		w.Header().Set("Word", word)
		w.Write([]byte(strings.Repeat("x", 8<<10)))
	})
	s := serve(t, handler, nil, false)
	h := &assay.HTTPLoad{URL: assay.ParseTemplate(s.URL), Connections: 1}
	h.Expect.Header = assay.Header{Name: "Word", Value: assay.ParseTemplate("right")}
	d := open(t, assay.Load{HTTP: h})
	for i := range int64(6) {
		err := d.Do(t.Context(), load.NewOperation(i, 5*time.Second))
		var f *load.Failure
		switch wrong := errors.As(err, &f) && f.Class == load.Wrong; {
		case i == 3 && !wrong:
			t.Errorf("answer %d has another header: got %v, want it to be wrong", i+1, err)
		case i != 3 && err != nil:
			t.Errorf("answer %d: got %v", i+1, err)
		}
	}
	if n := d.Connections().Opened; n != 1 {
		t.Errorf("%d connections were opened, want 1", n)
	}
}
