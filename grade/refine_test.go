package grade

import (
	"strings"
	"testing"

	"github.com/assaybench/assay"
)

// refined carries a folder through its rule: plan, recut, fresh blocks, recut, until nothing is asked.
func (b *bench) refined(fill func(Step, *assay.Trial)) Folder {
	b.t.Helper()
	b.run(0, "s", fill)
	f := b.folder()
	for {
		r, ok := Refine(f)
		if !ok {
			return f
		}
		plan := f.Registration.CurrentPlan().Recut(r.With, []assay.PlannedCell{{Cell: r.Cell}}, r.Blocks, r.Why)
		f.Registration.Amendments = append(f.Registration.Amendments, assay.Amendment{Trials: len(f.Trials), Reason: r.Why, Plan: plan})
		s := NewSchedule(plan, b.seed)
		for i := range f.Trials {
			s.Add(&f.Trials[i])
		}
		for {
			step, ok := s.Next("s", nil)
			if !ok {
				break
			}
			t := assay.Trial{Trial: len(f.Trials) + 1, Block: step.Block, Position: step.Position, Cell: plan.Cells[step.Cell].Cell,
				Session: "s", Outcome: assay.OK, Valid: true, Measures: map[string]assay.Value{}}
			fill(step, &t)
			f.Trials = append(f.Trials, t)
			s.Add(&t)
		}
	}
}

func refineBench(t *testing.T, blocks, budget int, levels []string, expectation string) *bench {
	b := newBench(t, blocks, append([]string{"n"}, levels...)).measure("m", "files/s", assay.More)
	b.e.Refine = &assay.Refine{Along: "n", Knee: ref(t, "m"), Budget: budget}
	return b.claim(assay.Hypothesis{Kind: assay.Knee, Measure: ref(t, "m"), Along: "n", Margin: 0.05, Expect: expect(t, expectation)})
}

func TestRefineBisects(t *testing.T) {
	levels := []string{"1", "2", "4", "8", "16", "32", "64"}
	curve := func(c assay.Cell) float64 { return 10 * min(parsed(t, c["n"]), 12) }
	f := refineBench(t, 12, 4, levels, "<= 12").refined(noisy("m", 0.003, 3, curve))
	j := Judge(f)
	v := j.Verdicts.Hypotheses[0]
	if v.Verdict != assay.Pass || v.Low == nil || v.High == nil || *v.Low != 11 || *v.High != 12 {
		t.Errorf("%s %s (%s, %s], want PASS (11, 12]\n%s", v.Verdict, v.Reason, shown(v.Low), shown(v.High), strings.Join(v.Notes, "\n"))
	}
	if v.Exploratory {
		t.Error("a level that the registered rule added makes the verdict exploratory")
	}
	stages := f.Registration.CurrentPlan().Stages
	if len(stages) == 0 || len(stages) > 4 || !strings.Contains(stages[0].Why, "(8, 16]") {
		t.Errorf("stages %+v", stages)
	}
	for i := range f.Trials {
		step, ok := Next(f.Registration.CurrentPlan(), 1, f.Trials[:i], "s", nil)
		if i >= 84 && (!ok || step.Block != f.Trials[i].Block || step.Position != f.Trials[i].Position) {
			t.Fatalf("after %d trials %+v %v, was block %d position %d", i, step, ok, f.Trials[i].Block, f.Trials[i].Position)
		}
	}
}

func TestRefineKeepsItsBudget(t *testing.T) {
	curve := func(c assay.Cell) float64 { return 10 * min(parsed(t, c["n"]), 120) }
	f := refineBench(t, 12, 2, []string{"1", "64", "256", "1024"}, "<= 200").refined(noisy("m", 0.003, 3, curve))
	if n := len(f.Registration.CurrentPlan().Stages); n != 2 {
		t.Errorf("%d levels added, want the budget of 2", n)
	}
}

func TestRefineAsksNothing(t *testing.T) {
	for name, c := range map[string]struct {
		levels []string
		curve  func(n float64) float64
	}{
		"at the first level":   {[]string{"4", "8", "16"}, func(float64) float64 { return 10 }},
		"still rising":         {[]string{"4", "8", "16"}, func(n float64) float64 { return n }},
		"between neighbours":   {[]string{"3", "4", "16"}, func(n float64) float64 { return min(n, 4) }},
		"of levels with names": {[]string{"a1", "b2", "c3"}, func(n float64) float64 { return 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			f := refineBench(t, 12, 4, c.levels, "<= 8").refined(noisy("m", 0.002, 3, func(cell assay.Cell) float64 {
				return 10 * c.curve(parsed(t, strings.Trim(cell["n"], "abc")))
			}))
			if n := len(f.Registration.CurrentPlan().Stages); n != 0 {
				t.Errorf("%d levels added: %+v", n, f.Registration.CurrentPlan().Stages)
			}
		})
	}
}
