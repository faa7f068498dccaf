package stat

import "math"

// BinomialCDF is P(X <= k) for X binomial with n trials of probability p. It adds the terms of the
// smaller tail outwards from the largest, so that it is accurate relative to that tail: to about
// 1e-13 at n = 1,000 and 1e-11 at n = 1e6, however small the tail is. It is NaN for n < 0 or p
// outside [0, 1].
func BinomialCDF(k, n int, p float64) float64 {
	switch {
	case n < 0 || !(p >= 0 && p <= 1):
		return math.NaN()
	case k < 0:
		return 0
	case k >= n:
		return 1
	case float64(k) < float64(n)*p:
		return binomialLowerTail(k, n, p)
	}
	return 1 - binomialUpperTail(k+1, n, p)
}

// binomialSurvival is P(X >= k), accurate where it is small; see [BinomialCDF].
func binomialSurvival(k, n int, p float64) float64 {
	switch {
	case n < 0 || !(p >= 0 && p <= 1):
		return math.NaN()
	case k <= 0:
		return 1
	case k > n:
		return 0
	case float64(k) > float64(n)*p:
		return binomialUpperTail(k, n, p)
	}
	return 1 - binomialLowerTail(k-1, n, p)
}

// binomialLowerTail adds P(X = i) for i = k, k-1, … 0; k is at or below the mean, so terms shrink.
func binomialLowerTail(k, n int, p float64) float64 {
	term := binomialTerm(k, n, p)
	sum := term
	for i := k; i > 0 && term > sum*tailEnd; i-- {
		term = term * float64(i) / float64(n-i+1) * (1 - p) / p
		sum += term
	}
	return math.Min(sum, 1)
}

// binomialUpperTail adds P(X = i) for i = k, k+1, … n; k is above the mean, so terms shrink.
func binomialUpperTail(k, n int, p float64) float64 {
	term := binomialTerm(k, n, p)
	sum := term
	for i := k; i < n && term > sum*tailEnd; i++ {
		term = term * float64(n-i) / float64(i+1) * p / (1 - p)
		sum += term
	}
	return math.Min(sum, 1)
}

// tailEnd is the share of the sum below which a further term is not worth adding: a million such
// terms would not move the last bit.
const tailEnd = 1e-23

// binomialTerm is P(X = k), by the saddle-point expansion of Loader, "Fast and accurate computation
// of binomial probabilities" (2000), section 3: differences of log-gamma would lose all digits at
// large n.
func binomialTerm(k, n int, p float64) float64 {
	switch {
	case p == 0.5 && n <= exactRow:
		return math.Ldexp(binomialCoefficient(k, n), -n)
	case p == 0 || p == 1:
		if k == int(p)*n {
			return 1
		}
		return 0
	case k == 0:
		return math.Exp(float64(n) * math.Log1p(-p))
	case k == n:
		return math.Exp(float64(n) * math.Log(p))
	}
	x, m := float64(k), float64(n)
	log := stirlingError(m) - stirlingError(x) - stirlingError(m-x) - deviance(x, m*p) - deviance(m-x, m*(1-p))
	return math.Exp(log) * math.Sqrt(m/(2*math.Pi*x*(m-x)))
}

// exactRow is a row of Pascal's triangle up to which entries, and entries times their place, are whole
// numbers that a float64 holds: the tails of so many fair coins are exact, multiplied before divided.
const exactRow = 50

// binomialCoefficient is n choose k, exact up to exactRow.
func binomialCoefficient(k, n int) float64 {
	k = min(k, n-k)
	c := 1.0
	for i := 1; i <= k; i++ {
		c = c * float64(n-k+i) / float64(i)
	}
	return c
}

// stirlingError is log(n!) less Stirling's formula for it (Loader, section 3, equation 4).
func stirlingError(n float64) float64 {
	if n < 16 {
		gamma, _ := math.Lgamma(n + 1)
		return gamma - (n+0.5)*math.Log(n) + n - 0.5*math.Log(2*math.Pi)
	}
	n2 := n * n
	return (1.0/12 - (1.0/360-(1.0/1260-(1.0/1680-1.0/1188/n2)/n2)/n2)/n2) / n
}

// deviance is x log(x/m) + m - x without the cancellation near x = m (Loader, section 3, equation 5).
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	sum := (x - m) * v
	term := 2 * x * v
	for j := 1; ; j++ {
		term *= v * v
		next := sum + term/float64(2*j+1)
		if next == sum {
			return sum
		}
		sum = next
	}
}
