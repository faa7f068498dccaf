package grade

import (
	"math"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

func twoSides(t *testing.T, blocks int, expectation string) *bench {
	return newBench(t, blocks, []string{"side", "a", "b"}).measure("rate_m", "files/s", assay.More).claim(assay.Hypothesis{
		Kind: assay.Ratio, Measure: ref(t, "rate_m"), Of: assay.Cell{"side": "a"}, To: assay.Cell{"side": "b"}, Expect: expect(t, expectation)})
}

func rates(a, b float64) func(assay.Cell) float64 {
	return func(c assay.Cell) float64 {
		if c["side"] == "a" {
			return a
		}
		return b
	}
}

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		name, expect string
		a, b, sd     float64
		blocks       int
		status       assay.Status
		reason       assay.Reason
	}{
		{"clearly above", "> 1.05", 120, 100, 0.01, 12, assay.Pass, assay.Holds},
		{"clearly below", "> 1.05", 90, 100, 0.01, 12, assay.Fail, assay.Contradicted},
		{"on the bound", "> 1.05", 105, 100, 0.05, 12, assay.Undecided, assay.Straddles},
		{"in a range", "1.1..1.3", 120, 100, 0.01, 12, assay.Pass, assay.Holds},
		{"five blocks say nothing", "> 1.05", 200, 100, 0.01, 5, assay.Undecided, assay.Underpowered},
		{"six blocks say something", "> 1.05", 200, 100, 0.01, 6, assay.Pass, assay.Holds},
		{"constant and equal", "<= 1", 100, 100, 0, 12, assay.Untested, assay.Vacuous},
		{"constant and different", "> 1.05", 110, 100, 0, 12, assay.Pass, assay.Holds},
		{"nothing but zero", ">= 1", 0, 0, 0, 12, assay.Untested, assay.Vacuous},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := twoSides(t, c.blocks, c.expect).run(0, "s", noisy("rate_m", c.sd, 3, rates(c.a, c.b)))
			v := b.want(c.status, c.reason)
			if v.Verdict == assay.Pass && (v.Low == nil || v.High == nil || !(*v.Low <= *v.Estimate && *v.Estimate <= *v.High)) {
				t.Errorf("estimate %v not within %v to %v", v.Estimate, v.Low, v.High)
			}
		})
	}
}

func TestRatioOfFailingSides(t *testing.T) {
	fail := func(side string, every int, outcome assay.Outcome) func(Step, *assay.Trial) {
		plain := noisy("rate_m", 0.01, 5, rates(130, 100))
		return func(s Step, tr *assay.Trial) {
			if tr.Cell["side"] == side && s.Block%every == 0 {
				tr.Outcome = outcome
				return
			}
			plain(s, tr)
		}
	}
	for _, c := range []struct {
		name   string
		fill   func(Step, *assay.Trial)
		status assay.Status
		reason assay.Reason
	}{
		{"always", fail("a", 1, assay.Failed), assay.Untested, assay.Vacuous},
		{"half of the better side", fail("a", 2, assay.OOM), assay.Undecided, assay.Straddles},
		{"half of the worse side", fail("b", 2, assay.Hung), assay.Pass, assay.Holds},
		{"once, by the better side", fail("a", 12, assay.Crashed), assay.Pass, assay.Holds},
		{"half of the better side killed", fail("a", 2, assay.Killed), assay.Untested, assay.Censored},
		{"once killed", fail("a", 12, assay.Killed), assay.Pass, assay.Holds},
		{"always killed", fail("a", 1, assay.Killed), assay.Untested, assay.Vacuous},
	} {
		t.Run(c.name, func(t *testing.T) {
			twoSides(t, 12, "> 1.05").run(0, "s", c.fill).want(c.status, c.reason)
		})
	}
}

