//go:build !race

package target

// moments is at how many moments each kind of kill is tried.
const moments = 12
