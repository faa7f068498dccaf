package assay

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestOrderHoldsEachCellOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		k := rapid.IntRange(1, 40).Draw(t, "cells")
		block := rapid.IntRange(-100, 500).Draw(t, "block")
		order := Order(seed, k, block)
		sorted := slices.Sorted(slices.Values(order))
		for i, cell := range sorted {
			if cell != i {
				t.Fatalf("Order(%d, %d, %d) = %v, want each of %d cells once", seed, k, block, order, k)
			}
		}
		if len(order) != k {
			t.Fatalf("Order(%d, %d, %d) has %d cells", seed, k, block, len(order))
		}
		if again := Order(seed, k, block); !slices.Equal(order, again) {
			t.Fatalf("Order(%d, %d, %d) = %v, and then %v", seed, k, block, order, again)
		}
	})
}

func TestOrderOfNoCells(t *testing.T) {
	if got := Order(1, 0, 1); got != nil {
		t.Errorf("Order of no cells = %v", got)
	}
}

// After any number of blocks, how often a cell stood at each position differs by at most one: no cell
// is always early or always late.
func TestPositionsAreBalanced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		k := rapid.IntRange(1, 15).Draw(t, "cells")
		blocks := rapid.IntRange(1, 3*k+2).Draw(t, "blocks")
		count := make([][]int, k) // cell, position
		for i := range count {
			count[i] = make([]int, k)
		}
		for b := 1; b <= blocks; b++ {
			for position, cell := range Order(seed, k, b) {
				count[cell][position]++
			}
			for cell, at := range count {
				if slices.Max(at)-slices.Min(at) > 1 {
					t.Fatalf("Order(%d, %d): after %d blocks cell %d stood at its positions %v times", seed, k, b, cell, at)
				}
			}
		}
	})
}

// Over a whole square with an even number of cells every cell follows every other once; with an odd
// number it takes two squares, and then it is twice.
func TestPredecessorsAreBalanced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		k := rapid.IntRange(2, 13).Draw(t, "cells")
		squares := 1 + k%2
		first := rapid.IntRange(-2, 3).Draw(t, "square") * squares * k
		count := map[[2]int]int{} // cell before, cell
		for b := 1; b <= squares*k; b++ {
			order := Order(seed, k, first+b)
			for i := 1; i < k; i++ {
				count[[2]int{order[i-1], order[i]}]++
			}
		}
		for before := range k {
			for cell := range k {
				if n := count[[2]int{before, cell}]; cell != before && n != squares {
					t.Fatalf("Order(%d, %d): cell %d follows cell %d %d times in %d squares", seed, k, cell, before, n, squares)
				}
			}
		}
	})
}

func TestSeedsDiffer(t *testing.T) {
	same := 0
	for seed := range uint64(200) {
		if slices.Equal(Order(seed, 8, 1), Order(seed+1, 8, 1)) {
			same++
		}
	}
	if same > 2 {
		t.Errorf("%d of 200 neighbouring seeds give the same first block", same)
	}
}

func TestPlanFollowsTheSeed(t *testing.T) {
	e := &Experiment{Blocks: 5, Settings: []Setting{{Cell: Cell{"a": "1"}}, {Cell: Cell{"a": "2"}}, {Cell: Cell{"a": "3"}}},
		Absent: []AbsentCell{{Cell: Cell{"a": "4"}, Why: "not there"}}}
	p, again, other := NewPlan(e, 1), NewPlan(e, 1), NewPlan(e, 2)
	if len(p.Order) != 5 || len(p.Cells) != 3 || len(p.Absent) != 1 || p.Absent[0].Why != "not there" {
		t.Errorf("plan %+v", p)
	}
	equal := func(a, b Plan) bool {
		return slices.EqualFunc(a.Order, b.Order, func(x, y []int) bool { return slices.Equal(x, y) })
	}
	if !equal(p, again) || equal(p, other) {
		t.Errorf("one seed gives %v and %v, another %v", p.Order, again.Order, other.Order)
	}
}

// What a rule added stays in an amended plan, whose own cells may have moved.
func TestPlanKeepsStages(t *testing.T) {
	cells := func(levels ...string) (list []PlannedCell) {
		for _, l := range levels {
			list = append(list, PlannedCell{Cell: Cell{"n": l}})
		}
		return list
	}
	earlier := Plan{Blocks: 6, Cells: cells("1", "4", "16")}
	earlier = earlier.Recut([]int{1, 2}, cells("8"), 6, "first").Recut([]int{2, 3}, cells("12"), 5, "second")
	got, err := Plan{Blocks: 6, Cells: cells("0", "16", "4", "1")}.Keeping(earlier)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, s := range got.Stages {
		text := s.Why
		for _, c := range s.Cells {
			text += " " + got.Cells[c].Cell["n"]
		}
		said = append(said, text)
	}
	if want := []string{"first 4 16 8", "second 16 8 12"}; !slices.Equal(said, want) || got.Main() != 4 || got.Stages[1].Blocks != 5 {
		t.Errorf("stages %q of %d own cells, want %q of 4", said, got.Main(), want)
	}
	for name, next := range map[string]Plan{"blocks": {Blocks: 7, Cells: cells("1", "4", "16")}, "a level": {Blocks: 6, Cells: cells("1", "16")}} {
		if _, err := next.Keeping(earlier); err == nil {
			t.Errorf("the stages are kept though %s changed", name)
		}
	}
	if got, err := (Plan{Blocks: 7}).Keeping(Plan{Blocks: 6}); err != nil || got.Blocks != 7 {
		t.Errorf("without stages: %+v, %v", got, err)
	}
}
