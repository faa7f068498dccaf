package target

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkTrue is the cost of a trial around a command that does nothing. The metrics are medians:
// wall is spawn to reap, own is wall less the CPU time of the command, round is everything.
func BenchmarkTrue(b *testing.B) {
	var wall, own, round []time.Duration
	for b.Loop() {
		began := time.Now()
		exit, err := Execute(b.Context(), Invocation{Args: []string{"true"}})
		if err != nil {
			b.Fatal(err)
		}
		wall, own, round = append(wall, exit.Wall), append(own, exit.Wall-exit.User-exit.System), append(round, time.Since(began))
	}
	for name, all := range map[string][]time.Duration{"wall-ns": wall, "own-ns": own, "round-ns": round} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2]), name)
	}
}
