package stat

import "math"

// FisherExact is the two-sided p value of Fisher's exact test for two shares, a of a+b against c of
// c+d: the chance, given all four sums, of a table no more likely than this one (Fisher, "Statistical
// Methods for Research Workers", section 21.02). It is 1 when a row or column is empty and NaN for a
// negative count.
func FisherExact(a, b, c, d int) (p float64) {
	if min(a, b, c, d) < 0 {
		return math.NaN()
	}
	row, column, n := a+b, a+c, a+b+c+d
	if n == 0 || row == 0 || column == 0 || row == n || column == n {
		return 1
	}
	// As likely to rounding: tables that mirror each other are equal, and computed to a dozen digits.
	bound := hypergeometricTerm(a, row, column, n) * (1 + 1e-7)
	for k := max(0, row+column-n); k <= min(row, column); k++ {
		if term := hypergeometricTerm(k, row, column, n); term <= bound {
			p += term
		}
	}
	return math.Min(p, 1)
}

// hypergeometricTerm is the chance that k of the row's members fall into the column, as a ratio of
// binomial terms, each accurate at any n.
func hypergeometricTerm(k, row, column, n int) float64 {
	share := float64(column) / float64(n)
	return binomialTerm(k, row, share) * binomialTerm(column-k, n-row, share) / binomialTerm(column, n, share)
}

// DecideShare decides whether at most the share 1 - q of all operations is bad, from n independent
// ones of which bad were (a p99 objective: q = 0.99, bad = those over the bound, in error or timed
// out). Confirmed: so few bad ones would be seen with a chance of at most 1 - confidence if the share
// were 1 - q or more. Refuted: so many would be, if it were 1 - q or less. Each direction errs with
// at most 1 - confidence; who looks several times divides it beforehand.
//
// The rule is the early stopping of MLPerf's LoadGen, with a second side: the smallest n for a given
// number of bad ones is [MinOperations].
func DecideShare(n, bad int, q, confidence float64) Decision {
	if n < 1 || bad < 0 || bad > n || !(q > 0 && q < 1) || !validConfidence(confidence) {
		return Undecided
	}
	alpha := 1 - confidence
	meets, misses := shareTails(n, bad, q)
	switch {
	case meets <= alpha && misses <= alpha: // confidence below a half lets both pass
		return Undecided
	case meets <= alpha:
		return Confirmed
	case misses <= alpha:
		return Refuted
	}
	return Undecided
}

// shareTails is the chances, at a share of exactly 1 - q, of at most and of at least so many bad ones.
// Good ones are counted, so that a q such as 0.999 is used as written.
func shareTails(n, bad int, q float64) (atMost, atLeast float64) {
	return binomialSurvival(n-bad, n, q), BinomialCDF(n-bad, n, q)
}

// MinOperations is the smallest number of operations, bad of them bad, at which [DecideShare]
// confirms. At p99 and 95%: 299 for 0, 473 for 1, 1,049 for 5; at 99%: 459, 662, 1,307. It is
// math.MaxInt where no number does.
func MinOperations(bad int, q, confidence float64) int {
	if bad < 0 || !(q > 0 && q < 1) || !(confidence > 0 && confidence < 1) {
		return math.MaxInt
	}
	confirms := func(n int) bool {
		meets, _ := shareTails(n, bad, q)
		return meets <= 1-confidence
	}
	low, high := bad, bad+1 // low does not confirm: all of its operations are bad
	for !confirms(high) {
		if low, high = high, 2*high; high > maxCount {
			return math.MaxInt
		}
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; confirms(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
