package engine

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// A probe for gates only: bandwidth and round trip are read before the trial, recorded, and nothing is
// requested during it. A gate of a level that claims what is not there says so.
func TestGatesMeasureALink(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.URL.Path == "/slow" {
			time.Sleep(5 * time.Millisecond)
		}
		w.Write(make([]byte, 256<<10))
	}))
	defer server.Close()
	trials := executed(t, t.TempDir(), strings.ReplaceAll(`factors: {rtt: [5ms, 50ms]}
blocks: 1
command: sleep 0.3
probes:
  bulk: {http: "URL/bulk", rate: 0/s}
  one: {http: "URL/slow", rate: 0/s}
gates:
  - "bandwidth(bulk) > 1MB/s"
  - {require: "rtt(one) >= 4ms", at: {rtt: 5ms}}
  - {require: "rtt(one) < 10s", at: {rtt: 5ms}}
  - {require: "rtt(one) >= 30s", at: {rtt: 50ms}}
`, "URL", server.URL))
	if n := requests.Load(); n != 2*5+2*(1+5) {
		t.Errorf("%d requests, want 22: five for the baseline of each probe, for each trial one of bandwidth and five of rtt, and none during it", n)
	}
	for _, trial := range trials {
		if trial.Cell["rtt"] == "5ms" {
			bandwidth, rtt := trial.Measures["bandwidth_bytes_per_s(bulk)"], trial.Measures["rtt_ns(one)"]
			if trial.Outcome != assay.OK || bandwidth.Number < 1e6 || rtt.Number < 4e6 || len(trial.Gates) != 3 {
				t.Errorf("outcome %s, bandwidth %v, rtt %v, gates %v; want ok and what the gates read", trial.Outcome, bandwidth, rtt, trial.Gates)
			}
			continue
		}
		if why := strings.Join(trial.RefusedBy, " "); trial.Outcome != assay.Refused || !strings.Contains(why, "rtt=50ms claims it") {
			t.Errorf("outcome %s by %q; want refused, with the level that claims it", trial.Outcome, why)
		}
	}
}
