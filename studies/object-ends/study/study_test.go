package study

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
	"github.com/assaybench/assay/store"
)

// committed are the folders of the study as they were committed.
func committed(t *testing.T) *Results {
	t.Helper()
	r, err := ReadResults("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sessions) == 0 {
		t.Fatal("no session was committed")
	}
	return r
}

func folder(t *testing.T, name string) *Folder {
	t.Helper()
	f := committed(t).First(name)
	switch {
	case f == nil:
		t.Fatalf("%s: no folder was committed", name)
	case len(f.Contents.Registration.CurrentPlan().Stages) == 0 && len(f.Contents.Trials) < f.Contents.Registration.Plan.Blocks:
		t.Fatalf("%s: the folder holds %d trials", name, len(f.Contents.Trials))
	}
	return f
}

// demand holds a verdict against what the table of situations asks for.
func demand(t *testing.T, f *Folder, id string, status assay.Status, reasons ...assay.Reason) assay.Verdict {
	t.Helper()
	v := f.Verdict(id)
	if v.Verdict == status && (len(reasons) == 0 || slices.Contains(reasons, v.Reason)) {
		return v
	}
	t.Errorf("%s %s: %s (%s), want %s %v; notes %q", f.Experiment.Name, id, v.Verdict, v.Reason, status, reasons, v.Notes)
	return v
}

func noted(t *testing.T, what string, notes []string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, w) }) {
			t.Errorf("%s: no note holds %q: %q", what, w, notes)
		}
	}
}

// T2.1: fewer bytes on a link that is not the claim's is neither a failure nor a success; where it can be
// tested it is, and the flip lies where two terms said that it would.
func TestBytesAgainstRoundTrips(t *testing.T) {
	f := folder(t, "bytes")
	v := demand(t, f, "H1", assay.Untested, assay.NotTestableHere)
	noted(t, "H1", v.Notes, "testable where bandwidth(bulk) <= 125MB/s; here bandwidth(bulk) was")
	demand(t, f, "H2", assay.Pass, assay.Holds)
	demand(t, f, "H3", assay.Pass, assay.Holds)
	if whole, ends := f.Median(assay.Cell{"read": "whole"}, "bytes"), f.Median(assay.Cell{"read": "ends"}, "bytes"); !(whole > 15*ends) {
		t.Errorf("whole files are %v B, their ends %v B: want 17 times fewer", whole, ends)
	}
	for _, name := range []string{"flip-rtt", "flip-bandwidth"} {
		f := folder(t, name)
		v := demand(t, f, "H1", assay.Pass, assay.Holds)
		if v.Low == nil || v.High == nil {
			t.Errorf("%s: the flip is no bracket: %+v", name, v)
		}
		demand(t, f, "H2", assay.Pass, assay.Holds)
	}
	if ms := predictedRTT().Seconds() * 1e3; ms < 6 || ms >= 12 {
		t.Errorf("the model predicts a flip at %v ms, and 6ms..12ms was registered", ms)
	}
	if mb := predictedBandwidth() / 1e6; mb < 50 || mb >= 200 {
		t.Errorf("the model predicts a flip at %v MB/s, and 50MB/s..200MB/s was registered", mb)
	}
}

// T2.2: where an axis has a hole, the knee is not put into it; where levels are added, the rule is.
func TestKneesAreBrackets(t *testing.T) {
	gap := folder(t, "sweep-gap")
	// Whether 8 is within the margin of 32 is for the trials to say; nothing between is for anybody.
	switch v := gap.Verdict("H1"); {
	case v.Verdict == assay.Untested && v.Reason == assay.AxisGap:
		noted(t, "sweep-gap", v.Notes, "no level between them was measured")
	case v.Verdict != assay.Undecided:
		t.Errorf("the knee at 4 or below is %s (%s), and 4 was not measured", v.Verdict, v.Reason)
	}
	if v := gap.Verdict("H1"); v.Low == nil || *v.Low != 1 || v.High == nil || *v.High < 8 {
		t.Errorf("the knee is %s, want it above 1 and at most 8 or 32", knee(v))
	}
	for _, name := range []string{"sweep-fast", "sweep-slow"} {
		f := folder(t, name)
		levels := f.levels("inflight")
		v := demand(t, f, "H1", assay.Pass, assay.Holds)
		for _, end := range []*float64{v.Low, v.High} {
			if end != nil && !slices.Contains(levels, number(*end)) {
				t.Errorf("%s: an end of %s is no measured level of %v", name, knee(v), levels)
			}
		}
		if v.Verdict == assay.Pass && len(f.Contents.Registration.CurrentPlan().Stages) == 0 {
			t.Errorf("%s: no level was added between the registered ones", name)
		}
	}
}

