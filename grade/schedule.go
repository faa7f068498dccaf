package grade

import (
	"slices"

	"github.com/assaybench/assay"
)

// A Step is the trial to execute next.
type Step struct {
	Block    int // 0 for a warm-up
	Position int // in the block, counted from 1; skipped cells keep theirs
	Cell     int // index into Plan.Cells
	Warmup   bool
}

// Next is the trial that follows the recorded ones, or ok false when the plan is done. It depends on
// the log alone, so that a run that was stopped goes on where it was: session is the session that
// would execute it, and decided, asked only when the log ends at a registered look, says whether the
// verdicts are decided there (nil: they are not).
func Next(p assay.Plan, seed uint64, trials []assay.Trial, session string, decided func(block int) bool) (step Step, ok bool) {
	s := NewSchedule(p, seed)
	for i := range trials {
		s.Add(&trials[i])
	}
	return s.Next(session, decided)
}

// A Schedule is the plan with the log of its execution so far.
//
// The rules: warm-ups first, anew in every session. Then blocks 1 to N in order. A block with a void
// or refused trial is repeated whole, under the numbers N+1 and on, after the last block before the
// next look; at most Retries times each. A block that another session began is torn: it does not
// count, and is executed again whole in the same way, however often. A cell that is skipped after a
// kill takes part in no block that begins later.
type Schedule struct {
	plan  assay.Plan
	seed  uint64
	cells cellIndex
	twins map[int]int // by cell: the entry of Plan.Cells that is the same cell once more

	cell   []int32 // by trial of the log: its cell, -1 for none of the plan's
	warm   map[string]int
	blocks []block // in order of execution
	number map[int]int
	slots  []slot // the first plan.Blocks are the planned ones
	queue  []int  // slots to execute again
	fresh  int    // planned blocks that have begun
	last   int    // highest block number
	skip   []bool // cells, from the next block on
}

// A block is one pass over the cells as it was executed.
type block struct {
	number  int
	slot    int
	session string
	trials  []int32 // by cell: index into the log, counted from 1; 0 for none
	skipped []bool  // by cell; nil for none
	left    int     // cells to go
	torn    bool
	spoilt  bool // holds a void or refused trial
}

// A slot is a planned block with the executed blocks that stand for it, in order.
type slot struct {
	blocks []int // indexes into Schedule.blocks
	spoils int
	done   bool
}

// NewSchedule is the schedule of a plan of which nothing is executed yet.
func NewSchedule(p assay.Plan, seed uint64) *Schedule {
	var cells []assay.Cell
	twins := map[int]int{}
	for i, c := range p.Cells {
		if c.Twin {
			for first, other := range cells {
				if other.Key() == c.Cell.Key() {
					twins[first] = i
				}
			}
		}
		cells = append(cells, c.Cell)
	}
	for _, twin := range twins {
		cells[twin] = nil // found by its position, never by its levels
	}
	return &Schedule{plan: p, seed: seed, cells: newCellIndex(cells), twins: twins, warm: map[string]int{},
		number: map[int]int{}, slots: make([]slot, p.Blocks), last: p.Blocks, skip: make([]bool, len(cells))}
}

// Add takes the next trial of the log.
func (s *Schedule) Add(t *assay.Trial) {
	cell := s.cellOf(t)
	s.cell = append(s.cell, int32(cell))
	switch {
	case t.Outcome == assay.Interrupted:
		return // its place is still open
	case t.Warmup:
		s.warm[t.Session]++
		return
	case cell < 0:
		return // of an earlier plan
	}
	b := s.open(t)
	if b.trials[cell] != 0 {
		return
	}
	b.trials[cell] = int32(len(s.cell))
	b.left--
	b.torn = b.torn || b.session != t.Session
	b.spoilt = b.spoilt || !t.Valid || t.Outcome == assay.Refused
	if t.Outcome == assay.Killed && t.Valid {
		s.skipAbove(cell)
	}
	if b.left == 0 {
		s.close(b)
	}
}

// cellOf is the index of the trial's cell in the plan, -1 for none. A cell and its twin have the same
// levels; the position in the block tells them apart.
func (s *Schedule) cellOf(t *assay.Trial) int {
	cell := s.cells.find(t.Cell)
	twin, ok := s.twins[cell]
	if !ok || t.Position < 1 || t.Position > len(s.plan.Cells) {
		return cell
	}
	order := s.order(t.Block)
	if t.Warmup {
		order = s.warmupOrder(s.warm[t.Session])
	}
	if order[t.Position-1] == twin {
		return twin
	}
	return cell
}

// open is the block that the trial belongs to; a new one begins if it must.
func (s *Schedule) open(t *assay.Trial) *block {
	if i, ok := s.number[t.Block]; ok {
		return &s.blocks[i]
	}
	s.tear()
	return s.begin(t.Block, t.Session)
}

// tear closes the block under way, which another session or another block has left behind.
func (s *Schedule) tear() {
	if n := len(s.blocks); n > 0 && s.blocks[n-1].left > 0 && !s.blocks[n-1].torn {
		s.blocks[n-1].torn = true
		s.close(&s.blocks[n-1])
	}
}

