package assay

import "time"

// An Outcome is how a trial ended. It says nothing about validity.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"  // exit status other than 0
	Crashed     Outcome = "crashed" // ended by a signal of its own
	OOM         Outcome = "oom"     // ended by the kernel for want of memory
	Hung        Outcome = "hung"    // no progress for the declared time
	Capped      Outcome = "capped"  // still going at the wall cap
	Killed      Outcome = "killed"  // stopped by a kill rule
	Refused     Outcome = "refused" // a gate did not hold within its patience
	Interrupted Outcome = "interrupted"
)

// CellsDoing reports whether the cell itself is to blame for the outcome: such trials are never
// dropped but enter their block as worse than any number.
func (o Outcome) CellsDoing() bool {
	switch o {
	case Failed, Crashed, OOM, Hung, Capped:
		return true
	}
	return false
}

// A Trial is one line of trials.jsonl: one execution of one cell.
type Trial struct {
	Trial        int       `json:"trial"`    // counted from 1 over the whole folder
	Block        int       `json:"block"`    // counted from 1; 0 for a warm-up
	Position     int       `json:"position"` // in the block, counted from 1
	Cell         Cell      `json:"cell"`
	Warmup       bool      `json:"warmup"`
	Session      string    `json:"session"`
	Registration string    `json:"registration"`
	StartedAt    time.Time `json:"started_at"`
	Outcome      Outcome   `json:"outcome"`
	// Valid says that nothing outside the cell spoilt the trial. VoidBy names what did.
	Valid     bool             `json:"valid"`
	VoidBy    []string         `json:"void_by"`
	RefusedBy []string         `json:"refused_by"`
	Exit      int              `json:"exit"`
	Signal    string           `json:"signal"`
	Measures  map[string]Value `json:"measures"`
	Achieved  map[string]Value `json:"achieved"`

	OutputSHA256     string        `json:"output_sha256"`
	ExecutableSHA256 string        `json:"executable_sha256"`
	Gates            []GateReading `json:"gates"`
	Notes            []string      `json:"notes"`
	Prev             string        `json:"prev"` // SHA-256 of the line before, hexadecimal; empty in the first
}

// A GateReading is what a gate saw before a trial.
type GateReading struct {
	Condition string `json:"condition"`
	Reading   Value  `json:"reading"`
	WaitedNS  int64  `json:"waited_ns"`
}

// Counts reports whether the trial takes part in statistics: it is no warm-up, nothing voided it,
// and it was neither refused nor interrupted.
func (t *Trial) Counts() bool {
	return !t.Warmup && t.Valid && t.Outcome != Refused && t.Outcome != Interrupted
}

// Guards that void a trial stand in void_by as "guard:NAME".
const guardPrefix = "guard:"

// GuardVoid is the entry that a guard leaves in void_by.
func GuardVoid(name string) string { return guardPrefix + name }

// MeasureKey is the key under which a built-in measure stands in a trial's measures: its name with
// the unit that it is stored in, and the object in parentheses.
func MeasureKey(r MeasureRef) string {
	key := r
	if suffix := builtins[r.Name].suffix; suffix != "" {
		key.Name += suffix
	}
	return key.String()
}

// InjectedKey is the key under which the known delay of an instrument's inject stands in the measures
// of a trial that had it, in the unit of the measure that it must move.
const InjectedKey = "injected"

// A Builtin describes a built-in measure.
type Builtin struct {
	Name   string
	Unit   Unit // of the number in a trial's measures
	Better Better
	Load   bool // only with load:
	Object bool // of an object: rss_peak(api)
	// Yields says that a declared measure may bear the name: bandwidth is then the file's own, and
	// bandwidth(link) still the built-in one.
	Yields bool
	suffix string
}

var builtins = builtinTable()

