package grade

import (
	"iter"
	"math"

	"github.com/assaybench/assay"
)

// A Pair is what one block gives for one comparison, or one trial for a claim about one cell.
type Pair struct {
	Block   int
	Session string
	// Of and To are in the measure's unit: infinite for a failed trial, NaN for an unknown number.
	// To is NaN in a claim about one cell.
	Of, To float64
}

// pairing is all that the judging blocks give for two cells, or for one.
type pairing struct {
	pairs   []paired
	lost    int // planned blocks without a pair, by voids
	open    int // planned blocks without a pair, for the plan is not done or a trial was refused
	crossed int // blocks whose two sides stand in different sessions
	of, to  tally
}

type paired struct {
	of, to entry
	block  *block
	marked bool // both sides stand under the same marks of machine guards
}

// judging are the slots of the planned blocks that judge.
func (j *judge) judging() iter.Seq[*slot] {
	return func(yield func(*slot) bool) {
		for i := range j.schedule.slots {
			s := &j.schedule.slots[i]
			number := i + 1
			inRange := number > j.first && (number <= j.last || number > j.plan.Blocks && j.last == j.plan.Blocks)
			if s.stage != j.stage || j.stage < 0 && !inRange {
				continue
			}
			if !yield(s) {
				return
			}
		}
	}
}

// single collects one cell's entries, a planned block at a time.
func (j *judge) single(f *field, cell int) pairing {
	return j.collect(f, cell, -1)
}

// collect pairs two cells within blocks; with to -1, it takes the one cell. Each planned block gives
// at most one pair: the first executed block that stands for it and has both sides. What voids a
// trial knows nothing of the measure, so that the choice does not depend on what was measured.
func (j *judge) collect(f *field, of, to int) pairing {
	p := pairing{of: j.tally(f, of), pairs: make([]paired, 0, len(j.schedule.slots))}
	if to >= 0 {
		p.to = j.tally(f, to)
	}
	for s := range j.judging() {
		pair, found, void := j.pairOf(f, s, of, to, &p)
		switch {
		case found:
			p.pairs = append(p.pairs, pair)
		case void:
			p.lost++
		default:
			p.open++
		}
	}
	return p
}

// pairOf is the slot's pair. void says that there is none because trials were void.
func (j *judge) pairOf(f *field, s *slot, of, to int, p *pairing) (pair paired, found, void bool) {
	var marked paired
	for _, i := range s.blocks {
		b := &j.schedule.blocks[i]
		x := j.at(f, b, of)
		y := x
		if to >= 0 {
			y = j.at(f, b, to)
		}
		switch {
		case x.trial > 0 && y.trial > 0 && j.Trials[x.trial-1].Session != j.Trials[y.trial-1].Session:
			p.crossed++
		case b.torn: // its pairs are executed again with the rest of it
		case x.state != absent && y.state != absent && !x.unlike && !y.unlike:
			return paired{of: x, to: y, block: b}, true, false
		case x.state != absent && y.state != absent && to >= 0 && x.unlike && y.unlike && j.sameMarks(x, y):
			if marked.block == nil {
				marked = paired{of: x, to: y, block: b, marked: true}
			}
		case j.voided(b, f, of) || to >= 0 && j.voided(b, f, to):
			void = true
		}
	}
	if marked.block != nil {
		return marked, true, false
	}
	return paired{}, false, void
}

func (j *judge) voided(b *block, f *field, cell int) bool {
	for _, member := range f.members[cell] {
		if i := b.trials[member]; i != 0 && j.Trials[i-1].Outcome != assay.Refused && !j.counts(int(i-1)) {
			return true
		}
	}
	return false
}

// shown is the entry as a number for people.
func (e entry) shown() float64 {
	if e.state == number || e.bound {
		return e.low
	}
	return math.NaN()
}
