package machine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assaybench/assay"
)

// Ceilings measures what this machine can do at most, so that figures can stand beside it. It uses
// the machine hard for about half a minute: nothing else should be measured meanwhile.
type Ceilings struct {
	// Dir is the folder whose disk is measured; empty leaves the disk out. A file of Size bytes is
	// written there and removed.
	Dir  string
	Size int64 // 0 is 256 MiB
	// Memory is the bytes of the arrays by which memory is measured; 0 is four times the last-level
	// cache, and at least 192 MiB.
	Memory int64
	// Runs is how often each is measured, 0 is 9; For is how long each of those takes, 0 is 100 ms.
	Runs int
	For  time.Duration
}

// errUnavailable says that a ceiling cannot be measured here.
var errUnavailable = errors.New("not measurable here")

// A ceiling is one measurement: its name and unit as a measure, how it is done in words, and the
// figure of one run.
type ceiling struct {
	name, unit, method string
	once               func(ctx context.Context) (float64, error)
}

// A bench is ceilings that share what they are measured with, such as a connection or a file, and how
// that is given back.
type bench struct {
	ceilings []ceiling
	end      func() error // nil where there is nothing to give back
}

// Measure measures all ceilings: name, median, the interval on the median, unit and method. They take
// turns, a run of each in every round, so that what drifts on the machine meanwhile is in every
// interval and not in one. absent names those that cannot be measured here and why. It stops with ctx;
// what it wrote is removed.
func (c Ceilings) Measure(ctx context.Context) (list []assay.Measured, absent []string, err error) {
	if c.Size == 0 {
		c.Size = 256 << 20
	}
	if c.Runs == 0 {
		c.Runs = 9
	}
	if c.For == 0 {
		c.For = 100 * time.Millisecond
	}
	var all []ceiling
	for _, open := range []func(context.Context) (bench, error){
		c.clock, c.calibration, c.cores, c.memory, c.loopback, c.disk,
	} {
		b, failed := open(ctx)
		if b.end != nil {
			defer func() { err = errors.Join(err, b.end()) }()
		}
		if errors.Is(failed, errUnavailable) {
			absent = append(absent, failed.Error())
			continue
		}
		if failed != nil {
			return nil, absent, fmt.Errorf("measure ceilings: %w", failed)
		}
		all = append(all, b.ceilings...)
	}
	values, missing, err := c.rounds(ctx, all)
	if err != nil {
		return nil, absent, fmt.Errorf("measure ceilings: %w", err)
	}
	for i, one := range all {
		if missing[i] != nil {
			absent = append(absent, fmt.Sprintf("%s: %v", one.name, missing[i]))
			continue
		}
		list = append(list, c.measured(one, values[i]))
	}
	return list, absent, nil
}

// rounds measures each ceiling once a round, after a round that does not count; missing is why one
// cannot be measured here.
func (c Ceilings) rounds(ctx context.Context, all []ceiling) (values [][]float64, missing []error, err error) {
	values, missing = make([][]float64, len(all)), make([]error, len(all))
	for round := range c.Runs + 1 {
		for i, one := range all {
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			if missing[i] != nil {
				continue
			}
			v, err := one.once(ctx)
			switch {
			case errors.Is(err, errUnavailable):
				missing[i] = err
			case err != nil:
				return nil, nil, fmt.Errorf("%s: %w", one.name, err)
			case round > 0:
				values[i] = append(values[i], v)
			}
		}
	}
	return values, missing, nil
}

func (c Ceilings) measured(one ceiling, values []float64) assay.Measured {
	median, low, high, confidence := spread(values)
	where := ""
	if strings.Contains(one.name, "(disk_") {
		where, _ = filepath.Abs(c.Dir) // it has just been used
	}
	return assay.Measured{
		Name: one.name, Value: median, Low: low, High: high, Unit: one.unit, Where: where,
		Method: fmt.Sprintf("%s; median of %d rounds with the %.0f%% interval on the median", one.method, c.Runs, 100*confidence),
	}
}

// spread is the median with the exact interval on it from order statistics (Conover, Practical
// Nonparametric Statistics, 3.2): the narrowest pair of ranks that covers at least 95%, or the
// extremes where there are too few values for that.
func spread(values []float64) (median, low, high, confidence float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN(), 0
	}
	median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	// tail is the probability that the true median lies below the k-th smallest value.
	term := math.Exp2(-float64(n))
	tail, k := term, 0
	for next := tail; ; k++ {
		term *= float64(n-k) / float64(k+1)
		next += term
		if 2*next > 0.05 || k+1 >= n/2 {
			break
		}
		tail = next
	}
	return median, sorted[k], sorted[n-1-k], 1 - 2*tail
}
