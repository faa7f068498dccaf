package grade

import (
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// A trial whose seconds differ knows its quantile less well than the number of its operations says.
func TestRemarkOnDependentOperations(t *testing.T) {
	for name, c := range map[string]struct {
		spread float64 // of the seconds' levels
		want   bool
	}{"each second has its own level": {0.3, true}, "all seconds are alike": {0, false}} {
		b := newBench(t, 6, []string{"n", "1", "2"}).measure("m", "files/s", assay.More)
		b.e.Settings[0].Workload.Load = &assay.Load{Rate: 50, For: 30 * time.Second}
		b.e.Settings[1].Workload.Load = b.e.Settings[0].Workload.Load
		b.claim(assay.Hypothesis{Kind: assay.Absolute, Measure: ref(t, "p50(response_time)"), At: assay.Cell{"n": "1"}, Expect: expect(t, "< 10ms")})
		b.run(0, "s", func(_ Step, tr *assay.Trial) {
			tr.Measures["p50(response_time_ns)"] = assay.Num(5e6 + float64(tr.Trial))
		})
		f := b.folder()
		rng := rand.New(rand.NewPCG(1, 1))
		f.Open = func(int) fs.FS { return secondsLog(t, wandering(rng, 30, 0, c.spread)) }
		text := strings.Join(Judge(f).Remarks, "\n")
		if got := strings.Contains(text, "the 1500 operations depend on those near them"); got != c.want {
			t.Errorf("%s: %q", name, text)
		}
		if c.want && (strings.Count(text, "one trial knows") != 1 || !strings.Contains(text, " ms (95%)")) {
			t.Errorf("%s: want one remark, of the worst cell, with its interval: %q", name, text)
		}
	}
}