func (s *Schedule) begin(number int, session string) *block {
	b := block{number: number, session: session, trials: make([]int32, len(s.plan.Cells)), left: len(s.plan.Cells)}
	for _, skip := range s.skip {
		if skip {
			if b.skipped == nil {
				b.skipped = slices.Clone(s.skip)
			}
			b.left--
		}
	}
	switch {
	case number <= s.plan.Blocks:
		b.slot = number - 1
		s.fresh = max(s.fresh, number)
	case len(s.queue) > 0:
		b.slot, s.queue = s.queue[0], s.queue[1:]
	default: // of an earlier plan with more blocks
		b.slot = len(s.slots)
		s.slots = append(s.slots, slot{})
	}
	i := len(s.blocks)
	s.blocks = append(s.blocks, b)
	s.number[number] = i
	s.slots[b.slot].blocks = append(s.slots[b.slot].blocks, i)
	s.last = max(s.last, number)
	return &s.blocks[i]
}

func (s *Schedule) close(b *block) {
	at := &s.slots[b.slot]
	switch {
	case b.torn:
		s.queue = append(s.queue, b.slot)
	case b.spoilt && at.spoils < s.plan.Retries:
		at.spoils++
		s.queue = append(s.queue, b.slot)
	default:
		at.done = true
	}
}

// skipAbove marks the cells that differ from a killed one only in a higher level of an axis along
// which kill rules skip.
func (s *Schedule) skipAbove(killed int) {
	from := s.plan.Cells[killed].Cell
	for factor, levels := range s.plan.SkipAbove {
		at := slices.Index(levels, from[factor])
		if at < 0 {
			continue
		}
		for _, level := range levels[at+1:] {
			if cell := s.cells.find(from.With(assay.Cell{factor: level})); cell >= 0 {
				s.skip[cell] = true
			}
		}
	}
}

// Next is the trial that follows, as in the function [Next]. Asking for another session than the
// last tears the block under way.
func (s *Schedule) Next(session string, decided func(block int) bool) (step Step, ok bool) {
	if !slices.Contains(s.skip, false) {
		return Step{}, false // no cells, or none that may still be executed
	}
	if n := len(s.blocks); n > 0 && s.blocks[n-1].left > 0 && s.blocks[n-1].session != session {
		s.tear()
	}
	step, ok = s.upcoming(decided)
	if k := len(s.plan.Cells); ok && s.warm[session] < s.plan.Warmup*k {
		done := s.warm[session]
		return Step{Position: done%k + 1, Cell: s.warmupOrder(done)[done%k], Warmup: true}, true
	}
	return step, ok
}

// upcoming is the next step of the block under way, or the first of the block that follows.
func (s *Schedule) upcoming(decided func(block int) bool) (step Step, ok bool) {
	if n := len(s.blocks); n > 0 && s.blocks[n-1].left > 0 && !s.blocks[n-1].torn {
		b := &s.blocks[n-1]
		return s.position(b.number, func(cell int) bool {
			return b.trials[cell] == 0 && (b.skipped == nil || !b.skipped[cell])
		})
	}
	number, ok := s.upcomingBlock(decided)
	if !ok {
		return Step{}, false
	}
	return s.position(number, func(cell int) bool { return !s.skip[cell] })
}

func (s *Schedule) upcomingBlock(decided func(block int) bool) (number int, ok bool) {
	atLook := s.fresh == s.plan.Blocks || slices.Contains(s.plan.Looks, s.fresh)
	switch {
	case !atLook:
		return s.fresh + 1, true
	case len(s.queue) > 0:
		return s.last + 1, true
	case s.fresh == s.plan.Blocks:
		return 0, false
	case decided != nil && decided(s.fresh):
		return 0, false
	}
	return s.fresh + 1, true
}

// position is the first cell in a block's order that is open.
func (s *Schedule) position(number int, open func(cell int) bool) (Step, bool) {
	for i, cell := range s.order(number) {
		if open(cell) {
			return Step{Block: number, Position: i + 1, Cell: cell}, true
		}
	}
	return Step{}, false
}

// warmupOrder is the order of the pass that follows so many warm-up trials of a session.
func (s *Schedule) warmupOrder(done int) []int {
	k := len(s.plan.Cells)
	return assay.Order(s.seed, k, -(done / k))
}

func (s *Schedule) order(number int) []int {
	if number >= 1 && number <= len(s.plan.Order) {
		return s.plan.Order[number-1]
	}
	return assay.Order(s.seed, len(s.plan.Cells), number)
}

// looks are the numbers of planned blocks after which verdicts may be formed, the last one included.
func (s *Schedule) looks() []int {
	var looks []int
	for _, l := range s.plan.Looks {
		if l < s.plan.Blocks {
			looks = append(looks, l)
		}
	}
	slices.Sort(looks)
	return append(slices.Compact(looks), s.plan.Blocks)
}

// reached reports whether the first n planned blocks are done, repeats included.
func (s *Schedule) reached(n int) bool {
	if len(s.skip) > 0 && !slices.Contains(s.skip, false) {
		return true
	}
	for i := range s.slots[:min(n, len(s.slots))] {
		if !s.slots[i].done {
			return false
		}
	}
	return true
}
