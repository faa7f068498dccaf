package measure

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
	"github.com/assaybench/assay/stat"
)

// quantileConfidence is that of the interval which a quantile's count must allow: p50 takes 6
// operations, p90 36, p95 72, p99 368, p99.9 3,688.
const quantileConfidence = 0.95

// failedTag marks, in a log of response times, the operations that did not end ok.
const failedTag = "failed"

// Operations is a statistic over the times of operations, in nanoseconds: those in h ended ok, and
// failed more never did, which counts as infinite. A quantile is told only if the operations that
// ended ok are enough for it, else the error is [ErrTooFew]. Without operations it is [ErrAbsent].
func Operations(h *hist.Histogram, failed int64, statistic string) (assay.Value, error) {
	if h == nil || h.Count()+failed == 0 {
		return assay.Value{}, ErrAbsent
	}
	if q, ok := assay.Quantile(statistic); ok {
		if err := enough(h, failed, q); err != nil {
			return assay.Value{}, err
		}
	}
	return describe(h, failed, statistic)
}

// watched is the same statistic for a kill rule, over the operations that ended within its window. It
// describes these operations and claims nothing of others, so no least count is asked for: whoever is
// harmed is harmed by few operations as well. ok is false without operations.
func watched(h *hist.Histogram, failed int64, statistic string) (v assay.Value, ok bool) {
	if h.Count()+failed == 0 {
		return assay.Value{}, false
	}
	v, err := describe(h, failed, statistic)
	return v, err == nil
}

// describe is a statistic over one operation or more; those that failed count as infinite.
func describe(h *hist.Histogram, failed int64, statistic string) (assay.Value, error) {
	if q, ok := assay.Quantile(statistic); ok {
		rank := hist.Rank(q, h.Count()+failed)
		if rank > h.Count() {
			return assay.Num(math.Inf(1)), nil
		}
		return assay.Num(float64(h.AtRank(rank))), nil
	}
	switch {
	case statistic == "min" && h.Count() > 0:
		return assay.Num(float64(h.Min())), nil
	case failed > 0 || h.Saturated() > 0 && statistic != "max":
		return assay.Num(math.Inf(1)), nil
	case statistic == "mean":
		return assay.Num(h.Mean()), nil
	case statistic == "max":
		return assay.Num(float64(h.Max())), nil
	case statistic == "sum":
		return assay.Num(h.Sum()), nil
	case statistic == "sd":
		return assay.Num(histDeviation(h)), nil
	}
	return assay.Value{}, fmt.Errorf("%q is no statistic", statistic)
}

// enough says whether the operations that ended ok are enough for a quantile; where it lies among
// those that failed, all count.
func enough(h *hist.Histogram, failed int64, q float64) error {
	need := int64(stat.MinCount(q, quantileConfidence))
	all := h.Count() + failed
	if h.Count() >= need || failed > 0 && hist.Rank(q, all) > h.Count() && all >= need {
		return nil
	}
	return fmt.Errorf("%w: %d ended ok, and the %g-quantile takes %d", ErrTooFew, h.Count(), q, need)
}

// histDeviation is the standard deviation, n-1 under it, from the middles of the buckets.
func histDeviation(h *hist.Histogram) float64 {
	n, mean, squares := float64(h.Count()), h.Mean(), 0.0
	if n < 2 {
		return 0
	}
	h.Each(func(low, high, count int64) bool {
		d := float64(low)/2 + float64(high)/2 - mean
		squares += d * d * float64(count)
		return true
	})
	return math.Sqrt(squares / (n - 1))
}

// operationFile is the interval log of a trial's operations for a measure; empty for none.
func operationFile(ref assay.MeasureRef) string {
	if ref.Object != "" {
		return ""
	}
	switch ref.Name {
	case "response_time":
		return "response.hlog"
	case "service_time":
		return "service.hlog"
	case "lag":
		return "lag.hlog"
	}
	return ""
}

// ofOperations is a statistic over the operations of one trial, from its interval log.
func ofOperations(t *assay.Trial, files fs.FS, ref assay.MeasureRef) (assay.Value, error) {
	h, err := total(files, operationFile(ref), "")
	if err != nil {
		return assay.Value{}, fmt.Errorf("measure %s: %w", ref, err)
	}
	failed := int64(0)
	if ref.Name != "lag" {
		if failed, err = failures(t, files, h); err != nil {
			return assay.Value{}, fmt.Errorf("measure %s: %w", ref, err)
		}
	}
	v, err := Operations(h, failed, ref.Stat)
	if err != nil {
		return assay.Value{}, fmt.Errorf("measure %s: %w", ref, err)
	}
	return v, nil
}

// failures is how many operations were due and did not end ok: from the trial's ledger, else those
// that the log of response times keeps apart.
func failures(t *assay.Trial, files fs.FS, ok *hist.Histogram) (int64, error) {
	planned, hasPlanned := t.Measures["planned"]
	cancelled := t.Measures["cancelled"]
	if hasPlanned {
		return max(0, int64(planned.Number)-int64(cancelled.Number)-ok.Count()), nil
	}
	h, err := total(files, "response.hlog", failedTag)
	if err != nil {
		return 0, err
	}
	return h.Count(), nil
}

func total(files fs.FS, name, tag string) (*hist.Histogram, error) {
	f, err := files.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := hist.Total(f, tag)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return h, nil
}
