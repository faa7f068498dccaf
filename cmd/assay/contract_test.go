package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// called is what the program does with the arguments, in this process.
func called(t *testing.T, want int, args ...string) (stdout string) {
	t.Helper()
	var out, err bytes.Buffer
	if got := Main(args, strings.NewReader(""), &out, &err); got != want {
		t.Fatalf("assay %s ended with exit status %d, want %d\n%s%s", strings.Join(args, " "), got, want, out.String(), err.String())
	}
	return out.String()
}

// object is the one JSON object in text.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return v
}

// hasKeys demands exactly these keys of a JSON object.
func hasKeys(t *testing.T, what string, v any, want ...string) map[string]any {
	t.Helper()
	m, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%s is %T, want an object", what, v)
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(m)); !slices.Equal(got, want) {
		t.Errorf("%s has the keys\n%v, want\n%v", what, got, want)
	}
	return m
}

// isList demands a list, which may be empty but is never null.
func isList(t *testing.T, what string, v any) []any {
	t.Helper()
	list, ok := v.([]any)
	if !ok {
		t.Fatalf("%s is %T, want a list", what, v)
	}
	return list
}

const contract = `
experiment: contract
factors: {n: {levels: [1, 2], achieved: {json: n, at_least: 90%}}}
blocks: 6
warmup: 1
retries: 0
gates: ["load1 >= 0 patience 1s"]
command: [sh, -c, 'echo "{\"n\":{n},\"text\":\"a<b\"}"']
measures: {n: {json: n, unit: things}, text: {json: text}}
hypotheses:
  H1: {claim: "Two > one & no more.", ratio: n, of: {n: 2}, to: {n: 1}, expect: "> 1.5"}
  H2: {claim: The text never changes., identical: text}
`

func contractFolder(t *testing.T) (dir string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := os.WriteFile(file, []byte(contract), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "run", file, "--quiet")
	return filepath.Join(filepath.Dir(file), "contract.results")
}

