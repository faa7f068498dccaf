package engine

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

const servedTarget = `blocks: 1
target:
  api:
    command: [EXE]
    env: {ENGINE_SUBJECT: "serve PORT"}
    ready: {tcp: "127.0.0.1:PORT", patience: 20s}
    fresh: trial
`

// A target that ends before it is ready is the cell's doing; the end of its output stands in a note.
func TestTargetThatDoesNotComeUpFails(t *testing.T) {
	trials := executed(t, t.TempDir(), `blocks: 1
target:
  api:
    command: [sh, -c, "echo no model found; exit 7"]
    ready: {tcp: "127.0.0.1:`+freePort(t)+`", patience: 10s}
command: "true"
`)
	if trials[0].Outcome != assay.Failed || !trials[0].Valid {
		t.Errorf("outcome %s, valid %t %v; want failed and valid", trials[0].Outcome, trials[0].Valid, trials[0].RefusedBy)
	}
	if noteWith(trials[0], "api", "exit 7", "no model found") == "" {
		t.Errorf("notes %q; want how it ended and what it said", trials[0].Notes)
	}
}

// A port that somebody else holds is not the cell's doing.
func TestTargetWhosePortIsTakenIsRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	trials := executed(t, t.TempDir(), strings.ReplaceAll(servedTarget, "PORT", port)+"command: \"true\"\n")
	if trials[0].Outcome != assay.Refused || !strings.Contains(strings.Join(trials[0].RefusedBy, " "), "listens there already") {
		t.Errorf("outcome %s %v; want refused by the port", trials[0].Outcome, trials[0].RefusedBy)
	}
}

// What hangs leaves its state and, being a Go program, its goroutines.
func TestHungLeavesItsState(t *testing.T) {
	dir := t.TempDir()
	trials := executed(t, dir, `blocks: 1
command: [EXE]
env: {ENGINE_SUBJECT: hang}
hung: {after: 500ms}
`)
	if trials[0].Outcome != assay.Hung || noteWith(trials[0], "no progress for 500ms") == "" {
		t.Errorf("outcome %s, notes %q; want hung, and said", trials[0].Outcome, trials[0].Notes)
	}
	if b, err := os.ReadFile(path(dir, stateFile)); err != nil || !strings.Contains(string(b), "command: process") {
		t.Errorf("%s holds %q, %v; want the command's processes", stateFile, b, err)
	}
	if b, err := os.ReadFile(path(dir, stderrFile)); err != nil || !strings.Contains(string(b), "hangHere") {
		t.Errorf("standard error holds %q, %v; want goroutines", b, err)
	}
}

// The time from a restart on purpose until the target serves again is a measure of the target.
func TestRecoveryIsMeasured(t *testing.T) {
	yaml := strings.ReplaceAll(servedTarget, "PORT", freePort(t)) + `command: sleep 2
events: [{at: 200ms, signal: RESTART, to: api}]
`
	trial := executed(t, t.TempDir(), yaml)[0]
	if v, ok := trial.Measures["recovery_ns(api)"]; !ok || v.Number <= 0 || v.Number > 2e9 {
		t.Errorf("recovery of api is %v, %t; notes %q", v, ok, trial.Notes)
	}
	if !trial.Valid || trial.Measures["restarts(api)"].Number != 1 {
		t.Errorf("valid %t by %v, restarts %v; want one, on purpose", trial.Valid, trial.VoidBy, trial.Measures["restarts(api)"])
	}
}

// Events reach the command too.
func TestEventHitsTheCommand(t *testing.T) {
	trial := executed(t, t.TempDir(), "blocks: 1\ncommand: sleep 20\nevents: [{at: 200ms, signal: KILL, to: command}]\n")[0]
	if trial.Outcome != assay.Crashed || trial.Signal != "SIGKILL" {
		t.Errorf("outcome %s by %s; want crashed by SIGKILL", trial.Outcome, trial.Signal)
	}
}

// Gates on the page cache are asked after the hooks that evict and the digests that read.
func TestResidencyIsAskedLast(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "input"), make([]byte, 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	const cold = "blocks: 1\ncommand: \"true\"\ninputs: DIR/input\ngates: [\"resident(DIR/input) <= 5%\"]\n"
	trial := executed(t, dir, cold+"prepare: evict(DIR/input)\n")[0]
	if trial.Outcome != assay.OK || slices.Contains(trial.VoidBy, "guard:warm") || len(trial.Gates) != 1 {
		t.Errorf("evicted: %s %v %v %v; want ok", trial.Outcome, trial.RefusedBy, trial.VoidBy, trial.Notes)
	}
	if v, ok := trial.Measures["resident_ratio("+dir+"/input)"]; !ok || v.Number > 0.05 {
		t.Errorf("residency at the start is %v, %t", v, ok)
	}
	other := t.TempDir()
	trial = executed(t, other, strings.ReplaceAll(cold, "DIR", dir))[0]
	if trial.Outcome != assay.Refused {
		t.Errorf("warm: %s; want refused", trial.Outcome)
	}
}