func TestVoidTrialsDropTheirPairs(t *testing.T) {
	b := twoSides(t, 12, "> 1.05")
	plain := noisy("rate_m", 0.01, 5, rates(110, 100))
	b.run(0, "s", func(s Step, tr *assay.Trial) {
		plain(s, tr)
		if s.Block == 3 && tr.Cell["side"] == "a" {
			tr.Valid, tr.VoidBy = false, []string{"guard:clock-step"}
			tr.Measures["rate_m"] = assay.Num(1)
		}
	})
	v := b.want(assay.Pass, assay.Holds)
	if v.Blocks != 12 || *v.Low < 1 {
		t.Errorf("%d blocks, low %v; want the void block replaced by its repeat", v.Blocks, *v.Low)
	}
	if n := b.judge().Verdicts.Trials; n != (assay.TrialCount{Planned: 24, OK: 25, Void: 1}) {
		t.Errorf("counts %+v", n)
	}
}

func TestVoidsOnOneSideOnly(t *testing.T) {
	b := twoSides(t, 12, "> 1.05")
	plain := noisy("rate_m", 0.01, 5, rates(120, 100))
	b.run(0, "s", func(s Step, tr *assay.Trial) {
		plain(s, tr)
		if s.Block%2 == 0 && tr.Cell["side"] == "a" {
			tr.Valid, tr.VoidBy = false, []string{"guard:delivered"}
		}
	})
	b.want(assay.Undecided, assay.UnequalVoids)
	b.trials = nil
	b.run(0, "s", func(s Step, tr *assay.Trial) {
		plain(s, tr)
		if tr.Cell["side"] == "a" {
			tr.Valid, tr.VoidBy = false, []string{"guard:delivered"}
		}
	}).want(assay.Void, assay.GuardReason("delivered"))
}

func TestMachineGuardsOnBothSidesAnnotate(t *testing.T) {
	b := twoSides(t, 12, "> 1.05")
	b.e.Retries = 0
	b.claim(assay.Hypothesis{ID: "abs", Kind: assay.Absolute, Measure: ref(t, "rate_m"), At: assay.Cell{"side": "a"}, Expect: expect(t, "> 50")})
	plain := noisy("rate_m", 0.01, 5, rates(120, 100))
	b.run(0, "s", func(s Step, tr *assay.Trial) {
		plain(s, tr)
		tr.Valid, tr.VoidBy = false, []string{"guard:steal"}
	})
	v := b.judge().Verdicts.Hypotheses
	if v[0].Verdict != assay.Pass || v[1].Verdict != assay.Void || v[1].Reason != "guard:steal" {
		t.Errorf("ratio %s %s, value %s %s; want PASS and VOID guard:steal", v[0].Verdict, v[0].Reason, v[1].Verdict, v[1].Reason)
	}
}

func TestIncompletePlan(t *testing.T) {
	for n := range 24 {
		b := twoSides(t, 12, "> 1.05")
		if n == 0 {
			b.want(assay.Untested, assay.Vacuous)
			continue
		}
		b.run(n, "s", noisy("rate_m", 0.01, 3, rates(150, 100))).want(assay.Undecided, assay.Incomplete)
	}
}

func TestSidesInDifferentSessions(t *testing.T) {
	b := twoSides(t, 12, "> 1.05").run(0, "s", noisy("rate_m", 0.01, 3, rates(150, 100)))
	for i := range b.trials {
		if b.trials[i].Cell["side"] == "a" {
			b.trials[i].Session = "t"
		}
	}
	b.want(assay.Void, assay.CrossSession)
}

