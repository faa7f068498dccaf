package grade

import (
	"fmt"
	"math"

	"github.com/assaybench/assay/stat"
)

// Solve is the x at which a fitted line takes the value y. It is refused outside the support, the x
// between low and high that were measured: a line says nothing of where nobody looked, and a
// negative number of windows or workers is no answer.
func Solve(l stat.Line, y, low, high float64) (x float64, err error) {
	if l.Slope == 0 {
		return math.NaN(), fmt.Errorf("solve for %g: the line is level at %g", y, l.Intercept)
	}
	x = (y - l.Intercept) / l.Slope
	if !(x >= low && x <= high) {
		return math.NaN(), fmt.Errorf("solve for %g: no x from %g to %g gives it; the line goes from %g to %g there", y, low, high, l.At(low), l.At(high))
	}
	return x, nil
}

// Little compares an arrival rate per second times a mean time in the system, in seconds, with the
// mean number in it: what Little's law (Operations Research 9, 1961) makes equal for every stable
// system, whatever its arrivals, services and order. off is by how much they differ, as a share of the
// number; above a tenth, one of the three was not measured where it was thought to be.
func Little(rate, meanTime, inFlight float64) (off float64, agree bool) {
	off = rate*meanTime/inFlight - 1
	return off, math.Abs(off) <= 0.1
}

// A Serialisation is what "slow and idle" points at: a place that lets only so many operations through
// at once.
type Serialisation struct {
	Width float64 // operations in service at once, as inferred
	Text  string
}

// Serialised infers the width of a hidden serial place from the throughput per second at which a curve
// flattens and the time in seconds that one operation takes when it is alone, while no resource is
// busy: busiest is the highest share, 0 to 1, that any resource was used at. ok is false where a
// resource was busy, which is then what binds.
func Serialised(throughput, aloneTime, busiest float64) (s Serialisation, ok bool) {
	const busy = 0.7
	if !(throughput > 0) || !(aloneTime > 0) || busiest >= busy {
		return Serialisation{}, false
	}
	s.Width = throughput * aloneTime
	s.Text = fmt.Sprintf("slow and idle: at %.4g/s and %.4g s an operation %.3g are in service at once, while no resource is above %.0f%%; something of that width serialises: move the width of each pool and lock in turn",
		throughput, aloneTime, s.Width, 100*busiest)
	return s, true
}
