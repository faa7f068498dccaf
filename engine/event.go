package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/target"
)

// events carries out the faults on purpose, each at its time after the beginning, and waits for
// what they hit to serve again.
func (t *trial) events(ctx context.Context, began time.Time) {
	var recoveries sync.WaitGroup
	defer recoveries.Wait()
	for _, e := range t.setting.Workload.Events {
		if pause(ctx, e.At-time.Since(began)); ctx.Err() != nil {
			return
		}
		if err := t.event(ctx, e); err != nil {
			t.later("event " + e.Signal + " to " + e.To + ": " + err.Error())
			continue
		}
		if one := t.run.services.find(e.To); one != nil {
			recoveries.Go(func() { t.recovery(ctx, one) })
		}
	}
}

// event does one thing to a target or to the trial's command.
func (t *trial) event(ctx context.Context, e assay.Event) error {
	var hit func(signal string) error
	one := t.run.services.find(e.To)
	for e.To == commandObject && t.pid.Load() == 0 && ctx.Err() == nil {
		pause(ctx, time.Millisecond) // it is about to be spawned
	}
	switch pid := int(t.pid.Load()); {
	case one != nil:
		hit = one.Signal
	case e.To == commandObject && pid != 0:
		hit = func(signal string) error { return target.Strike(pid, signal) }
	default:
		return fmt.Errorf("nothing of that name executes")
	}
	if strings.EqualFold(e.Signal, "restart") {
		if one == nil {
			return fmt.Errorf("a command cannot be restarted: it is what the trial measures")
		}
		_, err := one.Restart(ctx)
		return err
	}
	if err := hit(e.Signal); err != nil {
		return err
	}
	if e.For > 0 {
		pause(context.WithoutCancel(ctx), e.For) // what was stopped must go on, whatever becomes of the trial
		return hit("CONT")
	}
	return nil
}

// recovery measures the time from the last fault until the target serves correctly again: its
// readiness check holds. A trial that is over before has none.
func (t *trial) recovery(ctx context.Context, one *service) {
	took, err := one.Recovered(ctx)
	if err != nil {
		if ctx.Err() == nil {
			t.later("recovery of " + one.name + ": " + err.Error())
		}
		return
	}
	t.later(fmt.Sprintf("recovery of %s: %s", one.name, took.Round(time.Millisecond)))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.recovered == nil {
		t.recovered = map[string]time.Duration{}
	}
	t.recovered[one.name] = max(t.recovered[one.name], took)
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
