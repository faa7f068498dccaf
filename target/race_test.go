//go:build race

package target

// moments is at how many moments each kind of kill is tried: few, because every process of these
// tests is this binary, and takes long to start with the race detector in it.
const moments = 4
