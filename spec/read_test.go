package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay"
	"github.com/google/go-cmp/cmp"
)

func mustRead(t *testing.T, name string, text string) *assay.Experiment {
	t.Helper()
	e, err := Read(name, []byte(text), machine)
	if err != nil {
		t.Fatalf("Read(%s):\n%v", name, err)
	}
	return e
}

func readGood(t *testing.T, name string) *assay.Experiment {
	t.Helper()
	text, err := os.ReadFile("testdata/good/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return mustRead(t, "/folder/"+name+".yaml", string(text))
}

func args(c *assay.Command) string {
	var list []string
	for _, a := range c.Args {
		list = append(list, a.String())
	}
	return strings.Join(list, "|")
}

func setting(t *testing.T, e *assay.Experiment, pattern assay.Cell) assay.Setting {
	t.Helper()
	for _, s := range e.Settings {
		if s.Cell.Matches(pattern) {
			return s
		}
	}
	t.Fatalf("no cell has %s", pattern)
	return assay.Setting{}
}

func TestDefaults(t *testing.T) {
	e := readGood(t, "smallest")
	if e.Blocks != 12 || e.Retries != 2 || e.Warmup != 0 || e.Passes != 1 {
		t.Errorf("blocks %d, retries %d, warmup %d, passes %d; want 12, 2, 0, 1", e.Blocks, e.Retries, e.Warmup, e.Passes)
	}
	if again := readGood(t, "smallest"); e.Seed == 0 || again.Seed != e.Seed {
		t.Errorf("seeds %d and %d of one name; want one that is not 0", e.Seed, again.Seed)
	}
	if other := mustRead(t, "x.yaml", "experiment: other\ncommand: x\n"); other.Seed == e.Seed {
		t.Errorf("two names have the seed %d", e.Seed)
	}
	if len(e.Settings) != 1 || len(e.Settings[0].Cell) != 0 {
		t.Errorf("settings %v, want the one cell without factors", e.Settings)
	}
	l := readGood(t, "closed").Settings[0].Workload.Load
	if l.Timeout != 10*time.Second || l.Arrivals != "constant" || l.InFlight != 0 || l.SeedBy != "block" || l.Clients != 64 {
		t.Errorf("load %+v, want timeout 10s, constant arrivals, in_flight auto, seed by block", l)
	}
	p := readGood(t, "retune").Settings[0].Workload
	if p.Targets[0].Fresh != "" || !slices.Equal(p.Targets[0].FreshOn, []string{"workers", "limit", "omp", "probe"}) {
		t.Errorf("fresh %q on %v", p.Targets[0].Fresh, p.Targets[0].FreshOn)
	}
}

func TestCommandIsFilledAndAbsolute(t *testing.T) {
	e := readGood(t, "inflight")
	if len(e.Settings) != 12 {
		t.Fatalf("%d cells, want 12", len(e.Settings))
	}
	s := setting(t, e, assay.Cell{"reader": "stream", "inflight": "16"})
	if got, want := args(s.Workload.Command), "/folder/reader|--mode|stream|--inflight|16"; got != want {
		t.Errorf("command %s, want %s", got, want)
	}
	if s.Workload.Command.Dir != "/folder" {
		t.Errorf("folder %s, want /folder", s.Workload.Command.Dir)
	}
	e = mustRead(t, "/folder/e.yaml", "experiment: e\nfactors: {f: [\"a b\", c]}\nstdin: in/{f}.txt\ncommand: \"tool './x y' {f} '{{\\\"a\\\":1}}' ${HOME} {block}/{trial}\"\n")
	c := setting(t, e, assay.Cell{"f": "a b"}).Workload.Command
	if got, want := args(c), `tool|./x y|a b|{{"a":1}}|${{HOME}}|{block}/{trial}`; got != want {
		t.Errorf("command %s, want %s", got, want)
	}
	if c.Stdin != "/folder/in/a b.txt" {
		t.Errorf("stdin %s", c.Stdin)
	}
}

func TestLevelsKeepTheirText(t *testing.T) {
	e := mustRead(t, "e.yaml", "experiment: e\nfactors: {f: [0.10, 3.10, 64k, 1e3, yes, 0x10, ~, \"1_000\"]}\ncommand: x {f}\n")
	want := []string{"0.10", "3.10", "64k", "1e3", "yes", "0x10", "~", "1_000"}
	if got := levelTexts(e.Factors[0]); !slices.Equal(got, want) {
		t.Errorf("levels %q, want %q", got, want)
	}
}

func TestDerivedValues(t *testing.T) {
	e := readGood(t, "retune")
	for _, c := range []struct {
		cell assay.Cell
		want string
	}{
		{assay.Cell{"workers": "2", "omp": "pinned"}, "1"},
		{assay.Cell{"workers": "8", "omp": "pinned"}, "1"},
		{assay.Cell{"omp": "unset"}, "unset"},
	} {
		s := setting(t, e, c.cell)
		if got := s.Values["threads"]; got != c.want {
			t.Errorf("threads at %s = %s, want %s", c.cell, got, c.want)
		}
		env := s.Workload.Targets[0].Command.Env[0]
		if env.Unset != (c.want == "unset") || !env.Unset && env.Value.String() != c.want {
			t.Errorf("OMP_NUM_THREADS at %s = %q, unset %v", c.cell, env.Value, env.Unset)
		}
	}
	for _, c := range []struct{ expr, want string }{
		{"n + 8", "12"}, {"n / 8", "0.5"}, {"floor(n / 3)", "1"}, {"ceil(n / 3)", "2"}, {"round(2.5)", "3"},
		{"max(1, n, 3)", "4"}, {"min(n, cpus)", "2"}, {"n > 3 ? big : small", "big"}, {"n == 4", "true"},
		{"w == small ? 1 : 2", "1"}, {"'x' + w", "xsmall"}, {"n ** 2", "16"}, {"2 * held", "20"}, {"-n", "-4"}, {"n % 3", "1"},
	} {
		e := mustRead(t, "e.yaml", "experiment: e\nfactors: {n: [4], w: [small, big]}\nfixed: {held: 10}\nderived: {d: \""+c.expr+"\"}\ncommand: x {n} {w} {d}\n")
		if got := e.Settings[0].Values["d"]; got != c.want {
			t.Errorf("%s = %q, want %q", c.expr, got, c.want)
		}
	}
}

func TestDesigns(t *testing.T) {
	e := readGood(t, "object-ends")
	count := map[string]int{}
	for _, s := range e.Settings {
		count[s.Cell["tier"]]++
		if len(s.Cell) != len(e.Factors) {
			t.Errorf("cell %s names %d of %d factors", s.Cell, len(s.Cell), len(e.Factors))
		}
	}
	// 8 in flight twice, 2 buffers under throttling, 5 rungs of which the last two lie on the sweep.
	if len(e.Settings) != 8+8+2+3 || count["small"] != 8 {
		t.Errorf("%d cells, %d of them small; want 21 and 8", len(e.Settings), count["small"])
	}
	l := e.Ladders[0]
	if l.Name != "v1-to-v3" || len(l.Rungs) != 5 || len(l.Added) != 4 {
		t.Fatalf("ladder %s with %d rungs and %d terms", l.Name, len(l.Rungs), len(l.Added))
	}
	for i, term := range l.Added {
		if l.Rungs[i].With(term).Key() != l.Rungs[i+1].Key() {
			t.Errorf("rung %d is not rung %d with %s", i+1, i, term)
		}
	}
	e = mustRead(t, "e.yaml", "experiment: e\nfactors: {a: [1, 2, 3], b: [x, y]}\nexclude: [{a: [2, 3], b: y}]\ncommand: run {a} {b}\n")
	var cells []string
	for _, s := range e.Settings {
		cells = append(cells, s.Cell.Key())
	}
	if want := []string{"a=1 b=x", "a=1 b=y", "a=2 b=x", "a=3 b=x"}; !slices.Equal(cells, want) {
		t.Errorf("cells %q, want %q", cells, want)
	}
}

func TestAbsentLevels(t *testing.T) {
	text, err := os.ReadFile("testdata/good/crossing.yaml")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	e, err := Read("crossing.yaml", text, Host{CPUs: 2, Available: func(cmd string) bool {
		asked++
		if cmd != "command -v cc" {
			t.Errorf("asked for %q", cmd)
		}
		return false
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Settings) != 18 || len(e.Absent) != 3 || asked != 1 {
		t.Errorf("%d cells, %d absent, asked %d times; want 18, 3, 1", len(e.Settings), len(e.Absent), asked)
	}
	if !strings.Contains(e.Absent[0].Why, "command -v cc") {
		t.Errorf("why: %s", e.Absent[0].Why)
	}
	var ids []string
	for _, h := range e.Hypotheses {
		if h.From == "bar" {
			ids = append(ids, h.ID)
		}
	}
	want := []string{"bar[direct]", "bar[channel]", "bar[cgo]", "bar[wasm]", "bar[wasm_copy]", "bar[wasm_interpreted]", "bar[pipe]"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("bar, expanded (-want +got):\n%s", diff)
	}
	var guards []string
	for _, g := range e.Guards {
		guards = append(guards, g.Name+" at "+g.At.Key())
	}
	if diff := cmp.Diff([]string{"mode at mechanism=wasm", "mode at mechanism=wasm_copy", "span at "}, guards); diff != "" {
		t.Errorf("guards (-want +got):\n%s", diff)
	}
}

func TestUnbuiltKeys(t *testing.T) {
	text, err := os.ReadFile("testdata/good/every-load-key.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Read("e.yaml", text, Host{CPUs: 2, Unbuilt: []string{"load", "target", "probes", "kill", "refine"}})
	want := "e.yaml:7:1: \"target\" is not built yet\ne.yaml:28:1: \"load\" is not built yet\n" +
		"e.yaml:53:1: \"probes\" is not built yet\ne.yaml:57:1: \"kill\" is not built yet"
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

func TestPlacesOfPaths(t *testing.T) {
	e := readGood(t, "every-command-key")
	if want := []string{"/folder/corpus.tar", "/folder/input-readfile.txt", "/folder/input-stream.txt"}; !slices.Equal(e.Inputs, want) {
		t.Errorf("inputs %q, want %q", e.Inputs, want)
	}
	if got, want := e.Gates[1].Object.String(), "/folder/corpus-{reader}"; got != want {
		t.Errorf("object of the gate %s, want %s", got, want)
	}
	w := e.Settings[0].Workload
	if got, want := w.Hooks.Conclude[0].Evict, []string{"/folder/corpus/*.go", "/folder/corpus-readfile"}; !slices.Equal(got, want) {
		t.Errorf("evict %q, want %q", got, want)
	}
	if got, want := args(&w.Hooks.Prepare[1]), "/folder/drop|readfile"; got != want {
		t.Errorf("prepare %s, want %s", got, want)
	}
	if got, want := args(&e.Setup[0]), "/folder/seed|--seed|{seed}|the Go source tree"; got != want {
		t.Errorf("setup %s, want %s", got, want)
	}
	m := e.Measures[4]
	if got, want := m.Source.From.String(), "/folder/out-{reader}.json"; got != want {
		t.Errorf("from %s, want %s", got, want)
	}
	rel := mustRead(t, "sub/e.yaml", "experiment: e\ncommand: ./x\n")
	here, err := filepath.Abs("sub/x")
	if err != nil {
		t.Fatal(err)
	}
	if got := args(rel.Settings[0].Workload.Command); got != here {
		t.Errorf("command %s, want %s", got, here)
	}
}

func TestLoadPerCell(t *testing.T) {
	e := readGood(t, "every-load-key")
	s := setting(t, e, assay.Cell{"workers": "4", "offered": "10", "alive": "false"})
	l, tg := s.Workload.Load, s.Workload.Targets[3]
	if l.Rate != 10 || l.HTTP.Connections != 4 || !l.HTTP.NoKeepAlive || l.InFlight != 100 || !l.Late || l.Operations != "all" {
		t.Errorf("load %+v, http %+v", l, l.HTTP)
	}
	if got, want := l.HTTP.URL.String(), "http://127.0.0.1:8080/score?w=4&t={trial}"; got != want {
		t.Errorf("url %s, want %s", got, want)
	}
	if tg.Starts != 4 || tg.Supervise.Timeout != 10*time.Second || tg.Ready.Patience != time.Minute || !slices.Equal(tg.After, []string{"store"}) {
		t.Errorf("target %+v", tg)
	}
	if k := s.Workload.Kills[0]; k.When.String() != "mean(rtt(share)) > 100ms over 5s" || k.SkipAbove != "offered" {
		t.Errorf("kill %+v", k)
	}
	steps := readGood(t, "steps").Settings[0].Workload.Load
	if steps.For != 10*time.Second || len(steps.Steps) != 2 || steps.Steps[1].Rate != 20 {
		t.Errorf("steps %+v", steps)
	}
}

func TestUnattributedAndCeilings(t *testing.T) {
	e := readGood(t, "every-command-key")
	for _, h := range e.Hypotheses {
		if h.Unattributed != (h.ID == "H4") {
			t.Errorf("%s: unattributed %v", h.ID, h.Unattributed)
		}
	}
	c := e.Ceilings[0]
	for key, limit := range c.Limit {
		if !strings.Contains(key, "reader=stream") {
			t.Errorf("ceiling in the cell %s", key)
		}
		if strings.Contains(key, "inflight=4 ") && limit != 4000 {
			t.Errorf("ceiling %v at %s, want 4000", limit, key)
		}
	}
	if len(c.Limit) == 0 {
		t.Error("the ceiling has no cell")
	}
	if e.Instrument.Twin.Key() != "buffer=64k inflight=4 reader=readfile version=V2m" {
		t.Errorf("twin %s", e.Instrument.Twin)
	}
}

func TestSizeIsBounded(t *testing.T) {
	text := "experiment: e\ncommand: x\n#" + strings.Repeat("x", maxBytes)
	if _, err := Read("e.yaml", []byte(text), machine); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("Read of %d bytes = %v, want a refusal", len(text), err)
	}
	wide := "experiment: e\ncommand: x {a}{b}{c}\nfactors:\n"
	for _, name := range []string{"a", "b", "c"} {
		wide += "  " + name + ": ["
		for i := range 30 {
			wide += strings.Repeat("x", i) + "y, "
		}
		wide += "]\n"
	}
	if _, err := Read("e.yaml", []byte(wide), machine); err == nil || !strings.Contains(err.Error(), "10000 cells") {
		t.Errorf("Read of 27,000 cells = %v, want a refusal", err)
	}
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"unknown keys":       many(30_000, "unknown%d: 1\n"),
		"factors":            "factors:\n" + many(20_000, "  f%d: [1]\n"),
		"unknown names":      "question: x\nprepare: \"" + many(20_000, "{a%d} ") + "\"\n",
		"faults of the YAML": "question: [" + many(20_000, "@%d, ") + "]\n",
		"expanded claims":    "factors:\n  f: [" + many(2000, "%d, ") + "]\nhypotheses: {H1: {value: wall, each: f, expect: \"< 1s\"}}\n",
	} {
		_, err := Read("e.yaml", []byte("experiment: e\ncommand: x\n"+text), machine)
		mistakes, ok := err.(Mistakes)
		if !ok || len(mistakes) > maxMistakes+1 {
			t.Errorf("Read of many %s has %d mistakes (%T), want some, and at most %d", name, len(mistakes), err, maxMistakes+1)
		}
	}
	deep := "experiment: e\ncommand: x\nfixed: " + strings.Repeat("[", 50_000)
	if _, err := Read("e.yaml", []byte(deep), machine); err == nil {
		t.Error("Read of 50,000 brackets is fine")
	}
}

// Names that only the built-in measures of objects and of the machine bear are free for a file's own.
func TestDeclaredMeasuresBesideBuiltins(t *testing.T) {
	text := []byte(`experiment: e
command: echo 5
measures: {bandwidth: {regex: '(\d+)', unit: MB/s}, recovery: {regex: '(\d+)', unit: s}}
probes: {link: {tcp: "127.0.0.1:9", rate: 0/s}}
hypotheses:
  H1: {claim: quick, value: bandwidth, expect: "> 4MB/s"}
`)
	s, err := Read("e.yaml", text, Host{CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if u := s.Measures[0].Unit; u.Name != "MB/s" {
		t.Errorf("unit of bandwidth %v, want MB/s", u)
	}
	for _, name := range []string{"wall", "rss_peak", "load1", "exit"} {
		bad := []byte(strings.Replace(string(text), "recovery", name, 1))
		if _, err := Read("e.yaml", bad, Host{CPUs: 2}); err == nil || !strings.Contains(err.Error(), name+" is a built-in measure") {
			t.Errorf("%s declared: error %v, want it refused", name, err)
		}
	}
}
