package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assaybench/assay/measure"
)

// Bounds of the remark on bystanders: what they wait for must have become twice as long, by more than
// the machine's own noise.
const (
	paidTimes = 2
	paidLeast = 2 * time.Millisecond
)

// paid names probes that were answered much later during the trial than before the trials: a rate that
// stays the same while that grows was bought with the time of others.
func (t *trial) paid(readings []measure.Reading) {
	sum, n := map[string]float64{}, map[string]int{}
	for _, r := range readings {
		if r.Name == "rtt" {
			sum[r.Object] += r.Value
			n[r.Object]++
		}
	}
	var list []string
	for name, baseline := range t.run.idle {
		if n[name] == 0 || baseline <= 0 {
			continue
		}
		mean := time.Duration(sum[name] / float64(n[name]))
		if mean > paidTimes*baseline && mean > baseline+paidLeast {
			list = append(list, fmt.Sprintf("others pay: rtt(%s) was %v on the average of %d probes in the trial and %v before the trials, %.1f times as long: that is what those who share it wait, whatever the trial's own rate says; lever: less in flight, or a kill rule on rtt(%s)",
				name, mean.Round(10*time.Microsecond), n[name], baseline.Round(10*time.Microsecond), float64(mean)/float64(baseline), name))
		}
	}
	slices.SortFunc(list, strings.Compare)
	for _, text := range list {
		t.note(text)
	}
}
