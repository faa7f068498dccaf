package traps

import (
	"fmt"
	"math"
	"slices"
)

// A Case is one situation.
type Case struct {
	ID    string
	About string // the situation, in a sentence
	Due   string // what must be said of it
	// Trap carries the situation out and is what the product said; Twin carries out its clean twin.
	// The error is for what prevented it.
	Trap, Twin func(*Bench) (Said, error)
}

// Said is what the product said of one situation.
type Said struct {
	Warned bool   // what is due was said
	Reason string // the reason code, guard or class that stands for it
	Text   string // the sentence or the figures
	Wrong  string // a figure or verdict that is not the truth; empty for none
	Noise  string // the machine voided the trial by itself: nothing was shown; empty for none
}

// Caught reports whether a trap was caught: what is due was said, and no figure was wrong.
func (s Said) Caught() bool { return s.Warned && s.Wrong == "" }

// Silent reports whether a clean twin passed: nothing was said of the trap, and no figure was wrong.
func (s Said) Silent() bool { return !s.Warned && s.Wrong == "" }

// String is what was said in one line.
func (s Said) String() string {
	text := s.Text
	if s.Reason != "" {
		text = s.Reason + ": " + text
	}
	if s.Wrong != "" {
		text += " [wrong: " + s.Wrong + "]"
	}
	if s.Noise != "" {
		text += " [the machine: " + s.Noise + "]"
	}
	return text
}

// wrongf notes a figure that is not the truth; the first one stays.
func (s *Said) wrongf(format string, values ...any) {
	if s.Wrong == "" {
		s.Wrong = fmt.Sprintf(format, values...)
	}
}

// near checks a figure against its truth: off by no more than a share of it, or by slack.
func (s *Said) near(what string, got, want, share, slack float64) {
	if !(math.Abs(got-want) <= max(share*math.Abs(want), slack)) {
		s.wrongf("%s is %.4g, the truth is %.4g", what, got, want)
	}
}

// Cases are all cases.
func Cases() []Case {
	return slices.Concat(deliveryCases(), targetCases(), processCases(), figureCases(), waitingCases(), servedCases(), harmCases(), storageCases())
}
