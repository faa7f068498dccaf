package assay

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// A Plan is what is going to be executed, fixed before the first trial.
type Plan struct {
	Blocks  int   `json:"blocks"`
	Looks   []int `json:"looks,omitempty"`
	Retries int   `json:"retries"`
	Warmup  int   `json:"warmup"`
	// Cells are the cells of a block with their values, in design order; Absent are those that
	// this machine cannot execute.
	Cells  []PlannedCell `json:"cells"`
	Absent []PlannedCell `json:"absent,omitempty"`
	// Order holds, for each block, indexes into Cells in order of execution. Blocks that are
	// repeated beyond Blocks follow [Order] with the same seed.
	Order [][]int `json:"order"`
	// SkipAbove holds, for each factor that a kill rule skips along, its levels in the axis's order:
	// after a kill, the cells that differ only in a higher level are not executed any more.
	SkipAbove map[string][]string `json:"skip_above,omitempty"`
	// Stages follow the blocks, each with blocks of its own over some of the cells. A registered
	// rule adds them while the run goes on; the cells that they add stand at the end of Cells.
	Stages []Stage `json:"stages,omitempty"`
}

// A Stage is fresh blocks over some cells, among them new ones.
type Stage struct {
	Blocks int    `json:"blocks"`
	Cells  []int  `json:"cells"` // indexes into Plan.Cells
	Added  int    `json:"added"` // how many of Plan.Cells the stage added
	Why    string `json:"why"`
}

// Main is the number of cells of the plan's own blocks: those that no stage added.
func (p *Plan) Main() int {
	n := len(p.Cells)
	for _, s := range p.Stages {
		n -= s.Added
	}
	return n
}

// Recut is the plan with one more stage: blocks over the cells of with and the added ones.
func (p Plan) Recut(with []int, added []PlannedCell, blocks int, why string) Plan {
	s := Stage{Blocks: blocks, Cells: slices.Clone(with), Added: len(added), Why: why}
	cells := slices.Clone(p.Cells)
	for _, c := range added {
		s.Cells = append(s.Cells, len(cells))
		cells = append(cells, c)
	}
	p.Cells, p.Stages = cells, append(slices.Clone(p.Stages), s)
	return p
}

// Keeping is the plan with the stages that a rule added to an earlier one, whose blocks are recorded under
// numbers that follow those of the plan. The error says why the two do not fit: another number of blocks,
// or a stage over a cell that the plan does not have.
func (p Plan) Keeping(earlier Plan) (Plan, error) {
	if len(earlier.Stages) == 0 {
		return p, nil
	}
	if p.Blocks != earlier.Blocks {
		return p, fmt.Errorf("%d blocks instead of %d: the blocks of the levels that the refine rule added follow these", p.Blocks, earlier.Blocks)
	}
	at := make([]int, earlier.Main(), len(earlier.Cells)) // by cell of the earlier plan: that of this one
	for i, c := range earlier.Cells[:earlier.Main()] {
		at[i] = slices.IndexFunc(p.Cells, func(other PlannedCell) bool { return other.Twin == c.Twin && other.Cell.Key() == c.Cell.Key() })
	}
	next := earlier.Main()
	for _, s := range earlier.Stages {
		var with []int
		added := earlier.Cells[next : next+s.Added]
		for _, cell := range s.Cells {
			switch {
			case cell >= next: // the stage adds it
			case at[cell] < 0:
				return p, fmt.Errorf("no cell %s any more: a level that the refine rule added was measured beside it", earlier.Cells[cell].Cell)
			default:
				with = append(with, at[cell])
			}
		}
		for i := range added {
			at = append(at, len(p.Cells)+i)
		}
		p, next = p.Recut(with, added, s.Blocks, s.Why), next+s.Added
	}
	return p, nil
}

// A PlannedCell is a cell with the values that its substitutions take.
type PlannedCell struct {
	Cell   Cell              `json:"cell"`
	Values map[string]string `json:"values,omitempty"`
	Why    string            `json:"why,omitempty"`
	// Twin says that the cell is another of Cells once more, for the experiment's instrument: the
	// two differ in nothing, and what their figures differ by is noise.
	Twin bool `json:"twin,omitempty"`
}

// NewPlan orders the experiment's cells. The same experiment and seed give the same plan.
func NewPlan(e *Experiment, seed uint64) Plan {
	p := Plan{Blocks: e.Blocks, Looks: e.Looks, Retries: e.Retries, Warmup: e.Warmup}
	for _, s := range e.Settings {
		p.Cells = append(p.Cells, PlannedCell{Cell: s.Cell, Values: s.Values})
		for _, k := range s.Workload.Kills {
			p.skipAlong(e.Factors, k.SkipAbove)
		}
	}
	for _, s := range e.Settings {
		if e.Instrument.Twin != nil && s.Cell.Key() == e.Instrument.Twin.Key() {
			p.Cells = append(p.Cells, PlannedCell{Cell: s.Cell, Values: s.Values, Twin: true})
		}
	}
	for _, a := range e.Absent {
		p.Absent = append(p.Absent, PlannedCell{Cell: a.Cell, Why: a.Why})
	}
	for b := 1; b <= p.Blocks; b++ {
		p.Order = append(p.Order, Order(seed, len(p.Cells), b))
	}
	return p
}

func (p *Plan) skipAlong(factors []Factor, name string) {
	for _, f := range factors {
		if f.Name != name || name == "" {
			continue
		}
		if p.SkipAbove == nil {
			p.SkipAbove = map[string][]string{}
		}
		p.SkipAbove[name] = f.Order()
	}
}

// Order is the order in which k cells are executed in a block, counted from 1; block 0 and below
// are warm-ups. Every k successive blocks are the shuffled rows of a Williams square (Williams,
// Aust. J. Sci. Res. A 2, 1949) whose treatments are a fresh permutation, so that over any number
// of blocks the times a cell stood at a position differ by at most one. Over a whole square every cell
// follows every other once; with an odd k it takes two squares, of which the second is the first
// one's mirror image, and then it is twice.
func Order(seed uint64, k, block int) []int {
	if k <= 0 {
		return nil
	}
	cycle, row := floorDiv(block-1, k)
	rng := rand.New(rand.NewPCG(seed, uint64(int64(cycle))))
	cells := permutation(rng, k)
	rows := permutation(rng, k)
	mirrored := k%2 == 1 && cycle%2 != 0
	if mirrored {
		cells = permutation(rand.New(rand.NewPCG(seed, uint64(int64(cycle-1)))), k)
	}
	order := make([]int, k)
	for i := range order {
		// The first row of the square is 0, 1, k-1, 2, k-2, …; each other row adds one to it.
		step := (i + 1) / 2
		if i%2 == 0 {
			step = k - i/2
		}
		at := i
		if mirrored {
			at = k - 1 - i
		}
		order[at] = cells[(step+rows[row])%k]
	}
	return order
}

func floorDiv(a, b int) (quotient, rest int) {
	quotient, rest = a/b, a%b
	if rest < 0 {
		quotient, rest = quotient-1, rest+b
	}
	return quotient, rest
}

// permutation is a Fisher-Yates shuffle of 0..k-1. It is written out because rand.Perm may change
// with the Go version, and a plan must not.
func permutation(rng *rand.Rand, k int) []int {
	p := make([]int, k)
	for i := range p {
		p[i] = i
	}
	for i := k - 1; i > 0; i-- {
		j := int(rng.Uint64() % uint64(i+1))
		p[i], p[j] = p[j], p[i]
	}
	return p
}
