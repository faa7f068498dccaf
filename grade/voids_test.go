package grade

import (
	"testing"

	"github.com/assaybench/assay"
)

func TestTornBlocksDoNotCount(t *testing.T) {
	b := twoSides(t, 12, "> 1.05").run(5, "s", noisy("rate_m", 0.01, 3, rates(150, 100)))
	b.run(0, "t", noisy("rate_m", 0.01, 3, rates(150, 100)))
	b.host.Sessions = []assay.Session{{ID: "s"}, {ID: "t"}}
	v := b.want(assay.Pass, assay.Holds)
	if v.Blocks != 12 {
		t.Errorf("%d blocks, want 12", v.Blocks)
	}
	// A trial of the torn block with its other half, in one session, is still not counted.
	torn := b.trials[4]
	torn.Trial, torn.Position = len(b.trials)+1, 2
	for _, c := range []string{"a", "b"} {
		if torn.Cell["side"] != c {
			torn.Cell = assay.Cell{"side": c}
			break
		}
	}
	torn.Measures = map[string]assay.Value{"rate_m": assay.Num(1e9)}
	b.trials = append(b.trials, torn)
	for _, p := range b.judge().Hypotheses[0].Findings[0].Pairs {
		if p.Block == torn.Block {
			t.Errorf("the torn block %d gives a pair: %+v", torn.Block, p)
		}
	}
}

func TestMachineGuardOnOneSideDropsThePair(t *testing.T) {
	b := twoSides(t, 12, "> 1.05")
	b.e.Retries = 0
	plain := noisy("rate_m", 0.01, 5, rates(120, 100))
	b.run(0, "s", func(s Step, tr *assay.Trial) {
		plain(s, tr)
		if s.Block == 1 {
			tr.Valid, tr.VoidBy = false, []string{"guard:steal"}
			if tr.Cell["side"] == "a" {
				tr.VoidBy = []string{"guard:swap"}
			}
		}
		if s.Block == 2 {
			tr.Valid, tr.VoidBy = false, []string{"guard:steal"}
		}
	})
	if v := b.want(assay.Pass, assay.Holds); v.Blocks != 11 {
		t.Errorf("%d blocks, want the pair under different marks dropped and that under equal ones kept", v.Blocks)
	}
}

func TestOracle(t *testing.T) {
	run := func(o assay.Oracle, digest func(s Step, c assay.Cell) string) *bench {
		b := twoSides(t, 8, "> 1.05").measure("output", "", "")
		b.e.Measures[1].Oracle = &o
		plain := noisy("rate_m", 0.01, 5, rates(120, 100))
		return b.run(0, "s", func(s Step, tr *assay.Trial) {
			plain(s, tr)
			if d := digest(s, tr.Cell); d != "" {
				tr.Measures["output"] = assay.Txt(d)
			}
		})
	}
	wrongA := func(_ Step, c assay.Cell) string { return map[string]string{"a": "short", "b": "9f2c"}[c["side"]] }
	run(assay.Oracle{Want: "9f2c"}, func(Step, assay.Cell) string { return "9f2c" }).want(assay.Pass, assay.Holds)
	run(assay.Oracle{Want: "9f2c"}, wrongA).want(assay.Void, assay.GuardReason("oracle"))
	run(assay.Oracle{First: true, Per: "side"}, wrongA).want(assay.Pass, assay.Holds)
	run(assay.Oracle{First: true}, wrongA).want(assay.Void, assay.GuardReason("oracle"))
	run(assay.Oracle{First: true}, func(Step, assay.Cell) string { return "" }).want(assay.Void, assay.GuardReason("oracle"))
	// Wrong in a single timed trial: that one is void, and the blocks left suffice.
	b := run(assay.Oracle{First: true}, func(s Step, c assay.Cell) string {
		if s.Block == 5 && c["side"] == "a" {
			return "early exit"
		}
		return "9f2c"
	})
	if v := b.want(assay.Pass, assay.Holds); v.Blocks != 7 {
		t.Errorf("%d blocks, want the wrong one left out", v.Blocks)
	}
	if n := b.judge().Verdicts.Trials; n.Void != 1 {
		t.Errorf("%+v, want one void", n)
	}
}