// A target that reads a file which is declared cold, after its gate, makes it warm.
func TestWarmedByTheTarget(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "input"), make([]byte, 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	trial := executed(t, dir, `blocks: 1
command: "true"
prepare: evict(DIR/input)
gates: ["resident(DIR/input) <= 5%"]
target:
  cache:
    command: [sh, -c, "cat DIR/input > DIR/copy; echo ready; exec sleep 60"]
    ready: {log: ready}
    fresh: trial
`)[0]
	if !slices.Contains(trial.VoidBy, "guard:warm") {
		t.Errorf("void by %v, notes %q; want guard:warm", trial.VoidBy, trial.Notes)
	}
}

// A figure a little above its ceiling is for the median to judge; one far above voids its trial.
func TestCeilingVoidsOnlyWhatIsFarAbove(t *testing.T) {
	for speed, void := range map[string]bool{"99": false, "104": false, "140": true} {
		trial := executed(t, t.TempDir(), `blocks: 1
command: [sh, -c, 'sleep 0.05; echo "{\"speed\": `+speed+`}"']
measures: {speed: {json: speed, unit: MB/s, better: more}}
ceilings: {measure: speed, limit: 100MB/s}
`)[0]
		if got := slices.Contains(trial.VoidBy, "guard:ceiling"); got != void {
			t.Errorf("%s of 100 MB/s: void by %v; want %t", speed, trial.VoidBy, void)
		}
	}
}

// The second pass is of the same target, and what it does is told apart from the first.
func TestPasses(t *testing.T) {
	dir := t.TempDir()
	trial := executed(t, dir, `blocks: 1
passes: 2
command: [sh, -c, "test ! -e DIR/used && touch DIR/used"]
`)[0]
	if trial.Outcome != assay.Failed || noteWith(trial, "accumulation", "pass 1 was ok", "pass 2", "failed") == "" {
		t.Errorf("outcome %s, notes %q; want failed by accumulation", trial.Outcome, trial.Notes)
	}
	if trial.Exit != 0 {
		t.Errorf("exit %d; the figures are the first pass's", trial.Exit)
	}
}

// A load writes its account where a command's output stands, for measures and achieved levels.
func TestAchievedOfALoad(t *testing.T) {
	port := freePort(t)
	trial := executed(t, t.TempDir(), `blocks: 1
factors: {clients: {levels: [3], achieved: {json: connections, at_least: 90%}}}
target:
  api:
    command: [python3, -m, http.server, "`+port+`", --bind, 127.0.0.1]
    ready: {http: "http://127.0.0.1:`+port+`/", patience: 30s}
    fresh: trial
load:
  http: {url: "http://127.0.0.1:`+port+`/"}
  clients: "{clients}"
  for: 300ms
  timeout: 5s
`)[0]
	if v, ok := trial.Achieved["clients"]; !ok || v.Number != 3 {
		t.Errorf("achieved %v, %t %s %v; want 3 connections", v, ok, trial.Outcome, trial.Notes)
	}
}

// A wait inside a command that works otherwise voids the trial, unless it is expected.
func TestStallIsNamed(t *testing.T) {
	const nap = `blocks: 1
command: [sh, -c, "timeout 0.7 sh -c 'while :; do :; done'; sleep 0.8; timeout 0.5 sh -c 'while :; do :; done'; true"]
`
	trial := executed(t, t.TempDir(), nap)[0]
	if !slices.Contains(trial.VoidBy, "guard:stall") || noteWith(trial, "stall", "lever") == "" {
		t.Errorf("void by %v, notes %q; want guard:stall", trial.VoidBy, trial.Notes)
	}
	trial = executed(t, t.TempDir(), nap+"expect_stall: true\n")[0]
	if slices.Contains(trial.VoidBy, "guard:stall") || noteWith(trial, "as expected") == "" {
		t.Errorf("expected: void by %v, notes %q; want a note", trial.VoidBy, trial.Notes)
	}
}

