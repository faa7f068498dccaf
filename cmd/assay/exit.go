package main

import (
	"fmt"

	"github.com/assaybench/assay"
)

// Exit statuses, in the order in which they apply.
const (
	exitUsage       = 2 // usage, file or environment
	exitInterrupted = 4 // interrupted, or a trial killed
	exitFail        = 1 // some hypothesis FAIL
	exitOpen        = 3 // nothing failed, but something is open, void or refused
)

// exitStatus is an error that says nothing more than the exit status.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// verdictStatus is the exit status that verdicts and trials ask for; nil for 0.
func verdictStatus(v assay.Verdicts, trials []assay.Trial, unrepeated bool) error {
	for _, t := range trials {
		if t.Outcome == assay.Killed {
			return exitStatus(exitInterrupted)
		}
	}
	open := unrepeated
	for _, h := range v.Hypotheses {
		switch h.Verdict {
		case assay.Fail:
			return exitStatus(exitFail)
		case assay.Pass:
		default:
			open = true
		}
	}
	if open {
		return exitStatus(exitOpen)
	}
	return nil
}
