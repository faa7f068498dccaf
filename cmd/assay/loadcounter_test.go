package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/assaybench/assay"
)

// counting serves, and says how many requests have arrived: with a lie, so many more for every ten.
func counting(t *testing.T, lie int64) (url string) {
	t.Helper()
	var arrived atomic.Int64
	said := func() int64 { return 1000 + arrived.Load() + arrived.Load()/10*lie }
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE requests_total counter\nrequests_total{path=\"/\"} %d\nrequests_total{path=\"/metrics\"} 7\n", said())
	})
	mux.HandleFunc("/vars", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"http": {"requests": %d}}`, said()) })
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) { arrived.Add(1) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func TestATargetsOwnCountIsHeldAgainstTheLedger(t *testing.T) {
	for name, c := range map[string]struct {
		lie  int64
		at   string
		note string
	}{
		"honest metrics":    {0, `/metrics#requests_total{path="/"}`, "the target counted 60 arrivals, as many as were sent"},
		"honest JSON":       {0, "/vars#http.requests", "the target counted 60 arrivals, as many as were sent"},
		"too many":          {1, "/vars#http.requests", "the target counted 66 arrivals, and 60 were sent"},
		"too few":           {-5, `/metrics#requests_total{path="/"}`, "the target counted 30 arrivals, and 60 of the 60"},
		"a counter of less": {0, `/metrics#requests_total{path="/metrics"}`, "the target counted 0 arrivals"},
	} {
		t.Run(name, func(t *testing.T) {
			url := counting(t, c.lie)
			var out, problems bytes.Buffer
			status := Main([]string{"load", url, "--rate", "200/s", "--for", "300ms", "--json", "--counter", url + c.at}, strings.NewReader(""), &out, &problems)
			var a struct {
				VoidBy []string `json:"void_by"`
				Notes  []string `json:"notes"`
			}
			if err := json.Unmarshal(out.Bytes(), &a); err != nil {
				t.Fatalf("%v: %s%s", err, out.String(), problems.String())
			}
			lied := !strings.HasPrefix(name, "honest")
			if slices.Contains(a.VoidBy, "guard:counter") != lied || lied && status != 3 || !strings.Contains(strings.Join(a.Notes, "\n"), c.note) {
				t.Errorf("got status %d, void by %q, notes %q; want %q", status, a.VoidBy, a.Notes, c.note)
			}
		})
	}
}

// What cannot be read beforehand is refused, and nothing is sent.
func TestACounterThatIsNotThereIsRefused(t *testing.T) {
	url := counting(t, 0)
	for _, at := range []string{"nonsense", url + "/metrics", url + "/metrics#other_total", url + "/vars#http.other", "http://127.0.0.1:1/#x", "http://example.com/#x"} {
		called(t, 2, "load", url, "--rate", "200/s", "--for", "100ms", "--counter", at)
	}
}

// In an experiment the same is a guard on two measures.
func TestALyingServerVoidsTheTrialsOfAnExperiment(t *testing.T) {
	for _, lie := range []int64{0, 1} {
		url := counting(t, lie)
		dir := t.TempDir()
		file := filepath.Join(dir, "experiment.yaml")
		text := fmt.Sprintf(`experiment: counted
factors: {only: [one]}
blocks: 6
retries: 0
target:
  api: {external: {pid: %[2]d}, prometheus: "%[1]s/metrics"}
load:
  http: {url: "%[1]s/"}
  rate: 100/s
  for: 100ms
measures:
  arrived: {delta: 'prom(api, requests_total{path="/"})'}
  sent_too: {json: sent}
guards:
  - {name: counter, require: "agree(arrived, sent_too) == 0"}
hypotheses:
  H1: {claim: It answers., value: errors, expect: "< 1%%"}
`, url, os.Getpid())
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var out, problems bytes.Buffer
		Main([]string{"run", file, "--quiet", "--json"}, strings.NewReader(""), &out, &problems)
		lines, err := os.ReadFile(filepath.Join(dir, "counted.results", "trials.jsonl"))
		if err != nil {
			t.Fatalf("%v: %s%s", err, out.String(), problems.String())
		}
		for line := range bytes.Lines(lines) {
			var trial assay.Trial
			if err := json.Unmarshal(line, &trial); err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(trial.VoidBy, "guard:counter"); got != (lie != 0) {
				t.Errorf("a lie of %d: void by %q, measures %v", lie, trial.VoidBy, trial.Measures)
			}
		}
	}
}
