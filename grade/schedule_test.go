package grade

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assaybench/assay"
)

// execute runs a plan to its end; outcome decides what becomes of each step.
func execute(p assay.Plan, seed uint64, session func(n int) string, outcome func(n int, s Step, t *assay.Trial)) []assay.Trial {
	var trials []assay.Trial
	for n := range 100000 {
		step, ok := Next(p, seed, trials, session(n), nil)
		if !ok {
			return trials
		}
		t := assay.Trial{Trial: n + 1, Block: step.Block, Position: step.Position, Warmup: step.Warmup,
			Cell: p.Cells[step.Cell].Cell, Session: session(n), Outcome: assay.OK, Valid: true}
		outcome(n, step, &t)
		trials = append(trials, t)
	}
	return nil
}

func onePlan(blocks, retries, warmup int, levels ...string) assay.Plan {
	e := assay.Experiment{Blocks: blocks, Retries: retries, Warmup: warmup}
	for _, l := range levels {
		e.Settings = append(e.Settings, assay.Setting{Cell: assay.Cell{"f": l}})
	}
	return assay.NewPlan(&e, 7)
}

func oneSession(int) string         { return "s" }
func allOK(int, Step, *assay.Trial) {}
func blocksOf(ts []assay.Trial) (b []int) {
	for _, t := range ts {
		if !t.Warmup && (len(b) == 0 || b[len(b)-1] != t.Block) {
			b = append(b, t.Block)
		}
	}
	return b
}

func TestNextFollowsThePlan(t *testing.T) {
	p := onePlan(4, 2, 2, "a", "b", "c")
	trials := execute(p, 7, oneSession, allOK)
	if len(trials) != 6+12 {
		t.Fatalf("%d trials, want 6 warm-ups and 12", len(trials))
	}
	for i, tr := range trials {
		if tr.Warmup != (i < 6) || tr.Warmup && tr.Block != 0 {
			t.Errorf("trial %d: warm-up %v in block %d", i, tr.Warmup, tr.Block)
		}
		if i < 6 {
			continue
		}
		block, position := (i-6)/3+1, (i-6)%3+1
		want := p.Cells[p.Order[block-1][position-1]].Cell
		if tr.Block != block || tr.Position != position || tr.Cell.Key() != want.Key() {
			t.Errorf("trial %d is block %d position %d %s, want %d %d %s", i, tr.Block, tr.Position, tr.Cell, block, position, want)
		}
	}
}

func TestNextRepeatsVoidBlocksAtTheEnd(t *testing.T) {
	p := onePlan(4, 2, 0, "a", "b")
	// Block 2 is void at first, its first repeat too, its second is refused: then it is given up.
	trials := execute(p, 7, oneSession, func(_ int, s Step, tr *assay.Trial) {
		switch {
		case s.Block == 2 && s.Position == 1, s.Block == 5 && s.Position == 2:
			tr.Valid = false
		case s.Block == 6 && s.Position == 1:
			tr.Outcome = assay.Refused
		}
	})
	if got, want := blocksOf(trials), []int{1, 2, 3, 4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("blocks %v, want %v", got, want)
	}
}

func TestNextRepeatsBeforeALook(t *testing.T) {
	p := onePlan(4, 2, 0, "a", "b")
	p.Looks = []int{2, 4}
	asked := []int{}
	var trials []assay.Trial
	for n := range 100 {
		step, ok := Next(p, 7, trials, "s", func(b int) bool { asked = append(asked, b); return b == 4 })
		if !ok {
			break
		}
		trials = append(trials, assay.Trial{Trial: n + 1, Block: step.Block, Cell: p.Cells[step.Cell].Cell, Session: "s",
			Outcome: assay.OK, Valid: step.Block != 1})
	}
	if got, want := blocksOf(trials), []int{1, 2, 5, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("blocks %v, want %v: the void block is repeated before the look", got, want)
	}
	if !slices.Contains(asked, 2) || slices.Contains(asked, 3) || slices.Contains(asked, 1) {
		t.Errorf("asked after blocks %v, want after 2 only", asked)
	}
	trials = trials[:len(trials)-4]
	if step, ok := Next(p, 7, trials, "s", func(int) bool { return true }); ok {
		t.Errorf("decided at the look, and still %+v follows", step)
	}
}

func TestNextTearsBlocksOfAnotherSession(t *testing.T) {
	p := onePlan(3, 0, 1, "a", "b", "c")
	session := func(n int) string {
		if n < 3+4 { // warm-ups, block 1, one trial of block 2
			return "before"
		}
		return "after"
	}
	trials := execute(p, 7, session, allOK)
	if got, want := blocksOf(trials), []int{1, 2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("blocks %v, want %v", got, want)
	}
	per := map[int]map[string]int{}
	for _, tr := range trials {
		if per[tr.Block] == nil {
			per[tr.Block] = map[string]int{}
		}
		per[tr.Block][tr.Session]++
	}
	if per[2]["before"] != 1 || per[2]["after"] != 0 || per[4]["after"] != 3 || per[0]["after"] != 3 {
		t.Errorf("trials by block and session: %v", per)
	}
}