// T2.3: the top of the axis stays in the table, whatever it does.
func TestNoLevelIsDropped(t *testing.T) {
	for _, name := range []string{"sweep-fast", "sweep-slow"} {
		f := folder(t, name)
		top := f.levels("inflight")
		notes := strings.Join(slices.Concat(f.Verdict("H1").Notes, f.Verdict("H2").Notes), "\n")
		if len(top) == 0 || !strings.Contains(notes, top[len(top)-1]+": ") {
			t.Errorf("%s: the last level of %v is not among the medians: %s", name, top, notes)
		}
		registered := f.Contents.Registration.Plan.Cells
		for _, c := range registered {
			if len(f.Trials(c.Cell)) < f.Contents.Registration.Plan.Blocks {
				t.Errorf("%s: %s has %d trials of %d", name, c.Cell, len(f.Trials(c.Cell)), f.Contents.Registration.Plan.Blocks)
			}
		}
	}
}

// T2.4: the same rate for files of 125 KiB and of 1 MiB, and one core at its limit: that one binds.
func TestWhatBinds(t *testing.T) {
	f := folder(t, "sweep-fast")
	demand(t, f, "H3", assay.Pass, assay.Holds)
	cell := assay.Cell{"inflight": "8", "tier": "medium"}
	server, client := f.Median(cell, "cpu_cores(store)"), f.cores(cell)
	t.Logf("the store used %.2f of its core, the reader %.2f of its own", server, client)
	if server < 0.7 || server < 1.3*client { // the starts and ends of readers, in which it idles, count in
		t.Error("want the store's core to bind")
	}
}

// T2.5, T2.6, T2.14: fill, then drain; both denominators; memory where rows are heavy enough.
func TestBuffer(t *testing.T) {
	f := folder(t, "buffer")
	v := f.Verdict("H1")
	noted(t, "H1", v.Notes, "of the second", "of the first")
	if v.Verdict == assay.Pass {
		t.Errorf("H1 %s: the writer's wait is no work here, so that a tenth cannot be lost", v.Verdict)
	}
	demand(t, f, "H2", assay.Pass, assay.Holds)
	peak := func(size string) (most, at, n int) {
		var out struct {
			Depth []struct{ Rows int } `json:"depth"`
		}
		if err := f.Output(f.Trials(assay.Cell{"buffer": size, "schema": "scalar"})[0].Trial, &out); err != nil {
			t.Fatal(err)
		}
		for i, d := range out.Depth {
			if d.Rows > most {
				most, at = d.Rows, i
			}
		}
		return most, at, len(out.Depth)
	}
	if most, _, _ := peak("100"); most > 100 {
		t.Errorf("a buffer of 100 held %d rows", most)
	}
	if most, at, n := peak("10000"); most < 150 || at > 2*n/3 {
		t.Errorf("a buffer of 10000 held %d rows at most, at reading %d of %d: want it to fill and then drain", most, at, n)
	}
	for _, id := range []string{"H3", "H4"} {
		scalar := demand(t, f, id+"[scalar]", assay.Untested, assay.NotTestableHere)
		noted(t, scalar.ID, scalar.Notes, "testable where held >= 1MB")
	}
	demand(t, f, "H3[full]", assay.Pass, assay.Holds)
	if v := f.Verdict("H4[full]"); v.Verdict == assay.Untested || v.Verdict == assay.Void || v.Verdict == "" {
		t.Errorf("resident memory with full rows: %s (%s), want it tested", v.Verdict, v.Reason)
	}
}

// T2.7: cells that differ in several terms are not compared.
func TestMixedComparisonIsRefused(t *testing.T) {
	r := committed(t)
	said, err := os.ReadFile(filepath.Join(r.Dir, r.Sessions[0], Refused+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"differ in 3 terms (inflight, throttle, tier)", "compare one at a time", "inflight: 4, throttle: 5ms, tier: small} to: {inflight: 1, throttle: 5ms, tier: small}"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("check said %q, want %q in it", said, want)
		}
	}
}

