package assay

import "time"

// An Experiment is an experiment file that has been read and found free of mistakes.
type Experiment struct {
	Name     string
	Question string
	Factors  []Factor
	// Fixed is what is held, in the file's order: stated, printed and not interpreted.
	Fixed []Named
	Cited []Cited
	Base  Cell
	// Settings are the cells in design order, each with all that follows from it. Cells whose level
	// is absent on this machine are in Absent instead, with the condition that was not met.
	Settings []Setting
	Absent   []AbsentCell
	Ladders  []Ladder
	Refine   *Refine

	Blocks  int
	Looks   []int // numbers of blocks after which verdicts are formed; empty: once, after Blocks
	Retries int
	Warmup  int // warm-up trials a cell
	Seed    uint64
	Passes  int

	Measures   []Measure
	Gates      []Gate
	Guards     []Guard
	Ceilings   []Ceiling
	Instrument Instrument
	Hypotheses []Hypothesis

	Inputs []string // files hashed before each trial
	// Machine are files of the machine (a governor, a sysctl) with what they hold while trials are
	// executed; what they held before is put back.
	Machine []Named
	Setup   []Command
	Clean   []Command // cleanup
}

// Named is a name with a text.
type Named struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// A Cited row is a figure from elsewhere: shown with its source, never part of a ratio.
type Cited struct {
	Cell    Cell
	Measure string
	Value   Quantity
	Source  string
}

// A Setting is a cell with everything that follows from it.
type Setting struct {
	Cell Cell
	// Values are what {identifier} can stand for: levels, bundled terms, derived names.
	Values   map[string]string
	Workload Workload
}

// An AbsentCell is a cell that this machine cannot execute.
type AbsentCell struct {
	Cell Cell
	Why  string
}

// A Ladder is a row of cells in which each rung moves one term.
type Ladder struct {
	Name  string
	Rungs []Cell // full cells, the starting one first
	Added []Cell // Added[i] is the term that Rungs[i+1] moved
}

// Refine says that levels are added between measured ones under a registered rule.
type Refine struct {
	Along  string
	Knee   MeasureRef
	Blocks int
	Budget int
	// Width is the ratio of the bracket's ends at which refinement stops; 0 means neighbouring integers.
	Width float64
}

// Better says in which direction a measure improves.
type Better string

// The two directions; the empty string says nothing.
const (
	More  Better = "more"
	Lower Better = "less"
)

// A Measure is a declared measure.
type Measure struct {
	Name   string
	Source Source
	Unit   Unit
	Better Better
	Oracle *Oracle
	// MaxOf and Along make a measure of a block: the greatest MaxOf over the levels of Along.
	MaxOf MeasureRef
	Along string
}

// A Source says where a declared measure is read. Exactly one of JSON, Regex, Benchfmt and Delta is set.
type Source struct {
	JSON     string // a path such as files_per_s or batches[*].ns
	Regex    string // its first group
	Benchfmt string // unit of a benchmark line, such as ns/op
	Delta    string // prom(target, metric): the difference over the trial
	// Reduce turns several values into one: a statistic, or first or last.
	Reduce string
	// From is stdout (the default), stderr or a file.
	From Template
}

// An Oracle says which output is right: a text, or the first one seen, per level of a factor.
type Oracle struct {
	Want  string
	First bool
	Per   string
}

// A Gate must hold before a trial.
type Gate struct {
	Condition Condition
	At        Cell
	// Object is the condition's object where it holds substitutions.
	Object Template
}

// A Guard is judged after a trial; where it does not hold, the trial is void.
type Guard struct {
	Name      string
	Condition Condition
	At        Cell
}

// A Ceiling is a declared limit of a measure.
type Ceiling struct {
	Measure MeasureRef
	// Limit is an expression over levels, derived names and numbers, already evaluated per cell and
	// in base units of the measure (ns, B, plain numbers, and those per second).
	Limit map[string]float64 // by Cell.Key
	Expr  string
	At    Cell
}

// Instrument says how the experiment proves that it could have seen a difference.
type Instrument struct {
	Twin   Cell // the cell that is executed twice; nil for none
	Inject *Inject
}

// Inject is a known delay that must move a figure.
type Inject struct {
	Each      string
	Of, To    Cell
	Moves     MeasureRef
	By        Source
	Tolerance float64
}

// A Kind is a kind of hypothesis.
type Kind string

// The kinds of hypothesis.
const (
	Ratio      Kind = "ratio"
	Difference Kind = "difference"
	Absolute   Kind = "value"
	Same       Kind = "same"
	Knee       Kind = "knee"
	Highest    Kind = "highest"
	Trend      Kind = "trend"
	Line       Kind = "line"
	Identical  Kind = "identical"
	LadderKind Kind = "ladder"
)

// Interval reports whether hypotheses of this kind count in the division of alpha.
func (k Kind) Interval() bool { return k != Identical }

// A Hypothesis is a registered claim. Which fields are set depends on its Kind.
type Hypothesis struct {
	ID      string
	Claim   string
	Kind    Kind
	Measure MeasureRef
	Of, To  Cell // ratio, difference, same: the two sides; value: unset
	At      Cell
	Along   string // knee, highest, trend, line
	Margin  float64
	Expect  Expectation
	// Direction is the expectation of a trend: up, down or none.
	Direction string
	Meets     []Condition // highest
	Slope     Expectation // line
	Intercept Expectation
	Ladder    string
	Largest   Cell
	Needs     *Condition
	// Censoring says that the file accepts a kill rule as this hypothesis's measure.
	Censoring bool
	// Depends names the hypotheses, as the file does, that this one rests on.
	Depends []string
	// From is the id before each: was expanded.
	From string
	// Unattributed says that the compared levels are opaque bundles.
	Unattributed bool
}

// Hooks are commands around the trials.
type Hooks struct {
	Prepare  []Command
	Conclude []Command
}

// A HungRule says when a trial makes no progress.
type HungRule struct {
	After    time.Duration
	Progress string // stdout, stderr or a file that must grow
}
