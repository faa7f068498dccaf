package stat

// A Decision is the answer of a three-way test.
type Decision int8

// The three answers. The zero Decision claims nothing.
const (
	Undecided Decision = iota
	Confirmed          // the claim is shown
	Refuted            // its contrary is shown
)

func (d Decision) String() string {
	switch d {
	case Confirmed:
		return "confirmed"
	case Refuted:
		return "refuted"
	}
	return "undecided"
}
