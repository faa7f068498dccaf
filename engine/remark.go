package engine

import (
	"fmt"
	"runtime"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/measure"
)

// Bounds of remarks. An object is oversubscribed when on the average more than twice as many of its
// threads want a core as there are: what it then spends on changing between them is no work.
const (
	crowded = 2
	// reached is the least share of the connections asked for that must have been open at once.
	reached = 0.9
)

// clipped names targets whose memory ran into the limit of their control group: a figure of their
// memory is then of the limit.
func (t *trial) clipped(readings []measure.Reading) {
	last := map[[2]string]float64{}
	for _, r := range readings {
		last[[2]string{r.Name, r.Object}] = r.Value
	}
	for _, one := range t.run.services.up {
		if hits := last[[2]string{"memory_limit_hits", one.name}]; hits > 0 {
			t.note(fmt.Sprintf("clipped: the memory of %s ran into the limit of its control group %.0f times (%.0f MiB): what it holds is what it may; raise the limit and execute again",
				one.name, hits, last[[2]string{"memory_limit_bytes", one.name}]/(1<<20)))
		}
	}
}

// crowds names targets that are oversubscribed.
func (t *trial) crowds(readings []measure.Reading) {
	runnable := map[string][]float64{}
	for _, r := range readings {
		if r.Name == "runnable" {
			runnable[r.Object] = append(runnable[r.Object], r.Value)
		}
	}
	for _, one := range t.run.services.up {
		t.crowd(one.name, runnable[one.name])
	}
}

// crowd notes that more threads of an object wanted a core than there are.
func (t *trial) crowd(object string, runnable []float64) {
	var sum float64
	for _, n := range runnable {
		sum += n
	}
	cores := float64(runtime.NumCPU())
	if mean := sum / float64(len(runnable)); mean > crowded*cores {
		t.note(fmt.Sprintf("oversubscribed: %.1f threads of %s wanted a core on the average, and there are %.0f: they take turns, and changing turns is no work; lower its threads or workers",
			mean, object, cores))
	}
}

// shortfalls says where a load was another than the one that was asked for, and where a target turned
// operations away that it had room for.
func (t *trial) shortfalls(l *assay.Load, a *load.Account) {
	if n := a.Errors[load.Shed]; n > 0 {
		t.note(fmt.Sprintf("shed: the target turned %d operations away while %d connections were open and %.1f operations in flight on the average: where its limit counts connections, idle ones that are kept alive count too; lever: its limit, or fewer connections",
			n, a.Connections, a.InFlightMean))
	}
	if t.record.Outcome != assay.OK {
		return
	}
	asked := l.Connections()
	if asked > 0 && l.Clients > 0 {
		asked = min(asked, l.Clients)
	}
	shared := l.HTTP != nil && l.HTTP.Version == "2"
	if asked > 0 && !shared && l.Clients >= asked && float64(a.Connections) < reached*float64(asked) {
		t.void("achieved", fmt.Sprintf("%d connections were asked for, and %d were open at most; lever: what refuses them, or fewer connections", asked, a.Connections))
	}
}
