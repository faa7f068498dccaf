package grade

import (
	"errors"
	"io/fs"
	"math"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
)

// A state says what an entry is.
type state uint8

const (
	absent   state = iota // no trial that counts
	number                // low == high, which may be infinite
	censored              // anything from low to high
	text
)

// An entry is what one trial gives for one measure. A trial that failed by its cell's doing gives
// the worst number; one whose number nobody can know gives both extremes.
type entry struct {
	state     state
	low, high float64
	text      string
	trial     int32 // index into the log, counted from 1
	failed    bool  // failed, crashed, oom, hung or capped
	killed    bool  // or skipped after a kill
	missing   bool  // ok, but without this measure
	tooFew    bool  // missing, since its operations are too few for the quantile
	unlike    bool  // machine guards, and they alone, voided it
	bound     bool  // as high as what was offered allows: at least low, and nobody knows how much more
}

func (e entry) there() bool { return e.state == number || e.state == censored }

// exact reports whether the entry is a number that a trial really gave.
func (e entry) exact() bool { return e.state == number && !e.failed && !e.killed || e.bound }

// A field is one measure over all trials of the log.
type field struct {
	measure.Resolved
	entries []entry // by trial
	floor   float64 // no number is below: 0, or -Inf if one was
	cells   []assay.Cell
	members [][]int // by cell: the plan's cells under it; several for a measure of a block
	texts   bool    // some entry is a text
	figures []*CellFigures
}

// field is the measure over all trials; it is computed once.
func (j *judge) field(ref assay.MeasureRef) (*field, error) {
	if f, ok := j.fields[ref.String()]; ok {
		return j.staged(f), nil
	}
	m, err := j.resolve(ref)
	if err != nil {
		return nil, err
	}
	f := &field{Resolved: m}
	if m.MaxOf.Name != "" {
		err = j.fillBlockMeasure(f)
	} else {
		j.fill(f)
	}
	if err != nil {
		return nil, err
	}
	j.fields[ref.String()] = f
	return j.staged(f), nil
}

// staged is the field with the cells of the stage that is being judged.
func (j *judge) staged(f *field) *field {
	if j.stage < 0 || f.MaxOf.Name != "" {
		return f
	}
	part := *f
	part.cells, part.members, part.figures = nil, nil, nil
	for _, i := range j.plan.Stages[j.stage].Cells {
		part.cells = append(part.cells, j.plan.Cells[i].Cell)
		part.members = append(part.members, []int{i})
	}
	return &part
}

func (j *judge) fill(f *field) {
	for i, c := range j.plan.Cells[:j.plan.Main()] {
		if !c.Twin {
			f.cells = append(f.cells, c.Cell)
			f.members = append(f.members, []int{i})
		}
	}
	f.entries = make([]entry, len(j.Trials))
	for i := range j.Trials {
		if j.schedule.cell[i] < 0 || j.Trials[i].Warmup {
			continue
		}
		e := j.entry(f, i)
		f.entries[i] = e
		f.texts = f.texts || e.state == text
		if e.state == number && e.low < 0 {
			f.floor = math.Inf(-1)
		}
	}
	for i := range f.entries {
		if e := &f.entries[i]; e.state == censored && !e.bound || e.failed && e.low == 0 {
			e.low = f.floor
			if e.state == number {
				e.high = f.floor
			}
		}
	}
}

// entry is what trial i, of the plan and no warm-up, gives.
func (j *judge) entry(f *field, i int) entry {
	t := &j.Trials[i]
	e := entry{trial: int32(i + 1)}
	switch {
	case t.Outcome == assay.Refused || t.Outcome == assay.Interrupted:
		return e
	case !j.counts(i):
		if !j.machineOnly(i) {
			return e
		}
		e.unlike = true
	}
	switch {
	case t.Outcome.CellsDoing() && f.Ref.Name != "exit":
		e.failed = true
		return worst(e, f.Better)
	case t.Outcome == assay.Killed:
		e.killed = true
		return unknown(e)
	}
	v, err := f.Of(t, j.filesFor(f, i))
	switch {
	case err != nil:
		e.missing, e.tooFew = true, errors.Is(err, measure.ErrTooFew)
		return unknown(e)
	case v.IsText:
		e.state, e.text = text, v.Text
	case math.IsNaN(v.Number):
		e.missing = true
		return unknown(e)
	default:
		e.state, e.low, e.high = number, v.Number, v.Number
		if j.offeredBound(f, i, v.Number) {
			e.state, e.high, e.bound = censored, math.Inf(1), true
		}
	}
	return e
}

// filesFor opens the trial's folder only where the measure may need it.
func (j *judge) filesFor(f *field, i int) fs.FS {
	if f.Ref.Stat == "" {
		return nil
	}
	return j.files(i)
}

// worst is the entry of a trial that failed by its cell's doing: worse than any number, and where
// nobody said which direction is worse, both ends.
func worst(e entry, better assay.Better) entry {
	switch better {
	case assay.More:
		e.state, e.low, e.high = number, 0, 0
	case assay.Lower:
		e.state, e.low, e.high = number, math.Inf(1), math.Inf(1)
	default:
		return unknown(e)
	}
	return e
}

func unknown(e entry) entry {
	e.state, e.low, e.high = censored, 0, math.Inf(1)
	return e
}

// at is the field's entry of one cell in one executed block.
func (j *judge) at(f *field, b *block, cell int) entry {
	var sum entry
	for n, member := range f.members[cell] {
		e := j.member(f, b, member)
		if e.state == absent || e.state == text || n == 0 {
			sum = e
		} else {
			sum = larger(sum, e)
		}
		if sum.state == absent {
			return sum
		}
	}
	return sum
}

func (j *judge) member(f *field, b *block, cell int) entry {
	if i := b.trials[cell]; i != 0 {
		return f.entries[i-1]
	}
	if b.skipped != nil && b.skipped[cell] {
		return entry{state: censored, low: f.floor, high: math.Inf(1), killed: true}
	}
	return entry{}
}

// larger is the greater of two entries, for a measure that takes the greatest along an axis.
func larger(a, b entry) entry {
	switch { // a figure that what was offered bounds says nothing beside a greater one
	case a.bound && b.low > a.low:
		return b
	case b.bound && a.low >= b.low:
		return a
	}
	out := entry{state: number, low: math.Max(a.low, b.low), high: math.Max(a.high, b.high), trial: b.trial,
		unlike: a.unlike || b.unlike}
	if out.low < out.high {
		out.state = censored
		out.killed, out.missing, out.tooFew = a.killed || b.killed, a.missing || b.missing, a.tooFew || b.tooFew
	}
	out.failed = a.failed && b.failed
	return out
}

// fillBlockMeasure makes a field whose cells lack the axis along which the greatest value is taken.
func (j *judge) fillBlockMeasure(f *field) error {
	of, err := j.field(f.MaxOf)
	if err != nil {
		return err
	}
	f.entries, f.floor = of.entries, of.floor
	f.Unit, f.Share = of.Unit, of.Share
	if f.Better == "" {
		f.Better = of.Better
	}
	index := map[string]int{}
	for i, c := range j.plan.Cells[:j.plan.Main()] {
		if c.Twin {
			continue
		}
		rest := c.Cell.Without(f.Along)
		at, ok := index[rest.Key()]
		if !ok {
			at = len(f.cells)
			index[rest.Key()] = at
			f.cells = append(f.cells, rest)
			f.members = append(f.members, nil)
		}
		f.members[at] = append(f.members[at], i)
	}
	return nil
}
