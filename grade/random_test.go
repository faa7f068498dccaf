package grade

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// vocabulary is every status with its reasons.
var vocabulary = map[assay.Status][]assay.Reason{
	assay.Pass:      {assay.Holds},
	assay.Fail:      {assay.Contradicted},
	assay.Undecided: {assay.Straddles, assay.Underpowered, assay.Incomplete, assay.UnequalVoids},
	assay.Untested:  {assay.Vacuous, assay.AxisGap, assay.AxisEdge, assay.Censored, assay.NotTestableHere},
	assay.Void:      {assay.NoEffect, assay.Regimes, assay.Confounded, assay.CrossSession, assay.BadInstrument, assay.AboveCeiling},
}

func inVocabulary(s assay.Status, r assay.Reason) bool {
	if s == assay.Void && strings.HasPrefix(string(r), guardPrefix) {
		return true
	}
	for _, known := range vocabulary[s] {
		if known == r {
			return true
		}
	}
	return false
}

// randomBench is some experiment with every kind of hypothesis, and some log of it.
func randomBench(t *testing.T, rng *rand.Rand) *bench {
	factors := [][]string{append([]string{"n"}, []string{"1", "2", "4", "8", "16"}[:2+rng.IntN(4)]...), {"side", "a", "b"}}
	b := newBench(t, 1+rng.IntN(12), factors...).measure("m", "files/s", []assay.Better{assay.More, assay.Lower, ""}[rng.IntN(3)]).measure("out", "", "")
	b.seed, b.e.Retries, b.e.Warmup = rng.Uint64(), rng.IntN(3), rng.IntN(2)
	if rng.IntN(3) == 0 {
		b.e.Looks = []int{1 + rng.IntN(b.e.Blocks), b.e.Blocks}
	}
	b.e.Ladders = []assay.Ladder{{Name: "l", Rungs: []assay.Cell{{"n": "1", "side": "a"}, {"n": "2", "side": "a"}, {"n": "2", "side": "b"}},
		Added: []assay.Cell{{"n": "2"}, {"side": "b"}}}}
	m, out := assay.MeasureRef{Name: "m"}, assay.MeasureRef{Name: "out"}
	at := []assay.Cell{nil, {"side": "a"}}[rng.IntN(2)]
	bound := []string{"> 1.05", "< 1", "0.9..1.2", "!= 1", "== 1", "> 100"}[rng.IntN(6)]
	meets, err := assay.ParseCondition("m > 50")
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range []assay.Hypothesis{
		{Kind: assay.Ratio, Measure: m, Of: assay.Cell{"side": "a"}, To: assay.Cell{"side": "b"}, Expect: expect(t, bound)},
		{Kind: assay.Difference, Measure: m, Of: assay.Cell{"side": "a"}, To: assay.Cell{"side": "b"}, At: assay.Cell{"n": "1"}, Expect: expect(t, bound)},
		{Kind: assay.Same, Measure: m, Of: assay.Cell{"side": "a"}, To: assay.Cell{"side": "b"}, Margin: 0.1},
		{Kind: assay.Absolute, Measure: m, At: at, Expect: expect(t, bound)},
		{Kind: assay.Knee, Measure: m, Along: "n", At: at, Margin: 0.1, Expect: expect(t, bound)},
		{Kind: assay.Highest, Along: "n", At: at, Meets: []assay.Condition{meets}, Expect: expect(t, bound)},
		{Kind: assay.Trend, Measure: m, Along: "n", At: at, Direction: []string{"up", "down", "none"}[rng.IntN(3)]},
		{Kind: assay.Line, Measure: m, Along: "n", At: at, Slope: expect(t, bound)},
		{Kind: assay.Identical, Measure: out, At: at},
		{Kind: assay.LadderKind, Measure: m, Ladder: "l", Largest: assay.Cell{"n": "2"}},
	} {
		h.ID = string(rune('A' + i))
		b.claim(h)
	}
	sessions := []string{"s", "s", "t"}
	for rng.IntN(4) != 0 && len(b.trials) < 400 {
		b.run(1+rng.IntN(80), sessions[rng.IntN(3)], randomTrial(rng))
	}
	if rng.IntN(2) == 0 {
		b.run(0, "s", randomTrial(rng))
	}
	if rng.IntN(6) == 0 && len(b.trials) > 2 {
		b.amend = []assay.Amendment{{Time: time.Unix(0, 0), Trials: 2, Changes: []string{"hypotheses.A.expect"}, Plan: assay.NewPlan(&b.e, b.seed)}}
	}
	return b
}

func randomTrial(rng *rand.Rand) func(Step, *assay.Trial) {
	wild := rng.IntN(3) == 0
	return func(_ Step, tr *assay.Trial) {
		tr.Measures["m"] = assay.Num(100 * math.Exp(0.1*rng.NormFloat64()))
		tr.Measures["out"] = assay.Txt("x")
		if !wild {
			return
		}
		switch rng.IntN(14) {
		case 0:
			tr.Valid, tr.VoidBy = false, []string{[]string{"guard:steal", "guard:delivered", "odd"}[rng.IntN(3)]}
		case 1:
			tr.Outcome = []assay.Outcome{assay.Failed, assay.Crashed, assay.OOM, assay.Hung, assay.Capped}[rng.IntN(5)]
		case 2:
			tr.Outcome = assay.Killed
		case 3:
			tr.Outcome = []assay.Outcome{assay.Refused, assay.Interrupted}[rng.IntN(2)]
		case 4:
			delete(tr.Measures, "m")
		case 5:
			tr.Measures["m"] = []assay.Value{assay.Num(0), assay.Num(-5), assay.Num(math.Inf(1)), assay.Txt("odd")}[rng.IntN(4)]
		case 6:
			tr.Measures["out"] = assay.Txt("y")
		}
	}
}

// Whatever was recorded, every verdict is a word of the vocabulary with finite figures in order, and
// nothing passes or fails in a plan that is not done.
func TestAnyLogGetsAVerdict(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 31))
		b := randomBench(t, rng)
		j := b.judge()
		s := NewSchedule(assay.NewPlan(&b.e, b.seed), b.seed)
		for i := range b.trials {
			s.Add(&b.trials[i])
		}
		look := s.reached(s.looks()[0])
		for _, v := range j.Verdicts.Hypotheses {
			if !inVocabulary(v.Verdict, v.Reason) {
				t.Fatalf("seed %d, %s: %s %s is not in the vocabulary", seed, v.ID, v.Verdict, v.Reason)
			}
			if !look && (v.Verdict == assay.Pass || v.Verdict == assay.Fail) {
				t.Fatalf("seed %d, %s: %s in a plan of which no look is reached", seed, v.ID, v.Verdict)
			}
			if v.Low != nil && v.High != nil && *v.Low > *v.High {
				t.Fatalf("seed %d, %s: low %v above high %v", seed, v.ID, *v.Low, *v.High)
			}
			if v.Notes == nil {
				t.Fatalf("seed %d, %s: notes are null", seed, v.ID)
			}
		}
		first, err := json.Marshal(j.Verdicts)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again, err := json.Marshal(b.judge().Verdicts)
		if err != nil || string(again) != string(first) {
			t.Fatalf("seed %d: judged twice, not the same bytes", seed)
		}
	}
}
