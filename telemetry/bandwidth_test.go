package telemetry

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// An answer that waits 30 ms and then dribbles has the bandwidth of the dribble.
func TestBandwidth(t *testing.T) {
	const pieces, size, pause = 8, 32 << 10, 5 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/small":
			w.Write(make([]byte, 100))
		case "/gone":
			http.Error(w, "gone", http.StatusGone)
		default:
			time.Sleep(30 * time.Millisecond)
			for range pieces {
				w.Write(make([]byte, size))
				w.(http.Flusher).Flush()
				time.Sleep(pause)
			}
		}
	}))
	defer server.Close()
	g := Gauge{Probes: []assay.Probe{{Name: "bulk", HTTP: server.URL + "/bulk"}, {Name: "small", HTTP: server.URL + "/small"},
		{Name: "gone", HTTP: server.URL + "/gone"}, {Name: "other", TCP: "127.0.0.1:1"}}}
	v, err := g.Read(t.Context(), ref(t, "bandwidth(bulk)"))
	most := pieces * size / ((pieces - 1) * pause).Seconds()
	if err != nil || v.Number <= 0 || v.Number > most {
		t.Errorf("bandwidth(bulk) = %v, %v, want above 0 and at most %.3g", v, err, most)
	}
	for _, name := range []string{"small", "gone", "other", "nobody"} {
		if v, err := g.Read(t.Context(), ref(t, "bandwidth("+name+")")); err == nil {
			t.Errorf("bandwidth(%s) = %v, want an error", name, v)
		}
	}
}