func TestSessionsPoolByFingerprint(t *testing.T) {
	two := func(same bool) *bench {
		b := twoSides(t, 12, "> 1.05")
		b.claim(assay.Hypothesis{ID: "abs", Kind: assay.Absolute, Measure: ref(t, "rate_m"), At: assay.Cell{"side": "a"}, Expect: expect(t, "> 50")})
		b.run(10, "s", noisy("rate_m", 0.01, 3, rates(150, 100)))
		b.run(0, "t", noisy("rate_m", 0.01, 4, rates(150, 100)))
		other := "x"
		if !same {
			other = "y"
		}
		b.host.Sessions = []assay.Session{{ID: "s", Fingerprint: map[string]string{"cpu": "x"}}, {ID: "t", Fingerprint: map[string]string{"cpu": other}}}
		return b
	}
	v := two(true).judge().Verdicts.Hypotheses
	if v[0].Verdict != assay.Pass || v[0].Blocks != 12 {
		t.Errorf("equal fingerprints: %s %s over %d blocks, want PASS over 12", v[0].Verdict, v[0].Reason, v[0].Blocks)
	}
	if v[1].Verdict == assay.Pass {
		t.Error("an absolute claim passed, though five blocks of one session decide nothing")
	}
	if v := two(false).verdict(); v.Verdict == assay.Pass {
		t.Error("blocks of different fingerprints pooled")
	}
}

func TestOpenFactorsMustHoldEverywhere(t *testing.T) {
	b := newBench(t, 12, []string{"side", "a", "b"}, []string{"n", "1", "2"}).measure("rate_m", "files/s", assay.More)
	b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(t, "rate_m"), Of: assay.Cell{"side": "a"}, To: assay.Cell{"side": "b"}, Expect: expect(t, "> 1.05")})
	b.run(0, "s", noisy("rate_m", 0.01, 3, func(c assay.Cell) float64 {
		if c["side"] == "b" {
			return 100
		}
		return map[string]float64{"1": 120, "2": 110}[c["n"]]
	}))
	v := b.want(assay.Pass, assay.Holds)
	if math.Abs(*v.Estimate-1.1) > 0.02 {
		t.Errorf("estimate %v, want the least favourable, 1.1", *v.Estimate)
	}
	b.e.Hypotheses[0].Expect = expect(t, "> 1.15")
	b.want(assay.Fail, assay.Contradicted)
}

func TestValueIsInTheUnitNamed(t *testing.T) {
	b := newBench(t, 8, []string{"side", "a"})
	b.claim(assay.Hypothesis{Kind: assay.Absolute, Measure: ref(t, "wall"), Expect: expect(t, "< 250ms")})
	b.run(0, "s", noisy("wall_ns", 0.01, 3, func(assay.Cell) float64 { return 200e6 }))
	v := b.want(assay.Pass, assay.Holds)
	if v.Unit != "ms" || math.Abs(*v.Estimate-200) > 5 || math.Abs(*v.High-200) > 10 {
		t.Errorf("%v %s, high %v; want about 200 ms", *v.Estimate, v.Unit, *v.High)
	}
}

func TestDifference(t *testing.T) {
	b := newBench(t, 8, []string{"side", "a", "b"})
	b.claim(assay.Hypothesis{Kind: assay.Difference, Measure: ref(t, "wall"), Of: assay.Cell{"side": "a"}, To: assay.Cell{"side": "b"}, Expect: expect(t, "> 10ms")})
	b.run(0, "s", noisy("wall_ns", 0.001, 3, rates(250e6, 200e6)))
	v := b.want(assay.Pass, assay.Holds)
	if v.Unit != "ms" || math.Abs(*v.Estimate-50) > 2 {
		t.Errorf("%v %s, want about 50 ms", *v.Estimate, v.Unit)
	}
}

func TestIdentical(t *testing.T) {
	run := func(digest func(s Step, tr *assay.Trial) string) *bench {
		b := newBench(t, 4, []string{"side", "a", "b"}).measure("output", "", "")
		b.claim(assay.Hypothesis{Kind: assay.Identical, Measure: ref(t, "output")})
		return b.run(0, "s", func(s Step, tr *assay.Trial) {
			if d := digest(s, tr); d != "" {
				tr.Measures["output"] = assay.Txt(d)
			}
		})
	}
	run(func(Step, *assay.Trial) string { return "x" }).want(assay.Pass, assay.Holds)
	run(func(s Step, tr *assay.Trial) string { return tr.Cell["side"] }).want(assay.Fail, assay.Contradicted)
	run(func(s Step, tr *assay.Trial) string {
		if s.Block == 4 && s.Position == 2 {
			return "y"
		}
		return "x"
	}).want(assay.Fail, assay.Contradicted)
	run(func(Step, *assay.Trial) string { return "" }).want(assay.Untested, assay.Vacuous)
	run(func(s Step, tr *assay.Trial) string {
		if tr.Cell["side"] == "a" {
			tr.Outcome = assay.Failed
			return ""
		}
		return "x"
	}).want(assay.Untested, assay.Vacuous)
}

