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
	slots  []slot // the planned blocks, then those of the stages, then those of earlier plans
	queue  []int  // slots to execute again
	fresh  int    // planned blocks that have begun
	staged int    // blocks of stages that have begun
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
	stage  int   // index into Plan.Stages, -1 for the plan's own blocks
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
	s := &Schedule{plan: p, seed: seed, cells: newCellIndex(cells), twins: twins, warm: map[string]int{},
		number: map[int]int{}, last: p.Blocks, skip: make([]bool, len(cells))}
	for range p.Blocks {
		s.slots = append(s.slots, slot{stage: -1})
	}
	for i, stage := range p.Stages {
		for range stage.Blocks {
			s.slots = append(s.slots, slot{stage: i})
		}
	}
	return s
}

// members are the cells that a slot's blocks take in.
func (s *Schedule) members(slot int) []int {
	if slot < len(s.slots) && s.slots[slot].stage >= 0 {
		return s.plan.Stages[s.slots[slot].stage].Cells
	}
	all := make([]int, s.plan.Main())
	for i := range all {
		all[i] = i
	}
	return all
}

// following is the slot that a block of this number stands for, if it begins now.
func (s *Schedule) following(number int) int {
	switch {
	case number <= s.plan.Blocks:
		return number - 1
	case len(s.queue) > 0:
		return s.queue[0]
	case s.plan.Blocks+s.staged < s.planned():
		return s.plan.Blocks + s.staged
	}
	return len(s.slots) // of an earlier plan with more blocks
}

// planned is the number of blocks of the plan and its stages.
func (s *Schedule) planned() int {
	n := s.plan.Blocks
	for _, stage := range s.plan.Stages {
		n += stage.Blocks
	}
	return n
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
	order := s.warmupOrder(s.warm[t.Session])
	if !t.Warmup {
		order = s.order(s.slotOf(t.Block), t.Block)
	}
	if t.Position <= len(order) && order[t.Position-1] == twin {
		return twin
	}
	return cell
}

func (s *Schedule) slotOf(number int) int {
	if i, ok := s.number[number]; ok {
		return s.blocks[i].slot
	}
	return s.following(number)
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
	at := s.following(number)
	b := block{number: number, slot: at, session: session, trials: make([]int32, len(s.plan.Cells))}
	for _, cell := range s.members(at) {
		if !s.skip[cell] {
			b.left++
			continue
		}
		if b.skipped == nil {
			b.skipped = make([]bool, len(s.skip))
		}
		b.skipped[cell] = true
	}
	switch {
	case number <= s.plan.Blocks:
		s.fresh = max(s.fresh, number)
	case len(s.queue) > 0:
		s.queue = s.queue[1:]
	case at < s.planned():
		s.staged++
	default:
		s.slots = append(s.slots, slot{stage: -1})
	}
	i := len(s.blocks)
	s.blocks = append(s.blocks, b)
	s.number[number] = i
	s.slots[at].blocks = append(s.slots[at].blocks, i)
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
	if k := s.plan.Main(); ok && s.warm[session] < s.plan.Warmup*k {
		done := s.warm[session]
		return Step{Position: done%k + 1, Cell: s.warmupOrder(done)[done%k], Warmup: true}, true
	}
	return step, ok
}

// upcoming is the next step of the block under way, or the first of the block that follows.
func (s *Schedule) upcoming(decided func(block int) bool) (step Step, ok bool) {
	if n := len(s.blocks); n > 0 && s.blocks[n-1].left > 0 && !s.blocks[n-1].torn {
		b := &s.blocks[n-1]
		return s.position(b.slot, b.number, func(cell int) bool {
			return b.trials[cell] == 0 && (b.skipped == nil || !b.skipped[cell])
		})
	}
	number, ok := s.upcomingBlock(decided)
	if !ok {
		return Step{}, false
	}
	return s.position(s.following(number), number, func(cell int) bool { return !s.skip[cell] })
}

func (s *Schedule) upcomingBlock(decided func(block int) bool) (number int, ok bool) {
	atLook := s.fresh == s.plan.Blocks || slices.Contains(s.plan.Looks, s.fresh)
	switch {
	case !atLook:
		return s.fresh + 1, true
	case len(s.queue) > 0:
		return s.last + 1, true
	case s.fresh == s.plan.Blocks:
		return s.last + 1, s.plan.Blocks+s.staged < s.planned()
	case decided != nil && decided(s.fresh):
		return 0, false
	}
	return s.fresh + 1, true
}

// position is the first cell in a block's order that is open.
func (s *Schedule) position(slot, number int, open func(cell int) bool) (Step, bool) {
	for i, cell := range s.order(slot, number) {
		if open(cell) {
			return Step{Block: number, Position: i + 1, Cell: cell}, true
		}
	}
	return Step{}, false
}

// warmupOrder is the order of the pass that follows so many warm-up trials of a session.
func (s *Schedule) warmupOrder(done int) []int {
	k := s.plan.Main()
	return assay.Order(s.seed, k, -(done / max(k, 1)))
}

// order is that of the cells in a block of this number that stands for the slot.
func (s *Schedule) order(slot, number int) []int {
	if number >= 1 && number <= len(s.plan.Order) {
		return s.plan.Order[number-1]
	}
	members := s.members(slot)
	order := assay.Order(s.seed, len(members), number)
	for i, n := range order {
		order[i] = members[n]
	}
	return order
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

// Progress is the number of planned blocks, stages included, and of those that are done.
func (s *Schedule) Progress() (planned, done int) {
	planned = s.planned()
	for i := range s.slots[:planned] {
		if s.slots[i].done {
			done++
		}
	}
	return planned, done
}

// stageReached reports whether all blocks of the stage are done, repeats included.
func (s *Schedule) stageReached(stage int) bool {
	for i := range s.slots {
		if s.slots[i].stage == stage && !s.slots[i].done {
			return false
		}
	}
	return true
}

// unrepeated reports whether some planned block ended with a void or refused trial in its last
// execution: its retries were spent, or the run stopped before the repeat.
func (s *Schedule) unrepeated() bool {
	for _, slot := range s.slots {
		if n := len(slot.blocks); n > 0 && s.blocks[slot.blocks[n-1]].spoilt {
			return true
		}
	}
	return false
}
