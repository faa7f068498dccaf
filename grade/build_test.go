package grade

import (
	"math/rand/v2"
	"testing"

	"github.com/assaybench/assay"
)

// A bench makes experiments and logs of trials for tests.
type bench struct {
	t      *testing.T
	e      assay.Experiment
	seed   uint64
	trials []assay.Trial
	host   assay.Host
	amend  []assay.Amendment
}

// newBench is a full crossing of the factors, each a name followed by its levels.
func newBench(t *testing.T, blocks int, factors ...[]string) *bench {
	b := &bench{t: t, seed: 1}
	b.e = assay.Experiment{Name: "bench", Blocks: blocks, Retries: 2, Seed: 1}
	cells := []assay.Cell{{}}
	for _, f := range factors {
		factor := assay.Factor{Name: f[0]}
		var next []assay.Cell
		for _, level := range f[1:] {
			factor.Levels = append(factor.Levels, assay.Level{Text: level})
		}
		for _, c := range cells {
			for _, level := range f[1:] {
				next = append(next, c.With(assay.Cell{f[0]: level}))
			}
		}
		cells = next
		b.e.Factors = append(b.e.Factors, factor)
	}
	for _, c := range cells {
		b.e.Settings = append(b.e.Settings, assay.Setting{Cell: c})
	}
	return b
}

func (b *bench) measure(name, unit string, better assay.Better) *bench {
	u, err := assay.ParseUnit(unit)
	if err != nil {
		b.t.Fatal(err)
	}
	b.e.Measures = append(b.e.Measures, assay.Measure{Name: name, Unit: u, Better: better})
	return b
}

func (b *bench) claim(h assay.Hypothesis) *bench {
	if h.ID == "" {
		h.ID = "H1"
	}
	b.e.Hypotheses = append(b.e.Hypotheses, h)
	return b
}

// run executes the plan until it is done, or for at most n trials if n > 0. fill says what each trial
// gives.
func (b *bench) run(n int, session string, fill func(step Step, t *assay.Trial)) *bench {
	b.t.Helper()
	plan := assay.NewPlan(&b.e, b.seed)
	s := NewSchedule(plan, b.seed)
	for i := range b.trials {
		s.Add(&b.trials[i])
	}
	for done := 0; n <= 0 || done < n; done++ {
		step, ok := s.Next(session, nil)
		if !ok {
			break
		}
		t := assay.Trial{Trial: len(b.trials) + 1, Block: step.Block, Position: step.Position, Warmup: step.Warmup,
			Cell: plan.Cells[step.Cell].Cell, Session: session, Outcome: assay.OK, Valid: true, Measures: map[string]assay.Value{}}
		fill(step, &t)
		b.trials = append(b.trials, t)
		s.Add(&b.trials[len(b.trials)-1])
		if done > 100000 {
			b.t.Fatal("the plan does not end")
		}
	}
	return b
}

func (b *bench) folder() Folder {
	r := &assay.Registration{Digest: "d", Seed: b.seed, Plan: assay.NewPlan(&b.e, b.seed), Amendments: b.amend}
	return Folder{Experiment: &b.e, Registration: r, Host: b.host, Trials: b.trials}
}

func (b *bench) judge() Judgement { return Judge(b.folder()) }

func (b *bench) verdict() assay.Verdict {
	b.t.Helper()
	return b.judge().Verdicts.Hypotheses[0]
}

// want checks the first verdict.
func (b *bench) want(status assay.Status, reason assay.Reason) assay.Verdict {
	b.t.Helper()
	v := b.verdict()
	if v.Verdict != status || v.Reason != reason {
		b.t.Errorf("got %s %s, want %s %s\nnotes: %q", v.Verdict, v.Reason, status, reason, v.Notes)
	}
	return v
}

// noisy gives measure name the value of the cell, by want, times a factor that is nearly 1.
func noisy(name string, sd float64, seed uint64, want func(c assay.Cell) float64) func(Step, *assay.Trial) {
	rng := rand.New(rand.NewPCG(seed, 1))
	return func(_ Step, t *assay.Trial) {
		t.Measures[name] = assay.Num(want(t.Cell) * (1 + sd*rng.NormFloat64()))
	}
}

func expect(t *testing.T, s string) assay.Expectation {
	t.Helper()
	e, err := assay.ParseExpectation(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func ref(t *testing.T, s string) assay.MeasureRef {
	t.Helper()
	r, err := assay.ParseMeasureRef(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
