package grade

import (
	"strings"
	"testing"

	"github.com/assaybench/assay"
)

// A store on one processor of two beside a command that takes most of the other share the machine; on
// eight processors they do not.
func TestSharedProcessors(t *testing.T) {
	for _, c := range []struct {
		cpus string
		want bool
	}{{"2", true}, {"8", false}, {"", false}} {
		v := &variant{t, 1, 0.01}
		b := newBench(t, 6, []string{"processes", "1", "4"}).measure("rate_f", "files/s", assay.More)
		b.claim(v.ratio("rate_f", "processes", "4", "1", "> 1", nil))
		b.e.Settings = nil
		for _, n := range []string{"1", "4"} {
			b.e.Settings = append(b.e.Settings, assay.Setting{Cell: assay.Cell{"processes": n},
				Workload: assay.Workload{Command: &assay.Command{}, Targets: []assay.Target{{Name: "store"}}}})
		}
		b.run(0, "s", both(v.gives("rate_f", by("processes", map[string]float64{"1": 660, "4": 500})), func(_ Step, tr *assay.Trial) {
			tr.Measures["cpu_cores(store)"] = assay.Num(0.97)
			tr.Measures["user_ns"], tr.Measures["system_ns"], tr.Measures["wall_ns"] = assay.Num(4e8), assay.Num(3e8), assay.Num(1e9)
		}))
		b.host.Sessions = []assay.Session{{ID: "s", Fingerprint: map[string]string{"cpu_threads": c.cpus}}}
		remarks := strings.Join(b.judge().Remarks, "\n")
		if got := strings.Contains(remarks, "target store used 0.97, the command used 0.70 of this machine's 2 processors"); got != c.want {
			t.Errorf("%s processors: remarks %q, want the shared ones named: %t", c.cpus, remarks, c.want)
		}
	}
}
