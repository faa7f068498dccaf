package stat

import "math"

// A Conformance is how far values are from the exponential distribution they should follow.
type Conformance struct {
	ASquare float64 // Anderson and Darling's statistic; grows with the count for any fixed deviation
	P       float64 // chance of so large a statistic if they did follow it
	// Distance is the largest difference between the shares of values and the distribution's (0 to 1,
	// Kolmogorov's D): at large counts the p value rejects what no one would call different.
	Distance float64
}

// ExponentialTest compares gaps with the exponential distribution of the known rate (in the inverse of
// their unit), by the Anderson-Darling test with nothing estimated ("case 0"): right for the gaps of
// a Poisson schedule, whose rate was asked for, and for no gaps whose mean was used as the rate. All
// is NaN without gaps or a positive rate; a negative or infinite gap makes the p value 0.
//
// Source: Anderson and Darling, "A test of goodness of fit", JASA 49 (1954); p value by Marsaglia and
// Marsaglia, "Evaluating the Anderson-Darling distribution", J. Stat. Software 9(2), 2004.
func ExponentialTest(gaps []float64, rate float64) Conformance {
	n := len(gaps)
	if n == 0 || hasNaN(gaps) || !(rate > 0) || math.IsInf(rate, 1) {
		return Conformance{math.NaN(), math.NaN(), math.NaN()}
	}
	xs := sorted(gaps)
	m := float64(n)
	sum, distance := 0.0, 0.0
	for i, x := range xs {
		below := math.Max(-math.Expm1(-rate*math.Max(x, 0)), leastShare)
		distance = math.Max(distance, math.Max(float64(i+1)/m-below, below-float64(i)/m))
		// ln F(x_i) + ln(1 - F(x_(n-1-i))), the second of which is just -rate x.
		sum += float64(2*i+1) * (math.Log(below) - rate*xs[n-1-i])
	}
	a := -m - sum/m
	if xs[0] < 0 || math.IsInf(a, 1) {
		return Conformance{math.Inf(1), 0, distance}
	}
	return Conformance{a, 1 - andersonDarlingCDF(n, a), distance}
}

// leastShare stands for the share below a gap of zero, whose logarithm would let one gap shorter than
// the clock's step decide the test alone; many such gaps still do.
const leastShare = 1e-12

// andersonDarlingCDF is P(A² < a) for n values (Marsaglia and Marsaglia 2004: the limit by a fitted
// form good to 2e-6, then a correction for finite n).
func andersonDarlingCDF(n int, a float64) float64 {
	if !(a > 0) {
		return 0
	}
	limit := andersonDarlingLimit(a)
	return math.Min(1, math.Max(0, limit+andersonDarlingCorrection(n, limit)))
}

// andersonDarlingLimit is the distribution function for n without bound.
func andersonDarlingLimit(z float64) float64 {
	if z < 2 {
		return math.Exp(-1.2337141/z) / math.Sqrt(z) * polynomial(z,
			2.00012, .247105, -.0649821, .0347962, -.011672, .00168691)
	}
	return math.Exp(-math.Exp(polynomial(z, 1.0776, -2.30695, .43424, -.082433, .008056, -.0003146)))
}

// andersonDarlingCorrection is what n values add to the limit x.
func andersonDarlingCorrection(n int, x float64) float64 {
	m := float64(n)
	if x > 0.8 {
		return polynomial(x, -130.2137, 745.2337, -1705.091, 1950.646, -1116.360, 255.7844) / m
	}
	corner := .01265 + .1757/m
	if x < corner {
		t := x / corner
		t = math.Sqrt(t) * (1 - t) * (49*t - 102)
		return t * ((.0037/m+.00078)/m + .00006) / m
	}
	t := (x - corner) / (.8 - corner)
	t = polynomial(t, -.00022633, 6.54034, -14.6538, 14.458, -8.259, 1.91864)
	return t * (.04213 + .01365/m) / m
}

// polynomial is c[0] + c[1] x + c[2] x² + …
func polynomial(x float64, c ...float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = sum*x + c[i]
	}
	return sum
}
