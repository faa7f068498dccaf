package stat

import "math"

// An Equivalence is what values say of the claim that their median lies between two margins.
type Equivalence struct {
	// P is the p value of the claim: the larger of those of the two one-sided sign tests.
	P float64
	// Low and High are the interval that decides: where it lies wholly between the margins, the claim
	// is shown. OK is false, and it is everything, with too few values.
	Low, High float64
	OK        bool
	Decision  Decision
}

// EquivalenceTest decides whether the median of xs lies strictly between low and high, by two
// one-sided exact sign tests at 1 - confidence each. Both must reject, so none needs a correction,
// and the interval that shows equivalence is that of level 1 - 2(1 - confidence) (Schuirmann, "A
// comparison of the two one-sided tests procedure and the power approach", J. Pharmacokin.
// Biopharm. 15, 1987). The contrary is shown where the [SignInterval] at the full confidence lies
// wholly outside. A value on a margin counts against the claim.
func EquivalenceTest(xs []float64, low, high, confidence float64) Equivalence {
	e := Equivalence{P: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
	if hasNaN(xs) || len(xs) == 0 || !(low < high) {
		return e
	}
	above, below := 0, 0 // above the low margin, below the high one
	for _, x := range xs {
		if x > low {
			above++
		}
		if x < high {
			below++
		}
	}
	n := len(xs)
	e.P = binomialSurvival(min(above, below), n, 0.5)
	if !validConfidence(confidence) {
		return e
	}
	e.Low, e.High, e.OK = SignInterval(xs, math.Max(0, 1-2*(1-confidence)))
	wideLow, wideHigh, ok := SignInterval(xs, confidence)
	switch {
	case e.OK && low < e.Low && e.High < high:
		e.Decision = Confirmed
	case ok && (wideLow >= high || wideHigh <= low):
		e.Decision = Refuted
	}
	return e
}