func builtinTable() map[string]Builtin {
	ns, _ := ParseUnit("ns")
	bytes, _ := ParseUnit("B")
	perSecond, _ := ParseUnit("/s")
	var plain Unit = Unit{Scale: 1}
	list := []Builtin{
		{Name: "wall", Unit: ns, Better: Lower, suffix: "_ns"},
		{Name: "user", Unit: ns, Better: Lower, suffix: "_ns"},
		{Name: "system", Unit: ns, Better: Lower, suffix: "_ns"},
		{Name: "rss_peak", Unit: bytes, Better: Lower, Object: true, suffix: "_bytes"},
		{Name: "rss_anon", Unit: bytes, Better: Lower, Object: true, suffix: "_bytes"},
		{Name: "ctx_switches", Unit: plain, Better: Lower},
		{Name: "page_faults", Unit: plain, Better: Lower},
		{Name: "exit", Unit: plain},
		{Name: "rate", Unit: perSecond, Better: More, Load: true, suffix: "_per_s"},
		{Name: "response_time", Unit: ns, Better: Lower, Load: true, suffix: "_ns"},
		{Name: "service_time", Unit: ns, Better: Lower, Load: true, suffix: "_ns"},
		{Name: "lag", Unit: ns, Better: Lower, Load: true, suffix: "_ns"},
		{Name: "errors", Unit: plain, Better: Lower, Load: true, suffix: "_ratio"},
		{Name: "delivered", Unit: plain, Better: More, Load: true, suffix: "_ratio"},
		{Name: "in_flight", Unit: plain, Load: true},
		{Name: "cpu", Unit: plain, Better: Lower, Object: true, suffix: "_cores"},
		{Name: "threads", Unit: plain, Object: true},
		{Name: "restarts", Unit: plain, Better: Lower, Object: true},
		{Name: "resident", Unit: plain, Object: true, suffix: "_ratio"},
		{Name: "rtt", Unit: ns, Better: Lower, Object: true, suffix: "_ns"},
		{Name: "cold_start", Unit: ns, Better: Lower, Object: true, suffix: "_ns", Yields: true},
		{Name: "recovery", Unit: ns, Better: Lower, Object: true, suffix: "_ns", Yields: true},
		{Name: "temp", Unit: Unit{Name: "C", Dim: Dimension{Base: "C"}, Scale: 1}, Better: Lower, suffix: "_celsius"},
		{Name: "load1", Unit: plain, Better: Lower},
		{Name: "cpu_idle", Unit: plain, suffix: "_ratio"},
		{Name: "cpu_steal", Unit: plain, Better: Lower, suffix: "_ratio"},
		{Name: "clock_tick", Unit: ns, suffix: "_ns", Yields: true},
		{Name: "span", Unit: ns, suffix: "_ns", Yields: true},
		{Name: "disk_free", Unit: bytes, Object: true, suffix: "_bytes", Yields: true},
		{Name: "mem_free", Unit: bytes, suffix: "_bytes", Yields: true},
		{Name: "bandwidth", Unit: Unit{Name: "B/s", Dim: Dimension{Base: "B", PerSecond: true}, Scale: 1}, Object: true, suffix: "_bytes_per_s", Yields: true},
		{Name: "calibration", Unit: plain, suffix: "_ratio", Yields: true},
		{Name: "ports_free", Unit: plain, Yields: true},
		{Name: "agree", Unit: plain, Object: true, suffix: "_ratio", Yields: true},
		{Name: "pressure", Unit: plain, Object: true, suffix: "_ratio", Yields: true},
	}
	table := make(map[string]Builtin, len(list))
	for _, b := range list {
		table[b.Name] = b
	}
	return table
}

// BuiltinMeasure is the built-in measure of that name.
func BuiltinMeasure(name string) (Builtin, bool) {
	b, ok := builtins[name]
	return b, ok
}

// BuiltinNames are the names of all built-in measures, in no order.
func BuiltinNames() []string {
	names := make([]string, 0, len(builtins))
	for name := range builtins {
		names = append(names, name)
	}
	return names
}

// OfObject reports whether ref asks for this built-in measure of an object, which no declared measure
// of the same name can mean.
func (b Builtin) OfObject(ref MeasureRef) bool { return b.Object && ref.Object != "" }