// What the experiment changes on the machine is put back when the run ends.
func TestMachineIsPutBack(t *testing.T) {
	dir := t.TempDir()
	governor := filepath.Join(dir, "governor")
	if err := os.WriteFile(governor, []byte("powersave\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	trial := executed(t, dir, "blocks: 1\nmachine: {\"DIR/governor\": performance}\ncommand: grep -q performance DIR/governor\n")[0]
	if trial.Outcome != assay.OK || noteWith(trial, "machine:", "performance") == "" {
		t.Errorf("outcome %s, notes %q; want ok under performance", trial.Outcome, trial.Notes)
	}
	if b, err := os.ReadFile(governor); err != nil || string(b) != "powersave\n" {
		t.Errorf("afterwards it holds %q, %v", b, err)
	}
	if _, err := execute(t, t.TempDir(), "blocks: 1\nmachine: {/no/such/file: x}\ncommand: \"true\"\n"); err == nil {
		t.Error("a file that is not there was changed")
	}
}

// A calibration gate has what was measured first to compare with.
func TestCalibrationGate(t *testing.T) {
	trial := executed(t, t.TempDir(), "blocks: 1\ncommand: \"true\"\ngates: [\"calibration < 1000 patience 10s\"]\n")[0]
	if trial.Outcome != assay.OK || len(trial.Gates) != 1 || trial.Gates[0].Reading.Number <= 0 {
		t.Errorf("outcome %s %v, gates %v; want ok and a reading", trial.Outcome, trial.RefusedBy, trial.Gates)
	}
}

func TestLeaking(t *testing.T) {
	grow := func(n int, step holding) []holding {
		var list []holding
		h := holding{files: 10, anon: 100 << 20}
		for range n {
			list = append(list, h)
			h.files, h.sockets, h.anon = h.files+step.files, h.sockets+step.sockets, h.anon+step.anon
		}
		return list
	}
	fell := grow(6, holding{files: 5})
	fell[3].files = 10
	for name, c := range map[string]struct {
		list []holding
		want string
	}{
		"still":             {grow(6, holding{}), ""},
		"sockets":           {grow(6, holding{sockets: 2}), "half-closed"},
		"files":             {grow(6, holding{files: 2}), "descriptors"},
		"few files":         {grow(6, holding{files: 1}), ""},
		"memory":            {grow(6, holding{anon: 20 << 20}), "memory"},
		"a little memory":   {grow(6, holding{anon: 4 << 20}), ""},
		"too few trials":    {grow(5, holding{files: 50}), ""},
		"handed back again": {fell, ""},
	} {
		if got := leaking(c.list); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: said %q; want %q", name, got, c.want)
		}
	}
}

func TestShown(t *testing.T) {
	ns, _ := assay.BuiltinMeasure("rtt")
	if got := shown(assay.Num(2.5e6), ns.Unit); got != "2.5ms" {
		t.Errorf("got %s", got)
	}
	if got := shown(assay.Txt("wasm"), assay.Unit{}); got != "wasm" {
		t.Errorf("got %s", got)
	}
	if got := shown(assay.Num(0.123456), assay.Unit{Scale: 1}); got != "0.1235" {
		t.Errorf("got %s", got)
	}
}

// Pauses end with their context.
func TestPause(t *testing.T) {
	start := time.Now()
	pause(t.Context(), -time.Second)
	if time.Since(start) > 10*time.Second {
		t.Error("a pause of less than nothing took long")
	}
}

// A load that nobody answers any more is hung, and the state of its targets is kept.
func TestHungLoad(t *testing.T) {
	dir, port := t.TempDir(), freePort(t)
	trial := executed(t, dir, `blocks: 1
target:
  api:
    command: [EXE]
    env: {ENGINE_SUBJECT: "mute `+port+`"}
    ready: {tcp: "127.0.0.1:`+port+`", patience: 20s}
    fresh: trial
load:
  http: {url: "http://127.0.0.1:`+port+`/"}
  clients: 2
  for: 20s
  timeout: 30s
hung: {after: 1s}
`)[0]
	if trial.Outcome != assay.Hung || noteWith(trial, "no progress for 1s", "api") == "" {
		t.Errorf("outcome %s %v, notes %q; want hung", trial.Outcome, trial.RefusedBy, trial.Notes)
	}
	if b, err := os.ReadFile(path(dir, stateFile)); err != nil || !strings.Contains(string(b), "api: process") {
		t.Errorf("%s holds %q, %v; want the target's processes", stateFile, b, err)
	}
}