// The keys of the files in a results folder, and of the JSON of verbs, are a contract.
func TestResultsFolderIsTheContract(t *testing.T) {
	dir := contractFolder(t)
	text := called(t, 0, "grade", dir, "--json")
	onDisk, err := os.ReadFile(filepath.Join(dir, "verdicts.json"))
	if err != nil || string(onDisk) != text {
		t.Errorf("verdicts.json (%v) differs from grade --json:\n%s\n%s", err, onDisk, text)
	}
	if !strings.Contains(text, "Two > one & no more.") {
		t.Errorf("the claim's words are escaped:\n%s", text)
	}
	v := hasKeys(t, "verdicts.json", object(t, text), "experiment", "registration", "hypotheses", "trials", "do_not_quote")
	for i, h := range isList(t, "hypotheses", v["hypotheses"]) {
		m := hasKeys(t, "a verdict", h, "id", "claim", "verdict", "reason", "estimate", "low", "high", "confidence", "blocks", "unit", "exploratory", "notes")
		isList(t, "notes", m["notes"])
		if m["id"] != fmt.Sprint("H", i+1) || m["verdict"] != "PASS" || m["reason"] != "holds" {
			t.Errorf("verdict %v", m)
		}
	}
	hasKeys(t, "trials", v["trials"], "planned", "ok", "void", "failed", "killed", "refused")
	isList(t, "do_not_quote", v["do_not_quote"])

	reg, err := os.ReadFile(filepath.Join(dir, "registration.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := object(t, string(reg))
	for _, key := range []string{"digest", "time", "commit", "dirty", "seed", "plan", "hypotheses", "amendments"} {
		if _, ok := r[key]; !ok {
			t.Errorf("registration.json lacks %s", key)
		}
	}
	if r["digest"] != v["registration"] {
		t.Errorf("verdicts name the registration %v, want %v", v["registration"], r["digest"])
	}
	isList(t, "amendments", r["amendments"])
}

func TestTrialLinesAreTheContract(t *testing.T) {
	dir := contractFolder(t)
	b, err := os.ReadFile(filepath.Join(dir, "trials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	prev := ""
	for i, line := range lines {
		m := hasKeys(t, "a trial", object(t, line), "trial", "block", "position", "cell", "warmup", "session", "registration",
			"started_at", "outcome", "valid", "void_by", "refused_by", "exit", "signal", "measures", "achieved",
			"output_sha256", "executable_sha256", "gates", "notes", "prev")
		for _, key := range []string{"void_by", "refused_by", "notes"} {
			isList(t, key, m[key])
		}
		gate := hasKeys(t, "a gate", isList(t, "gates", m["gates"])[0], "condition", "reading", "waited_ns")
		if gate["condition"] != "load1 >= 0 patience 1s" {
			t.Errorf("gate %v", gate)
		}
		for _, key := range []string{"wall_ns", "user_ns", "system_ns", "rss_peak_bytes", "ctx_switches", "page_faults", "exit", "n"} {
			if _, ok := m["measures"].(map[string]any)[key].(float64); !ok {
				t.Errorf("trial %d: measure %s is %v, want a number", i+1, key, m["measures"].(map[string]any)[key])
			}
		}
		if got := m["achieved"].(map[string]any)["n"]; fmt.Sprint(got) != m["cell"].(map[string]any)["n"] {
			t.Errorf("trial %d: achieved %v of %v", i+1, got, m["cell"])
		}
		if m["prev"] != prev {
			t.Errorf("trial %d: prev is %v, want %s", i+1, m["prev"], prev)
		}
		sum := sha256.Sum256([]byte(line))
		prev = hex.EncodeToString(sum[:])
		if out, err := os.ReadFile(filepath.Join(dir, "trials", fmt.Sprintf("%04d", i+1), "stdout")); err != nil || digestOf(out) != m["output_sha256"] {
			t.Errorf("trial %d: output_sha256 is %v; its stdout (%v) has %s", i+1, m["output_sha256"], err, digestOf(out))
		}
		if warm := i < 2; m["warmup"] != warm || warm != (m["block"] == 0.0) {
			t.Errorf("trial %d: warmup %v in block %v", i+1, m["warmup"], m["block"])
		}
	}
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestCompareJSONIsTheContract(t *testing.T) {
	var out, err bytes.Buffer
	Main([]string{"compare", "true", "true", "--blocks", "6", "--json"}, strings.NewReader(""), &out, &err) // decided or not
	v := object(t, out.String())
	for _, c := range isList(t, "commands", v["commands"]) {
		for _, key := range []string{"command", "trials", "ok", "median_s", "low_s", "high_s", "outcomes"} {
			if _, ok := c.(map[string]any)[key]; !ok {
				t.Errorf("a command lacks %s: %v", key, c)
			}
		}
	}
	for _, c := range isList(t, "comparisons", v["comparisons"]) {
		for _, key := range []string{"of", "to", "ratio", "low", "high", "confidence", "blocks", "verdict", "reason"} {
			if _, ok := c.(map[string]any)[key]; !ok {
				t.Errorf("a comparison lacks %s: %v", key, c)
			}
		}
	}
}

// What was planned, sent and answered adds up, whatever the target does.
func TestLoadJSONIsTheContract(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	for _, path := range []string{"/", "/bad"} {
		var out, err bytes.Buffer
		Main([]string{"load", server.URL + path, "--rate", "100/s", "--for", "500ms", "--timeout", "1s", "--json"}, strings.NewReader(""), &out, &err)
		v := hasKeys(t, "load --json", object(t, out.String()), "planned", "sent", "dropped", "cancelled", "ok", "timed_out", "in_flight_at_end",
			"errors", "offered_per_s", "sent_per_s", "completed_per_s", "response", "response_all", "service", "lag",
			"connections", "in_flight_mean", "generator", "valid", "void_by", "notes")
		number := func(key string) float64 { return v[key].(float64) }
		errors := 0.0
		for _, n := range v["errors"].(map[string]any) {
			errors += n.(float64)
		}
		if number("planned") != 50 || number("planned") != number("sent")+number("dropped")+number("cancelled") {
			t.Errorf("%s: planned %v of 50 = sent %v + dropped %v + cancelled %v", path, v["planned"], v["sent"], v["dropped"], v["cancelled"])
		}
		if number("sent") != number("ok")+errors+number("timed_out")+number("in_flight_at_end") {
			t.Errorf("%s: sent %v = ok %v + errors %v + timed out %v + in flight %v", path, v["sent"], v["ok"], errors, v["timed_out"], v["in_flight_at_end"])
		}
		if bad := path == "/bad"; bad != (errors > 0) || bad != (number("ok") == 0) {
			t.Errorf("%s: ok %v, errors %v", path, v["ok"], v["errors"])
		}
		for _, key := range []string{"response", "response_all", "service", "lag"} {
			hasKeys(t, key, v[key], "p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns")
		}
		hasKeys(t, "generator", v["generator"], "cpu_ratio", "rss_bytes")
		isList(t, "void_by", v["void_by"])
		isList(t, "notes", v["notes"])
	}
}

// For people, each quantile of a load stands with the interval that its operations allow.
func TestLoadPrintsIntervals(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	var out, err bytes.Buffer
	Main([]string{"load", server.URL, "--rate", "100/s", "--for", "500ms"}, strings.NewReader(""), &out, &err)
	for _, want := range []string{"at least, 95%", "at most, 95%", "effective n", "takes ten seconds"} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("the text lacks %q:\n%s%s", want, out.String(), err.String())
		}
	}
}

// Phases are timed where they are asked for, and only there; a connection that is used again is not
// connected again.
func TestLoadTimesPhases(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	run := func(flags ...string) string {
		var out, err bytes.Buffer
		Main(append([]string{"load", server.URL, "--clients", "1", "--for", "200ms"}, flags...), strings.NewReader(""), &out, &err)
		return out.String()
	}
	phases := hasKeys(t, "phases", object(t, run("--phases", "--json"))["phases"], "resolve", "connect", "write", "wait", "read")
	hasKeys(t, "wait", phases["wait"], "operations", "mean_ns", "p50_ns", "p99_ns")
	if n := phases["connect"].(map[string]any)["operations"]; n != 1.0 {
		t.Errorf("%v operations connected, want 1", n)
	}
	if text := run("--phases"); !strings.Contains(text, "Phases") || !strings.Contains(text, "wait ") {
		t.Errorf("the text lacks the phases:\n%s", text)
	}
	if _, ok := object(t, run("--json"))["phases"]; ok {
		t.Error("phases stand in an account that was not asked for them")
	}
}
