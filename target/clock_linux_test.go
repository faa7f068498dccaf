package target

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// On a machine whose processors are all taken, a process is often descheduled between two readings.
// That once looked like a clock that was set, and voided trials.
func TestBusyProcessorsAreNoClockStep(t *testing.T) {
	var stop atomic.Bool
	var spinning sync.WaitGroup
	for range 4 * runtime.NumCPU() {
		spinning.Go(func() {
			runtime.LockOSThread()
			for !stop.Load() {
			}
		})
	}
	least, most := realtimeAhead(), realtimeAhead()
	for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); {
		ahead := realtimeAhead()
		least, most = min(least, ahead), max(most, ahead)
	}
	stop.Store(true)
	spinning.Wait()
	if spread := most - least; spread > 200*time.Microsecond {
		t.Errorf("CLOCK_REALTIME went %v against CLOCK_MONOTONIC, want next to nothing", spread)
	}
}
