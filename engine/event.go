package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/assaybench/assay"
)

// events carries out the faults on purpose, each at its time after the beginning.
func (t *trial) events(ctx context.Context, began time.Time) {
	for _, e := range t.setting.Workload.Events {
		if pause(ctx, e.At-time.Since(began)); ctx.Err() != nil {
			return
		}
		if err := t.event(ctx, e); err != nil {
			t.later("event " + e.Signal + " to " + e.To + ": " + err.Error())
		}
	}
}

func (t *trial) event(ctx context.Context, e assay.Event) error {
	one := t.run.services.find(e.To)
	if one == nil {
		return fmt.Errorf("no target of that name stands")
	}
	if strings.EqualFold(e.Signal, "restart") {
		took, err := one.Restart(ctx)
		if err == nil {
			t.later(fmt.Sprintf("recovery of %s: %s", e.To, took))
			t.recovered.Store(int64(took))
		}
		return err
	}
	if err := one.Signal(e.Signal); err != nil {
		return err
	}
	if e.For > 0 {
		pause(context.WithoutCancel(ctx), e.For) // what was stopped must go on, whatever becomes of the trial
		return one.Signal("CONT")
	}
	return nil
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
