package machine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// calibrationSteps is how many steps a calibration takes: some 10 ms, long enough that neither the
// clock nor one interrupt shows, short enough to be done before every trial.
const calibrationSteps = 5_000_000

// calibrationEnd is where the steps lead.
const calibrationEnd uint64 = 0x251797b4326d7d41

// chain is work of which every step needs the one before: a linear congruential generator (Knuth,
// TAOCP 2, 3.3.4, MMIX). Its time is that of so many multiplications in a row, whatever the memory
// and the other units do, so that it follows the clock rate and what is stolen from it.
func chain(steps int) uint64 {
	x := uint64(1)
	for range steps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// Calibrate performs a fixed amount of data-dependent work on one core and says how long it took:
// the median of three. It is compared with what the same work took when the experiment was registered.
func Calibrate(ctx context.Context) (time.Duration, error) {
	var times []time.Duration
	for range 3 {
		if ctx.Err() != nil {
			return 0, fmt.Errorf("calibrate: %w", context.Cause(ctx))
		}
		start := time.Now()
		end := chain(calibrationSteps)
		times = append(times, time.Since(start))
		// The end is looked at, so that no compiler can leave the work out.
		if end != calibrationEnd {
			return 0, fmt.Errorf("calibrate: the work led to %#x, want %#x: the processor computes wrongly", end, calibrationEnd)
		}
	}
	slices.Sort(times)
	return times[1], nil
}

func (c Ceilings) calibration(context.Context) (bench, error) {
	return bench{ceilings: []ceiling{{"calibration", "ns", fmt.Sprintf("%d dependent multiplications on one core", calibrationSteps),
		func(ctx context.Context) (float64, error) {
			d, err := Calibrate(ctx)
			return float64(d), err
		}}}}, nil
}

// cores measures how much more several cores do than one: the calibration on 2, 4, … cores at once,
// each thread on a core of its own, as work done per time relative to one core. Cores that share a
// clock budget, a pipeline (SMT) or a host give less than their number.
func (c Ceilings) cores(context.Context) (b bench, err error) {
	cpus, err := allowedCPUs()
	if err != nil {
		return b, err
	}
	for n := 2; len(cpus) > 1; n *= 2 {
		n = min(n, len(cpus))
		b.ceilings = append(b.ceilings, ceiling{fmt.Sprintf("scaling(%d)", n), "",
			fmt.Sprintf("dependent multiplications on %d pinned cores at once over those on one", n),
			func(ctx context.Context) (float64, error) {
				one := together(cpus[:1])
				all := together(cpus[:n])
				return float64(n) * float64(one) / float64(all), context.Cause(ctx)
			}})
		if n == len(cpus) {
			break
		}
	}
	return b, nil
}

// together is how long the calibration takes when all cores perform it at once.
func together(cpus []int) time.Duration {
	start := make(chan struct{})
	ready := make(chan struct{})
	done := make(chan uint64)
	for _, cpu := range cpus {
		go func() {
			// The goroutine ends without unlocking, and its pinned thread with it.
			runtime.LockOSThread()
			// Note: where pinning is forbidden the scheduler spreads the threads, only less surely.
			_ = setAffinity(0, []int{cpu})
			ready <- struct{}{}
			<-start
			done <- chain(calibrationSteps)
		}()
	}
	for range cpus {
		<-ready
	}
	begin := time.Now()
	close(start)
	for range cpus {
		<-done
	}
	return time.Since(begin)
}

// allowedCPUs are the numbers of the cores that this process may use.
func allowedCPUs() ([]int, error) {
	cpus, err := affinity(0)
	if err != nil {
		return nil, fmt.Errorf("ask for cores: %w", err)
	}
	return cpus, nil
}