// T2.8: a hang is a hang, its state is kept, a first pass that is fine says accumulation, and the run
// goes on.
func TestLeak(t *testing.T) {
	f := folder(t, "leak")
	demand(t, f, "H1", assay.Untested, assay.Vacuous)
	demand(t, f, "H2", assay.Pass, assay.Holds)
	leaking, tidy := f.Trials(assay.Cell{"client": "leaking"}), f.Trials(assay.Cell{"client": "tidy"})
	blocks := f.Contents.Registration.Plan.Blocks
	if len(leaking) != blocks || len(tidy) != blocks {
		t.Fatalf("%d and %d trials, want %d each", len(leaking), len(tidy), blocks)
	}
	for _, trial := range tidy {
		if trial.Outcome != assay.OK {
			t.Errorf("trial %d, tidy: %s %q", trial.Trial, trial.Outcome, trial.Notes)
		}
	}
	for _, trial := range leaking {
		if trial.Outcome != assay.Hung {
			t.Errorf("trial %d, leaking: %s %q", trial.Trial, trial.Outcome, trial.Notes)
			continue
		}
		noted(t, "leaking", trial.Notes, "accumulation: pass 1 was ok, pass 2", "no ceiling")
		if dump := f.Dump(trial.Trial, "client"); !strings.Contains(dump, "close_wait") || !strings.Contains(dump, "established") {
			t.Errorf("trial %d: the dump tells nothing of half-closed and live connections: %q", trial.Trial, dump)
		}
	}
	if last := f.Contents.Trials[len(f.Contents.Trials)-1]; last.Block != blocks {
		t.Errorf("the last trial is of block %d, want %d", last.Block, blocks)
	}
}

// T2.9: 64 nominal through 10 connections are void, with the lever named.
func TestPool(t *testing.T) {
	v := demand(t, folder(t, "pool"), "H1", assay.Void, assay.NoEffect)
	noted(t, "pool", v.Notes, "inflight=64 did not take effect", "lever: what bounds inflight")
}

// T2.10, T2.12: whoever reads less, or something else, does not win; bytes that are only asked for are
// not those that came.
func TestFaults(t *testing.T) {
	f := folder(t, "faults")
	for id, fault := range map[string]string{"H1": "skip-rows", "H2": "pixels-as-footer"} {
		demand(t, f, id, assay.Untested, assay.Vacuous)
		for _, trial := range f.Trials(assay.Cell{"fault": fault}) {
			if trial.Outcome != assay.Failed || !math.IsNaN(f.Median(assay.Cell{"fault": fault}, "rate")) {
				t.Errorf("trial %d, %s: %s, rate counted", trial.Trial, fault, trial.Outcome)
			}
			said, err := os.ReadFile(filepath.Join(store.TrialPath(f.Dir, trial.Trial), "stderr"))
			if err != nil || !strings.Contains(string(said), "gate failed: file ") {
				t.Errorf("trial %d, %s: standard error is %q, %v; want the gate and the first file that differs", trial.Trial, fault, said, err)
			}
		}
	}
	demand(t, f, "H3", assay.Void, assay.GuardReason("agree"))
	for _, trial := range f.Contents.Trials {
		agreed := !slices.Contains(trial.VoidBy, assay.GuardVoid("agree"))
		if want := trial.Cell["fault"] != "count-requested"; trial.Outcome == assay.OK && agreed != want {
			t.Errorf("trial %d, %s: void by %v", trial.Trial, trial.Cell, trial.VoidBy)
		}
	}
}

// T2.11: what more processes give, beside what the store uses of the shared machine.
func TestProcesses(t *testing.T) {
	f := folder(t, "processes")
	demand(t, f, "H1", assay.Fail, assay.Contradicted)
	for _, n := range []string{"1", "2", "3", "4"} {
		if x := f.Median(assay.Cell{"processes": n}, "cpu_cores(store)"); !(x > 0.1) {
			t.Errorf("processes=%s: the store's processor time is %v", n, x)
		}
	}
	if remarks := f.Judgement.Remarks; !slices.ContainsFunc(remarks, func(s string) bool { return strings.Contains(s, "figures are of this topology") }) {
		t.Errorf("remarks %q: want the topology named", remarks)
	}
}

// T2.13: the gain of the whole ladder is split into its terms.
func TestLadder(t *testing.T) {
	f := folder(t, "ladder")
	for _, id := range []string{"H1", "H2"} {
		v := f.Verdict(id)
		noted(t, id, v.Notes, "sizes=manifest: factor", "fetch=parallel: factor", "inflight=4: factor", "the whole ladder: factor")
		if v.Verdict != assay.Pass && v.Verdict != assay.Fail && !(id == "H1" && v.Verdict == assay.Undecided) {
			t.Errorf("%s: %s (%s), want it decided", id, v.Verdict, v.Reason)
		}
	}
}

