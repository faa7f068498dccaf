package traps

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	sane  = flag.Int("sane", 10, "clean trials of each of three sane workloads")
	kills = flag.Int("kills", 0, "how often the time from a window over its bound to the last byte of load is measured")
)

// ofTheMachine are the guards that a busy machine breaks by itself: on one, they are no false alarms.
var ofTheMachine = append(slices.Clone(machineGuards), "guard:generator", "guard:delivered")

func testBench(t *testing.T, seed uint64) *Bench {
	return &Bench{Assay: program, Dir: t.TempDir(), Rand: rand.New(rand.NewPCG(seed, 9))}
}

// Nothing may be voided, refused or killed in trials of workloads in which nothing is wrong.
func TestSaneWorkloadsAreLeftAlone(t *testing.T) {
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	for name, yaml := range map[string]string{
		"command": `
factors: {work: [20ms, 40ms]}
command: [EXE]
env: {TRAPS_SUBJECT: "burn {work}"}
`,
		"files": `
command: [EXE]
env: {TRAPS_SUBJECT: "read DIR/input"}
inputs: DIR/input
prepare: evict(DIR/input)
gates: ["resident(DIR/input) <= 5%"]
measures: {speed: {json: speed, unit: MB/s, better: more}}
ceilings: {measure: speed, limit: 100000MB/s}
`,
		"service": fmt.Sprintf(`
factors: {offered: [40, 80]}
target:
  api:
    command: [EXE]
    env: {TRAPS_SUBJECT: "server %[1]s service=5ms"}
    ready: {http: "http://127.0.0.1:%[1]s/livez"}
    fresh: experiment
load:
  http: {url: "http://127.0.0.1:%[1]s/"}
  rate: "{offered}/s"
  for: 500ms
  timeout: 5s
probes: {share: {http: "http://127.0.0.1:%[1]s/livez", rate: 10/s, timeout: 4s}}
kill:
  - {when: "mean(rtt(share)) > 3s over 5s", cool_down: 1s}
`, port),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := testBench(t, 1)
			if err := b.input(4); err != nil {
				t.Fatal(err)
			}
			cells := 1 + strings.Count(yaml, "factors:")
			blocks := max(1, (*sane+cells-1)/cells)
			_, trials, err := b.watched(fmt.Sprintf("experiment: %s\nblocks: %d\nretries: 0\n%s", name, blocks, yaml))
			if err != nil {
				t.Fatal(err)
			}
			marked := 0
			for _, trial := range trials {
				alarms := slices.DeleteFunc(slices.Clone(trial.VoidBy), func(by string) bool { return slices.Contains(ofTheMachine, by) })
				if trial.Outcome != "ok" || len(alarms) > 0 {
					t.Errorf("trial %d: %s, void by %v: %v %v", trial.Trial, trial.Outcome, trial.VoidBy, trial.RefusedBy, trial.Notes)
				}
				if !trial.Valid {
					marked++
				}
			}
			t.Logf("%d trials, %d of them marked for what the machine did", len(trials), marked)
		})
	}
}

// The load must have stopped a second after the window of a kill rule was over its bound.
func TestKillSoon(t *testing.T) {
	if *kills == 0 {
		t.Skip("measured with -kills 30; T23 holds the bound in every run")
	}
	for name, kill := range map[string]func(*Bench) (Said, time.Duration, error){
		"probe": func(b *Bench) (Said, time.Duration, error) { return b.harm(true) },
		"load":  func(b *Bench) (Said, time.Duration, error) { return b.slow(true) },
	} {
		var times []time.Duration
		for i := range *kills {
			said, took, err := kill(testBench(t, uint64(i)))
			if err != nil {
				t.Fatal(err)
			}
			if !said.Caught() {
				t.Errorf("%s, kill %d: %s", name, i, said)
				continue
			}
			times = append(times, took)
		}
		slices.Sort(times)
		t.Logf("%s: from the window over its bound to the last byte of load, %d times: median %v, largest %v",
			name, len(times), times[len(times)/2], times[len(times)-1])
	}
}
