package engine

import (
	"context"
	"slices"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/machine"
)

// calibrationMeasure is the gate's measure and the name of the ceiling that it is compared with.
const calibrationMeasure = "calibration"

// calibrate has something to compare a calibration gate with: what the same work took when the folder
// was first executed, kept among its ceilings. It is the least of several, since whatever disturbs
// the work makes it longer.
func (r *Run) calibrate(ctx context.Context) error {
	if !slices.ContainsFunc(r.Experiment.Gates, func(g assay.Gate) bool { return g.Condition.Measure.Name == calibrationMeasure }) {
		return nil
	}
	host := r.Folder.Contents().Host
	for _, c := range host.Ceilings {
		if c.Name == calibrationMeasure {
			r.calibration = time.Duration(c.Low)
			return nil
		}
	}
	const times = 5
	var took []time.Duration
	for range times {
		d, err := machine.Calibrate(ctx)
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	slices.Sort(took)
	r.calibration = took[0]
	host.Ceilings = append(slices.Clone(host.Ceilings), assay.Measured{Name: calibrationMeasure, Unit: "ns", Value: float64(took[times/2]),
		Low: float64(took[0]), High: float64(took[times-1]), Method: "the gate's work before the first trial, five times"})
	return r.Folder.SetHost(host)
}
