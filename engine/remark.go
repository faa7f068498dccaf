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
	crowd = 2
	// reached is the least share of the connections asked for that must have been open at once.
	reached = 0.9
)

// remark names what the readings of the trial's objects show and a figure alone does not.
func (t *trial) remark(readings []measure.Reading) {
	cores := float64(runtime.NumCPU())
	used := means(readings, "cpu")
	for object, runnable := range means(readings, "runnable") {
		if object != commandObject && t.run.services.find(object) == nil {
			continue // the machine's threads are not the trial's
		}
		if runnable > crowd*cores {
			lost, _ := perSecond(readings, "ctx_involuntary", object)
			t.note(fmt.Sprintf("oversubscribed: %s had %.1f threads that wanted a core on the average, on %.0f cores, used %.2f of them, and lost a core against its will %.0f times a second: lower its threads or workers",
				object, runnable, cores, used[object], lost))
		}
	}
}

// means are the means of a reading, by object.
func means(readings []measure.Reading, name string) map[string]float64 {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, r := range readings {
		if r.Name == name {
			sum[r.Object] += r.Value
			n[r.Object]++
		}
	}
	for object := range sum {
		sum[object] /= n[object]
	}
	return sum
}

// perSecond is by how much a counter rose a second over the watch; ok is false with fewer than two readings.
func perSecond(readings []measure.Reading, name, object string) (rate float64, ok bool) {
	var first, last *measure.Reading
	for i := range readings {
		if r := &readings[i]; r.Name == name && r.Object == object {
			if first == nil {
				first = r
			}
			last = r
		}
	}
	if first == last {
		return 0, false
	}
	return (last.Value - first.Value) / (float64(last.TNS-first.TNS) / 1e9), true
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
	if l.HTTP == nil {
		return
	}
	asked := l.HTTP.Connections
	if asked > 0 && l.Clients > 0 {
		asked = min(asked, l.Clients)
	}
	if streams := max(l.HTTP.Streams, 1); asked > 0 && l.HTTP.Version != "2" && l.Clients >= asked*streams && float64(a.Connections) < reached*float64(asked) {
		t.void("achieved", fmt.Sprintf("%d connections were asked for, and %d were open at most; lever: what refuses them, or fewer connections", asked, a.Connections))
	}
}