func TestAmendedAfterData(t *testing.T) {
	b := twoSides(t, 12, "> 1.05").run(0, "s", noisy("rate_m", 0.01, 3, rates(150, 100)))
	b.amend = []assay.Amendment{{Time: time.Unix(0, 0), Trials: 3, Changes: []string{"hypotheses.H1.expect"}, Plan: assay.NewPlan(&b.e, b.seed)}}
	if v := b.want(assay.Pass, assay.Holds); !v.Exploratory {
		t.Error("a bar moved after data is not exploratory")
	}
	b.amend[0].Trials = 0
	if v := b.verdict(); v.Exploratory {
		t.Error("a bar moved before data is exploratory")
	}
	b.amend[0].Trials, b.amend[0].Changes = 3, []string{"hypotheses.H2.expect", "question"}
	if v := b.verdict(); v.Exploratory {
		t.Error("another bar moved, and this one is exploratory")
	}
}

func TestAbsentCells(t *testing.T) {
	b := twoSides(t, 12, "> 1.05")
	b.e.Absent = []assay.AbsentCell{{Cell: assay.Cell{"side": "a"}, Why: "no compiler"}}
	b.e.Settings = b.e.Settings[1:]
	b.run(0, "s", noisy("rate_m", 0.01, 3, rates(1, 1))).want(assay.Untested, assay.NotTestableHere)
}

func TestConfounded(t *testing.T) {
	b := newBench(t, 6, []string{"side", "a", "b"}, []string{"n", "1", "2"}).measure("rate_m", "files/s", assay.More)
	b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(t, "rate_m"), Of: assay.Cell{"side": "a", "n": "1"}, To: assay.Cell{"side": "b", "n": "2"}, Expect: expect(t, "> 1")})
	b.run(0, "s", noisy("rate_m", 0.01, 3, rates(150, 100))).want(assay.Void, assay.Confounded)
}

func TestAchievedBelowNominal(t *testing.T) {
	b := newBench(t, 6, []string{"inflight", "1", "64"}).measure("rate_m", "files/s", assay.More)
	b.e.Factors[0].Achieved = &assay.Achieved{AtLeast: 0.9}
	b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(t, "rate_m"), Of: assay.Cell{"inflight": "64"}, To: assay.Cell{"inflight": "1"}, Expect: expect(t, "> 1")})
	plain := noisy("rate_m", 0.01, 3, rates(150, 100))
	achieved := 10.0
	fill := func(s Step, tr *assay.Trial) {
		plain(s, tr)
		tr.Achieved = map[string]assay.Value{"inflight": assay.Num(min(achieved, map[string]float64{"1": 1, "64": 64}[tr.Cell["inflight"]]))}
	}
	b.run(0, "s", fill).want(assay.Void, assay.NoEffect)
	b.trials, achieved = nil, 64
	b.run(0, "s", fill)
	if v := b.verdict(); v.Verdict == assay.Void {
		t.Errorf("got %s %s, though the level took effect", v.Verdict, v.Reason)
	}
}

func TestAboveCeiling(t *testing.T) {
	b := twoSides(t, 8, "> 1.05")
	b.e.Ceilings = []assay.Ceiling{{Measure: ref(t, "rate_m"), Expr: "100", Limit: map[string]float64{"side=a": 100, "side=b": 100}}}
	b.run(0, "s", noisy("rate_m", 0.01, 3, rates(150, 90))).want(assay.Void, assay.AboveCeiling)
}

