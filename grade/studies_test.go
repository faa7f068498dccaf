package grade

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/assaybench/assay"
)

// A scene is a table or a series of a real campaign, with the verdict that it deserves.
type scene struct {
	id     string // of the case
	what   string
	build  func(v *variant) *bench
	status assay.Status
	reason assay.Reason
	check  func(t *testing.T, j Judgement) // of what the first verdict does not say; may be nil
}

// A variant is a scene with its numbers moved a little by a seed.
type variant struct {
	t    *testing.T
	seed uint64
	sd   float64
}

// gives fills the measure with want's number for each cell, moved by noise; below 0 it is left out.
func (v *variant) gives(name string, want func(c assay.Cell) float64) func(Step, *assay.Trial) {
	rng := rand.New(rand.NewPCG(v.seed, uint64(len(name))))
	return func(_ Step, t *assay.Trial) {
		if x := want(t.Cell); x >= 0 {
			t.Measures[name] = assay.Num(x * (1 + v.sd*rng.NormFloat64()))
		}
	}
}

// exactly is gives without noise.
func (v *variant) exactly(name string, want func(c assay.Cell) float64) func(Step, *assay.Trial) {
	return (&variant{v.t, v.seed, 0}).gives(name, want)
}

func both(fills ...func(Step, *assay.Trial)) func(Step, *assay.Trial) {
	return func(s Step, t *assay.Trial) {
		for _, f := range fills {
			f(s, t)
		}
	}
}

// by is the number of a level of one factor.
func by(factor string, levels map[string]float64) func(assay.Cell) float64 {
	return func(c assay.Cell) float64 { return levels[c[factor]] }
}

// when carries out fill in the cells that match.
func when(pattern assay.Cell, fill func(Step, *assay.Trial)) func(Step, *assay.Trial) {
	return func(s Step, t *assay.Trial) {
		if t.Cell.Matches(pattern) {
			fill(s, t)
		}
	}
}

func ends(o assay.Outcome) func(Step, *assay.Trial) {
	return func(_ Step, t *assay.Trial) { t.Outcome, t.Measures = o, map[string]assay.Value{} }
}

func voids(guard string) func(Step, *assay.Trial) {
	return func(_ Step, t *assay.Trial) { t.Valid, t.VoidBy = false, append(t.VoidBy, assay.GuardVoid(guard)) }
}

func achieves(factor string, x func(assay.Cell) float64) func(Step, *assay.Trial) {
	return func(_ Step, t *assay.Trial) {
		if t.Achieved == nil {
			t.Achieved = map[string]assay.Value{}
		}
		t.Achieved[factor] = assay.Num(x(t.Cell))
	}
}

// ratio is a claim on a ratio of two levels of one factor.
func (v *variant) ratio(measure, factor, of, to, expectation string, at assay.Cell) assay.Hypothesis {
	return assay.Hypothesis{Kind: assay.Ratio, Measure: ref(v.t, measure), Of: assay.Cell{factor: of}, To: assay.Cell{factor: to},
		At: at, Expect: expect(v.t, expectation)}
}

func (v *variant) same(measure, factor, of, to string, margin float64, at assay.Cell) assay.Hypothesis {
	return assay.Hypothesis{Kind: assay.Same, Measure: ref(v.t, measure), Of: assay.Cell{factor: of}, To: assay.Cell{factor: to}, At: at, Margin: margin}
}

func (v *variant) value(measure, expectation string, at assay.Cell) assay.Hypothesis {
	return assay.Hypothesis{Kind: assay.Absolute, Measure: ref(v.t, measure), At: at, Expect: expect(v.t, expectation)}
}

func (v *variant) knee(measure, along, expectation string, margin float64, at assay.Cell) assay.Hypothesis {
	return assay.Hypothesis{Kind: assay.Knee, Measure: ref(v.t, measure), Along: along, Margin: margin, At: at, Expect: expect(v.t, expectation)}
}

func notes(j Judgement) string { return strings.Join(j.Verdicts.Hypotheses[0].Notes, "\n") }

func wantNote(parts ...string) func(*testing.T, Judgement) {
	return func(t *testing.T, j Judgement) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(notes(j), p) {
				t.Errorf("no note has %q\nnotes: %s", p, notes(j))
			}
		}
	}
}

func wantCaution(why, instead string) func(*testing.T, Judgement) {
	return func(t *testing.T, j Judgement) {
		t.Helper()
		for _, c := range j.Verdicts.DoNotQuote {
			if strings.Contains(c.Why, why) && strings.Contains(c.Instead, instead) {
				return
			}
		}
		t.Errorf("no caution has %q and %q: %+v", why, instead, j.Verdicts.DoNotQuote)
	}
}

func wantSecond(status assay.Status, reason assay.Reason) func(*testing.T, Judgement) {
	return func(t *testing.T, j Judgement) {
		t.Helper()
		if v := j.Verdicts.Hypotheses[1]; v.Verdict != status || v.Reason != reason {
			t.Errorf("second: %s %s, want %s %s\nnotes %q", v.Verdict, v.Reason, status, reason, v.Notes)
		}
	}
}

func TestStudies(t *testing.T) {
	seen := map[string]bool{}
	for _, list := range [][]scene{inference(), objects(), features(), producers(), storage(), crossings(), services()} {
		for _, s := range list {
			t.Run(s.id+" "+s.what, func(t *testing.T) {
				seen[s.id] = true
				for seed := range uint64(6) {
					v := &variant{t: t, seed: seed + 1, sd: []float64{0.005, 0.01, 0.015}[seed%3]}
					j := s.build(v).judge()
					got := j.Verdicts.Hypotheses[0]
					if got.Verdict != s.status || got.Reason != s.reason {
						t.Fatalf("seed %d: %s %s, want %s %s\n%s", seed, got.Verdict, got.Reason, s.status, s.reason, fmt.Sprint(strings.Join(got.Notes, "\n")))
					}
					if s.check != nil {
						s.check(t, j)
					}
				}
			})
		}
	}
	if len(seen) < 45 {
		t.Errorf("%d cases, want at least 45", len(seen))
	}
}
