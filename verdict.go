package assay

// A Status is the first word of a verdict.
type Status string

// The five verdicts. The zero Status is none of them and claims nothing.
const (
	Pass      Status = "PASS"
	Fail      Status = "FAIL"
	Undecided Status = "UNDECIDED"
	Untested  Status = "UNTESTED"
	Void      Status = "VOID"
)

// A Reason is why a verdict is what it is, from a closed vocabulary.
type Reason string

// The reasons. A guard's reason is GuardReason(name).
const (
	Holds           Reason = "holds"
	Contradicted    Reason = "contradicted"
	Straddles       Reason = "straddles"
	Underpowered    Reason = "underpowered"
	Incomplete      Reason = "incomplete"
	UnequalVoids    Reason = "unequal-voids"
	Vacuous         Reason = "vacuous"
	AxisGap         Reason = "axis-gap"
	AxisEdge        Reason = "axis-edge"
	Censored        Reason = "censored"
	NotTestableHere Reason = "not-testable-here"
	NoEffect        Reason = "no-effect"
	Regimes         Reason = "regimes"
	Confounded      Reason = "confounded"
	CrossSession    Reason = "cross-session"
	BadInstrument   Reason = "instrument"
	AboveCeiling    Reason = "ceiling"
)

// GuardReason is the reason of a verdict that a guard voided.
func GuardReason(name string) Reason { return Reason(guardPrefix + name) }

// A Verdict is what the recorded trials say of one hypothesis.
type Verdict struct {
	ID      string `json:"id"`
	Claim   string `json:"claim"`
	Verdict Status `json:"verdict"`
	Reason  Reason `json:"reason"`
	// Estimate, Low and High are in Unit; nil where nothing can be said or the end is open.
	Estimate    *float64 `json:"estimate"`
	Low         *float64 `json:"low"`
	High        *float64 `json:"high"`
	Confidence  float64  `json:"confidence"`
	Blocks      int      `json:"blocks"`
	Unit        string   `json:"unit"`
	Exploratory bool     `json:"exploratory"`
	Notes       []string `json:"notes"`
}

// A TrialCount says what became of the planned trials, warm-ups apart.
type TrialCount struct {
	Planned int `json:"planned"`
	OK      int `json:"ok"`     // outcome ok and valid
	Void    int `json:"void"`   // outcome ok, but invalid
	Failed  int `json:"failed"` // failed, crashed, oom, hung
	Killed  int `json:"killed"` // killed, capped
	Refused int `json:"refused"`
}

// A Caution is a figure that must not be quoted.
type Caution struct {
	What    string `json:"what"`
	Why     string `json:"why"`
	Instead string `json:"instead"`
}

// Verdicts is verdicts.json.
type Verdicts struct {
	Experiment   string     `json:"experiment"`
	Registration string     `json:"registration"`
	Hypotheses   []Verdict  `json:"hypotheses"`
	Trials       TrialCount `json:"trials"`
	DoNotQuote   []Caution  `json:"do_not_quote"`
}