func TestVerdictsAreTheSameBytes(t *testing.T) {
	b := twoSides(t, 12, "> 1.05").run(0, "s", noisy("rate_m", 0.01, 3, rates(150, 100)))
	first := b.verdict()
	for range 20 {
		again := b.verdict()
		if len(again.Notes) != len(first.Notes) {
			t.Fatal("notes differ")
		}
		for i := range again.Notes {
			if again.Notes[i] != first.Notes[i] {
				t.Fatalf("%q and %q", again.Notes[i], first.Notes[i])
			}
		}
	}
}

func TestConfidenceIsDivided(t *testing.T) {
	for _, c := range []struct {
		claims int
		looks  []int
		want   float64
	}{{1, nil, 0.95}, {4, nil, 0.9875}, {1, []int{8, 12}, 0.975}, {5, []int{6, 8, 10, 12}, 0.9975}} {
		b := twoSides(t, 12, "> 1.05")
		for i := 1; i < c.claims; i++ {
			h := b.e.Hypotheses[0]
			h.ID = string(rune('A' + i))
			b.claim(h)
		}
		b.measure("output", "", "").claim(assay.Hypothesis{ID: "same", Kind: assay.Identical, Measure: ref(t, "output")})
		b.e.Looks = c.looks
		b.run(0, "s", noisy("rate_m", 0.01, 3, rates(150, 100)))
		if v := b.verdict(); math.Abs(v.Confidence-c.want) > 1e-12 {
			t.Errorf("%d claims, looks %v: confidence %v, want %v", c.claims, c.looks, v.Confidence, c.want)
		}
	}
}

// A failed trial is worse than any number, in the direction that the measure has.
func TestFailedIsWorse(t *testing.T) {
	for _, better := range []assay.Better{assay.More, assay.Lower, ""} {
		b := newBench(t, 12, []string{"side", "a", "b"}).measure("m", "ms", better)
		b.claim(assay.Hypothesis{Kind: assay.Absolute, Measure: ref(t, "m"), At: assay.Cell{"side": "a"}, Expect: expect(t, "50..150")})
		b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Absolute, Measure: ref(t, "m"), At: assay.Cell{"side": "a"}, Expect: expect(t, "> 50")})
		b.claim(assay.Hypothesis{ID: "H3", Kind: assay.Absolute, Measure: ref(t, "m"), At: assay.Cell{"side": "a"}, Expect: expect(t, "< 150")})
		plain := noisy("m", 0.01, 3, func(assay.Cell) float64 { return 100 })
		b.run(0, "s", func(s Step, tr *assay.Trial) {
			plain(s, tr)
			if s.Block <= 5 {
				tr.Outcome = assay.Failed
			}
		})
		want := map[assay.Better][3]assay.Status{
			assay.More:  {assay.Undecided, assay.Undecided, assay.Pass},
			assay.Lower: {assay.Undecided, assay.Pass, assay.Undecided},
			"":          {assay.Undecided, assay.Undecided, assay.Undecided},
		}[better]
		for i, v := range b.judge().Verdicts.Hypotheses {
			if v.Verdict != want[i] && !(better == "" && v.Verdict == assay.Untested && v.Reason == assay.Censored) {
				t.Errorf("better %q, %s: %s %s, want %s", better, v.ID, v.Verdict, v.Reason, want[i])
			}
		}
	}
}