func TestNextGoesOnInTheSameSession(t *testing.T) {
	p := onePlan(2, 2, 1, "a", "b")
	trials := execute(p, 7, oneSession, allOK)
	for cut := range trials {
		step, ok := Next(p, 7, trials[:cut], "s", nil)
		next := trials[cut]
		if !ok || step.Block != next.Block || step.Position != next.Position || p.Cells[step.Cell].Cell.Key() != next.Cell.Key() {
			t.Errorf("after %d trials: %+v, want block %d position %d", cut, step, next.Block, next.Position)
		}
	}
}

func TestInterruptedTrialLeavesItsPlaceOpen(t *testing.T) {
	p := onePlan(2, 2, 0, "a", "b")
	trials := execute(p, 7, oneSession, func(n int, _ Step, tr *assay.Trial) {
		if n == 1 {
			tr.Outcome = assay.Interrupted
		}
	})
	if len(trials) != 5 || trials[1].Block != trials[2].Block || trials[1].Position != trials[2].Position {
		t.Errorf("%d trials; want the interrupted one executed again in its place", len(trials))
	}
}

func TestKilledCellsAreSkippedAbove(t *testing.T) {
	e := assay.Experiment{Blocks: 3, Factors: []assay.Factor{{Name: "f", Levels: []assay.Level{{Text: "16"}, {Text: "2"}, {Text: "8"}}}}}
	for _, l := range e.Factors[0].Levels {
		s := assay.Setting{Cell: assay.Cell{"f": l.Text}}
		s.Workload.Kills = []assay.KillRule{{SkipAbove: "f"}}
		e.Settings = append(e.Settings, s)
	}
	p := assay.NewPlan(&e, 7)
	trials := execute(p, 7, oneSession, func(_ int, _ Step, tr *assay.Trial) {
		if tr.Cell["f"] == "8" && tr.Block == 1 {
			tr.Outcome = assay.Killed
		}
	})
	seen := map[string]int{}
	for _, tr := range trials {
		seen[tr.Cell["f"]]++
	}
	if seen["16"] != 1 || seen["8"] != 3 || seen["2"] != 3 {
		t.Errorf("trials by level %v; want 16 skipped from block 2 on", seen)
	}
}

// Any prefix of a log continues as the log did, whatever was void, refused, torn or interrupted.
func TestNextReplaysItsOwnLog(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		levels := []string{"a", "b", "c", "d", "e"}[:1+rng.IntN(5)]
		p := onePlan(1+rng.IntN(6), rng.IntN(3), rng.IntN(3), levels...)
		if rng.IntN(2) == 0 {
			p.Looks = []int{1 + rng.IntN(p.Blocks), p.Blocks}
		}
		sessions := make([]string, 100000)
		for i := range sessions {
			sessions[i] = "s"
			if i > 0 {
				sessions[i] = sessions[i-1]
			}
			if i < 200 && rng.IntN(12) == 0 {
				sessions[i] += "'"
			}
		}
		trials := execute(p, 7, func(n int) string { return sessions[n] }, func(n int, _ Step, tr *assay.Trial) {
			switch rng.IntN(10) {
			case 0:
				tr.Valid = false
			case 1:
				tr.Outcome = assay.Refused
			case 2:
				if n < 300 {
					tr.Outcome = assay.Interrupted
				}
			}
		})
		if trials == nil {
			t.Fatalf("seed %d: the plan does not end", seed)
		}
		s := NewSchedule(p, 7)
		for i := range trials {
			step, ok := s.Next(trials[i].Session, nil)
			if want := (Step{trials[i].Block, trials[i].Position, s.cells.find(trials[i].Cell), trials[i].Warmup}); !ok || step != want {
				t.Fatalf("seed %d: after %d trials %+v, was %+v", seed, i, step, want)
			}
			s.Add(&trials[i])
		}
		if !s.reached(p.Blocks) {
			t.Errorf("seed %d: the plan came to its end and is not reached", seed)
		}
	}
}

func BenchmarkNextOver10000Trials(b *testing.B) {
	p := onePlan(1000, 2, 0, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
	for b.Loop() {
		s := NewSchedule(p, 7)
		for n := range 10000 {
			step, ok := s.Next("s", nil)
			if !ok {
				b.Fatal("ended")
			}
			s.Add(&assay.Trial{Trial: n + 1, Block: step.Block, Cell: p.Cells[step.Cell].Cell, Session: "s", Outcome: assay.OK, Valid: true})
		}
	}
}

// A block that holds trials of two sessions is torn, even where it is whole.
func TestBlockOfTwoSessionsIsTorn(t *testing.T) {
	p := onePlan(2, 0, 0, "a", "b", "c")
	trials := execute(p, 7, oneSession, allOK)
	trials[2].Session = "t"
	s := NewSchedule(p, 7)
	for i := range trials {
		s.Add(&trials[i])
	}
	if !s.blocks[0].torn || s.reached(2) {
		t.Error("block 1 spans two sessions and counts")
	}
	if step, ok := s.Next("s", nil); !ok || step.Block != 3 {
		t.Errorf("next is %+v, %v; want block 1 executed again as block 3", step, ok)
	}
}
