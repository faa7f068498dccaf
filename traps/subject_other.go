//go:build !linux

package traps

// SubjectVariable holds what a process that a case starts is to be.
const SubjectVariable = "TRAPS_SUBJECT"

// Subject is nothing here.
func Subject() (exit int, ok bool) { return 0, false }
