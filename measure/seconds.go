package measure

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
	"github.com/assaybench/assay/stat"
)

// Seconds is the median of a time of operations, in ns, for each second of a load's window, from the
// trial's interval log: operations that ended ok, in the second in which they ended. What ended after
// the window is left out, and so is its beginning for as long as the slowest in a hundred took: only
// quick operations can have ended by then, and every load would seem to grow slower. So are seconds with
// too few operations for a median. It is nil where the measure is none of the times of operations or
// nothing was recorded.
func Seconds(files fs.FS, ref assay.MeasureRef, window time.Duration) ([]float64, error) {
	name := operationFile(ref)
	if files == nil || name == "" {
		return nil, nil
	}
	f, err := files.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read seconds: %w", err)
	}
	defer f.Close()
	var medians []float64
	var begins []time.Duration
	var all hist.Histogram
	var began time.Time
	few := stat.MinCount(0.5, quantileConfidence)
	for log := hist.NewReader(f); ; {
		i, err := log.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read seconds: %s: %w", name, err)
		}
		if began.IsZero() {
			began = i.Start
		}
		if i.Tag != "" {
			continue
		}
		all.Merge(i.Histogram)
		begin := i.Start.Sub(began)
		if begin+i.Length > window+time.Second/10 || i.Length < time.Second/2 || i.Histogram.Count() < int64(few) {
			continue
		}
		medians, begins = append(medians, float64(i.Histogram.Quantile(0.5))), append(begins, begin)
	}
	if len(medians) == 0 {
		return nil, nil
	}
	slow := time.Duration(all.Quantile(0.99))
	first := 0
	for first < len(begins) && begins[first] < slow {
		first++
	}
	return medians[first:], nil
}
