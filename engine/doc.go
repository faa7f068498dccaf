// Package engine carries out a plan: here the effects meet.
//
// It asks what comes next, executes one trial, records it, and asks again, so that a run that was
// stopped at any moment goes on from the recorded trials alone. A trial passes through gates,
// prepare hooks, the workload under watch, conclude hooks and guards; whatever happens in it is
// recorded as its outcome or as what voided it and never ends the run.
package engine
