//go:build !race

package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A cooler is a server that has gone cold when nobody asked it for a while: until it is warm again its
// answers take longer, by times the usual at first. With times 1 it is stationary.
type cooler struct {
	usual time.Duration
	times float64
	warm  time.Duration // to be as quick as usual

	mu          sync.Mutex
	since, last time.Time
}

func (c *cooler) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	const cold = 300 * time.Millisecond
	c.mu.Lock()
	now := time.Now()
	if now.Sub(c.last) > cold {
		c.since = now
	}
	c.last = now
	left := max(0, 1-float64(now.Sub(c.since))/float64(c.warm))
	c.mu.Unlock()
	time.Sleep(time.Duration(float64(c.usual) * (1 + (c.times-1)*left)))
	w.WriteHeader(http.StatusNoContent)
}

// TestSteadyStateOfRealServers loads a server whose answers get quicker all through the window, as those
// of a cold one do, and one that is stationary. Claims about times of the first are void, whether about a
// figure or about the highest level that meets one; of the second they are judged, by blocks that suffice
// with ASSAY_TEST_STEADY set, which takes two minutes.
func TestSteadyStateOfRealServers(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a steady state takes windows of 22 s; make test executes it")
	}
	blocks, judged := 2, "UNDECIDED underpowered"
	if os.Getenv("ASSAY_TEST_STEADY") != "" {
		blocks, judged = 6, "PASS holds"
	}
	// Long times: the generator may be late by a twentieth of them before its guard voids a trial.
	for name, c := range map[string]struct {
		server *cooler
		want   string
	}{
		"drifting":   {&cooler{usual: 300 * time.Millisecond, times: 4, warm: 18 * time.Second}, "VOID guard:steady"},
		"stationary": {&cooler{usual: 600 * time.Millisecond, times: 1, warm: 18 * time.Second}, judged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: c.server}
			go server.Serve(l)
			defer server.Close()
			verdicts := verdictsOf(t, fmt.Sprintf(`experiment: %s
factors: {offered: [25, 100]}
derived: {lasts: "offered == 25 ? 22 : 1"}
blocks: %d
retries: 2
prepare: sleep 0.6
load:
  http: {url: "http://%s/"}
  rate: "{offered}/s"
  for: "{lasts}s"
  timeout: 5s
hypotheses:
  H1: {claim: Half are answered in a second., value: p50(response_time), at: {offered: 25}, expect: "< 1s"}
  H2: {claim: It can do with 25/s., highest: offered, meets: ["p50(response_time) < 1s"], expect: ">= 25"}
`, name, blocks, l.Addr()))
			if left := verdicts[0]["blocks"].(float64); left < float64(blocks) {
				t.Skipf("the machine left %v of %d blocks without a void, after two repeats: nothing was tried", left, blocks)
			}
			for i, v := range verdicts {
				if got := fmt.Sprint(v["verdict"], " ", v["reason"]); got != c.want {
					t.Errorf("%v is %s, want %s: %v", v["id"], got, c.want, v["notes"])
				}
				if notes := fmt.Sprint(v["notes"]); strings.Contains(notes, "no steady state") != strings.HasPrefix(c.want, "VOID") {
					t.Errorf("hypothesis %d: %s", i, notes)
				}
			}
		})
	}
}

// verdictsOf is the verdicts of an experiment that is executed.
func verdictsOf(t *testing.T, yaml string) (verdicts []map[string]any) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "experiment.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errors bytes.Buffer
	Main([]string{"run", file, "--out", filepath.Join(dir, "results"), "--quiet", "--json"}, strings.NewReader(""), &out, &errors)
	if out.Len() == 0 {
		t.Fatalf("no verdicts:\n%s", errors.String())
	}
	for _, h := range isList(t, "hypotheses", object(t, out.String())["hypotheses"]) {
		verdicts = append(verdicts, h.(map[string]any))
	}
	return verdicts
}
