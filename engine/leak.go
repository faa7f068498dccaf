package engine

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/assaybench/assay/telemetry"
)

// Bounds of the leak guard. What an object holds is looked at between trials, while nothing is asked
// of it: it must have grown leakTrials times in a row, by so much in all. Pools and caches fill in
// the first trials and then stop; what is handed back late falls again.
const (
	leakTrials = 5
	leakCount  = 10       // descriptors or sockets
	leakBytes  = 64 << 20 // of memory
	leakShare  = 0.25     // of memory: more than this beyond what it was
)

// A holding is what an object has in hand while nothing is asked of it.
type holding struct {
	pid                  int
	files, sockets, anon float64
}

// leaks remembers what targets, and Assay itself, held before each of the last trials.
type leaks struct {
	seen map[string][]holding
}

// look takes down what every object holds, and voids the trial where that has grown from trial to
// trial: what is left over from the trials before is part of its figures, and a limit that it runs
// into is no ceiling.
func (l *leaks) look(ctx context.Context, t *trial) {
	if l.seen == nil {
		l.seen = map[string][]holding{}
	}
	objects := t.run.services.objects()
	if t.setting.Workload.Load != nil { // else Assay only waits for a command
		objects = append(objects, telemetry.Object{Name: telemetry.Generator, PID: os.Getpid()})
	}
	for _, o := range objects {
		if o.PID == 0 {
			continue
		}
		h := holdingOf(ctx, o)
		list := l.seen[o.Name]
		if n := len(list); n > 0 && list[n-1].pid != o.PID {
			list = nil // another process: what the old one held is gone
		}
		list = append(list, h)
		list = list[max(0, len(list)-leakTrials-1):]
		l.seen[o.Name] = list
		if text := leaking(list); text != "" {
			t.void("leak", fmt.Sprintf("%s (process %d) %s from trial to trial while nothing was asked of it: a leak is not a ceiling; find what is not closed, or start it fresh for each trial (fresh: trial)", o.Name, o.PID, text))
		}
	}
}

// holdingOf reads what an object holds now. What cannot be read stays 0 and so never grows.
func holdingOf(ctx context.Context, o telemetry.Object) holding {
	h := holding{pid: o.PID}
	if o.Name == telemetry.Generator {
		runtime.GC() // what only waits to be collected is not held
	}
	trees := &telemetry.Trees{Objects: func() []telemetry.Object { return []telemetry.Object{o} }}
	into := map[string]*float64{"files": &h.files, "close_wait": &h.sockets, "rss_anon": &h.anon}
	emit := func(name, object string, value float64) {
		if to := into[name]; to != nil && object == o.Name {
			*to = value
		}
	}
	samplers := []telemetry.Sampler{&telemetry.Processes{Trees: trees}, &telemetry.Descriptors{Trees: trees}}
	if o.Name != telemetry.Generator {
		samplers = append(samplers, &telemetry.Connections{Trees: trees})
	}
	for _, s := range samplers {
		_ = s.Read(ctx, emit) // an object that ends meanwhile holds nothing
		_ = s.Close()
	}
	return h
}

// leaking says what has grown without a break; empty for nothing.
func leaking(list []holding) string {
	if len(list) <= leakTrials {
		return ""
	}
	first, last := list[0], list[len(list)-1]
	files := func(h holding) float64 { return h.files }
	sockets := func(h holding) float64 { return h.sockets }
	anon := func(h holding) float64 { return h.anon }
	switch {
	case grows(list, sockets, 1) && last.sockets-first.sockets >= leakCount:
		return fmt.Sprintf("kept more half-closed sockets (CLOSE_WAIT: %.0f, %d trials before %.0f)", last.sockets, leakTrials, first.sockets)
	case grows(list, files, 1) && last.files-first.files >= leakCount:
		return fmt.Sprintf("kept more descriptors open (%.0f, %d trials before %.0f)", last.files, leakTrials, first.files)
	case grows(list, anon, 1<<20) && last.anon-first.anon >= leakBytes && last.anon > (1+leakShare)*first.anon:
		return fmt.Sprintf("kept more memory (%.0f MiB, %d trials before %.0f MiB)", last.anon/(1<<20), leakTrials, first.anon/(1<<20))
	}
	return ""
}

// grows reports whether a figure grew by at least so much each time.
func grows(list []holding, of func(holding) float64, least float64) bool {
	for i := 1; i < len(list); i++ {
		if of(list[i])-of(list[i-1]) < least {
			return false
		}
	}
	return true
}