// T2.15: a link that claims two milliseconds and has none is refused, with the level that claims it.
func TestClaimedLink(t *testing.T) {
	f := folder(t, "claimed-link")
	v := demand(t, f, "H1", assay.Untested, assay.Vacuous)
	noted(t, "claimed-link", v.Notes, "were refused by their gates")
	for _, trial := range f.Contents.Trials {
		if trial.Cell["rtt"] == "2ms" && (trial.Outcome != assay.Refused || !strings.Contains(strings.Join(trial.RefusedBy, " "), "rtt=2ms claims it")) {
			t.Errorf("trial %d: %s %q, want it refused with the level that claims", trial.Trial, trial.Outcome, trial.RefusedBy)
		}
	}
}

// T2.16: the tail is a verdict of its own, and the map says how many in flight on either link.
func TestTailAndMap(t *testing.T) {
	for _, name := range []string{"sweep-fast", "sweep-slow"} {
		f := folder(t, name)
		demand(t, f, "H2", assay.Pass, assay.Holds)
		i := slices.IndexFunc(f.Judgement.Advice, func(a grade.Advice) bool { return a.Factor == "inflight" })
		if i < 0 || f.Judgement.Advice[i].Suggested == "" {
			t.Errorf("%s: no number in flight is suggested: %+v", name, f.Judgement.Advice)
		}
	}
}

// Knees and flips of two sessions have something in common.
func TestSessionsAgree(t *testing.T) {
	r := committed(t)
	if len(r.Sessions) < 2 {
		t.Fatalf("%d sessions were committed, want two", len(r.Sessions))
	}
	for _, e := range Entries() {
		if !e.Again {
			continue
		}
		a, b := r.Of(r.Sessions[0], e.Name), r.Of(r.Sessions[1], e.Name)
		if a == nil || b == nil || !Agree(a.Verdict("H1"), b.Verdict("H1")) {
			t.Errorf("%s: the brackets of two sessions do not agree", e.Name)
		}
	}
}

// All readers, stores and days arrive at the same rows.
func TestStoresAgree(t *testing.T) {
	r := committed(t)
	for _, session := range r.Sessions {
		text, err := os.ReadFile(filepath.Join(r.Dir, session, storesFile))
		if err != nil {
			t.Fatal(err)
		}
		var s Stores
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if s.Versitygw == "" || s.Versitygw != s.Gofakes3 || s.Versitygw != s.ClosedForm {
			t.Errorf("session %s: %+v", session, s)
		}
	}
	for _, name := range []string{"sweep-fast", "sweep-slow", "bytes", "ladder", "processes"} {
		f := folder(t, name)
		for _, h := range f.Experiment.Hypotheses {
			if h.Kind == assay.Identical {
				demand(t, f, h.ID, assay.Pass, assay.Holds)
			}
		}
	}
}

// RESULTS.md is what the folders say, and the verdicts in them are what grading gives.
func TestResultsAreOfTheFolders(t *testing.T) {
	r := committed(t)
	text, err := os.ReadFile(filepath.Join("..", resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	filled, err := r.Fill(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if filled != string(text) {
		t.Error("the figures of RESULTS.md are not those of the folders; go run ./object-ends results")
	}
	if n := len(marked.FindAllString(filled, -1)); n < 15 {
		t.Errorf("%d marks, want 15", n)
	}
	if _, err := r.Fill("<!-- figures: nothing -->\n<!-- end -->"); err == nil {
		t.Error("a mark without figures was filled")
	}
	for key, f := range r.folders {
		text, err := os.ReadFile(filepath.Join(f.Dir, "verdicts.json"))
		var v assay.Verdicts
		if err != nil || json.Unmarshal(text, &v) != nil {
			t.Fatalf("%s: %v", key, err)
		}
		for i, h := range v.Hypotheses {
			if now := f.Judgement.Verdicts.Hypotheses[i]; now.Verdict != h.Verdict || now.Reason != h.Reason {
				t.Errorf("%s %s: verdicts.json says %s (%s), grading %s (%s)", key, h.ID, h.Verdict, h.Reason, now.Verdict, now.Reason)
			}
		}
	}
}