func TestRateBoundByTheOffer(t *testing.T) {
	b := newBench(t, 12, []string{"side", "a", "b"})
	for i := range b.e.Settings {
		b.e.Settings[i].Workload.Load = &assay.Load{Rate: 100, For: 10 * time.Second}
	}
	b.claim(assay.Hypothesis{Kind: assay.Same, Measure: ref(t, "rate"), Of: assay.Cell{"side": "a"}, To: assay.Cell{"side": "b"}, Margin: 0.05})
	b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Absolute, Measure: ref(t, "rate"), At: assay.Cell{"side": "a"}, Expect: expect(t, "> 90/s")})
	b.run(0, "s", noisy("rate_per_s", 0.001, 3, rates(99.5, 99.6)))
	b.want(assay.Untested, assay.Censored)
	if v := b.judge().Verdicts.Hypotheses[1]; v.Verdict != assay.Pass {
		t.Errorf("at least 90/s: %s %s; a bound from below is enough", v.Verdict, v.Reason)
	}
	b.trials = nil
	b.run(0, "s", noisy("rate_per_s", 0.001, 3, rates(70, 70))).want(assay.Pass, assay.Holds)
}

func TestBlocksAddedAfterALookJudgeAlone(t *testing.T) {
	b := twoSides(t, 6, "> 1.05").run(0, "s", noisy("rate_m", 0.01, 3, rates(150, 100)))
	before := assay.NewPlan(&b.e, b.seed)
	n := len(b.trials)
	b.e.Blocks = 14
	b.run(0, "s", noisy("rate_m", 0.01, 3, rates(100, 100)))
	f := b.folder()
	f.Registration.Plan = before
	f.Registration.Amendments = []assay.Amendment{{Time: time.Unix(0, 0), Trials: n, Changes: []string{"blocks"}, Plan: assay.NewPlan(&b.e, b.seed)}}
	v := Judge(f).Verdicts.Hypotheses[0]
	if v.Verdict != assay.Fail || v.Blocks != 8 || v.Exploratory {
		t.Errorf("%s %s over %d blocks, exploratory %v; want FAIL by the 8 added blocks alone", v.Verdict, v.Reason, v.Blocks, v.Exploratory)
	}
	// Added before the plan was done, they pool: no look had been taken.
	f.Registration.Amendments[0].Trials = n - 1
	if v := Judge(f).Verdicts.Hypotheses[0]; v.Blocks != 14 {
		t.Errorf("%d blocks, want all 14", v.Blocks)
	}
}

func TestIdenticalOfFailedAndKilledTrials(t *testing.T) {
	for _, c := range []struct {
		outcome assay.Outcome
		keep    bool
		status  assay.Status
		reason  assay.Reason
	}{
		{assay.Failed, false, assay.Fail, assay.Contradicted},
		{assay.Killed, false, assay.Untested, assay.Censored},
		{assay.OK, false, assay.Untested, assay.Censored},
		{assay.OK, true, assay.Pass, assay.Holds},
	} {
		b := newBench(t, 4, []string{"side", "a", "b"}).measure("output", "", "")
		b.claim(assay.Hypothesis{Kind: assay.Identical, Measure: ref(t, "output")})
		b.run(0, "s", func(s Step, tr *assay.Trial) {
			tr.Measures["output"] = assay.Txt("x")
			if s.Block == 2 && tr.Cell["side"] == "a" {
				tr.Outcome = c.outcome
				if !c.keep {
					delete(tr.Measures, "output")
				}
			}
		}).want(c.status, c.reason)
	}
}

func TestCounts(t *testing.T) {
	b := twoSides(t, 6, "> 1")
	b.e.Warmup, b.e.Retries = 2, 0
	outcomes := []assay.Outcome{assay.OK, assay.Failed, assay.Killed, assay.Capped, assay.Refused, assay.OOM}
	b.run(0, "s", func(s Step, tr *assay.Trial) {
		if s.Warmup {
			tr.Outcome = assay.Failed
			return
		}
		tr.Outcome = outcomes[s.Block-1]
		tr.Valid = s.Block != 1 || s.Position != 1
	})
	want := assay.TrialCount{Planned: 12, OK: 1, Void: 1, Failed: 4, Killed: 4, Refused: 2}
	if n := b.judge().Verdicts.Trials; n != want {
		t.Errorf("%+v, want %+v", n, want)
	}
}
