package stat

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {

	for _, c := range []struct {
		xs   []float64
		want float64
	}{
		{nil, math.NaN()},
		{[]float64{3}, 3},
		{[]float64{3, 1}, 2},
		{[]float64{9, 1, 5}, 5},
		{[]float64{inf, 1, 5}, 5},
		{[]float64{inf, inf, 5, 1}, inf},
		{[]float64{inf, inf}, inf},
		{[]float64{-inf, inf}, math.NaN()},
		{[]float64{1, math.NaN(), 3}, math.NaN()},
		{[]float64{math.MaxFloat64, math.MaxFloat64 / 2}, math.MaxFloat64 * 0.75},
	} {
		if got := Median(c.xs); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("Median(%v) = %v, want %v", c.xs, got, c.want)
		}
	}
	xs := []float64{3, 1, 2}
	if Median(xs); xs[0] != 3 || xs[1] != 1 {
		t.Errorf("Median reordered its argument: %v", xs)
	}
}

func TestSignRankSmall(t *testing.T) {
	for _, c := range []struct {
		n          int
		confidence float64
		want       int
	}{
		{0, .95, 0}, {5, .95, 0}, {6, .95, 1}, {8, .95, 1}, {9, .95, 2}, {12, .95, 3},
		{7, 1 - .05/4, 0}, {8, 1 - .05/4, 1}, {8, 1 - .05/12, 0}, {9, 1 - .05/12, 1},
		{5, .9375, 1}, // 2^-4 exactly: the bound itself is allowed
		{4, .9375, 0}, {1, 0, 1}, {12, 1, 0}, {12, -1, 0}, {12, math.NaN(), 0},
	} {
		if got := SignRank(c.n, c.confidence); got != c.want {
			t.Errorf("SignRank(%d, %v) = %d, want %d", c.n, c.confidence, got, c.want)
		}
	}
}

// TestSignRankIsLargest holds the definition at every n up to 400 and several confidences.
func TestSignRankIsLargest(t *testing.T) {
	for n := 1; n <= 400; n++ {
		for _, c := range []float64{.5, .8, .95, .99, 1 - .05/12} {
			r := SignRank(n, c)
			if r > 0 && 2*BinomialCDF(r-1, n, .5) > 1-c {
				t.Errorf("SignRank(%d, %v) = %d covers too little", n, c, r)
			}
			if 2*BinomialCDF(r, n, .5) <= 1-c {
				t.Errorf("SignRank(%d, %v) = %d could be larger", n, c, r)
			}
			if (r > 0) != (n >= MinBlocks(c)) {
				t.Errorf("SignRank(%d, %v) = %d, but MinBlocks is %d", n, c, r, MinBlocks(c))
			}
		}
	}
}

func TestSignInterval(t *testing.T) {

	check := func(xs []float64, c, low, high float64, ok bool) {
		t.Helper()
		l, h, o := SignInterval(xs, c)
		if l != low || h != high || o != ok {
			t.Errorf("SignInterval(%v, %v) = %v, %v, %v, want %v, %v, %v", xs, c, l, h, o, low, high, ok)
		}
	}
	check([]float64{6, 5, 4, 3, 2, 1}, .95, 1, 6, true)
	check([]float64{9, 8, 7, 6, 5, 4, 3, 2, 1}, .95, 2, 8, true)
	check([]float64{5, 4, 3, 2, 1}, .95, -inf, inf, false)
	check([]float64{inf, 5, 4, 3, 2, -inf}, .95, -inf, inf, true)
	check([]float64{inf, 8, 7, 6, 5, 4, 3, 2, -inf}, .95, 2, 8, true)
	check([]float64{1, 2, 3, 4, 5, math.NaN()}, .95, -inf, inf, false)
	check(nil, .95, -inf, inf, false)
}

func TestSignTest(t *testing.T) {
	for _, c := range []struct {
		below, above int
		want         float64
	}{
		{0, 0, 1}, {0, 6, 2.0 / 64}, {6, 0, 2.0 / 64}, {1, 8, 20.0 / 512}, {5, 5, 1}, {3, 9, 598.0 / 4096},
	} {
		if got := SignTest(c.below, c.above); got != c.want {
			t.Errorf("SignTest(%d, %d) = %v, want %v", c.below, c.above, got, c.want)
		}
	}
	if !math.IsNaN(SignTest(-1, 3)) {
		t.Error("SignTest of a negative count is a number")
	}
}

func TestMinCount(t *testing.T) {
	for q, want := range map[float64]int{.5: 6, .9: 36, .95: 72, .99: 368, .999: 3688, .9999: 36887, .1: 36, .01: 368} {
		if got := MinCount(q, .95); got != want {
			t.Errorf("MinCount(%v, .95) = %d, want %d", q, got, want)
		}
	}
	if got := MinCount(1, .95); got != math.MaxInt {
		t.Errorf("MinCount(1, .95) = %d", got)
	}
}

func TestSmallestEffect(t *testing.T) {
	// By hand: 6 blocks must all agree, so p^6 = 0.8, p = 0.96349, and Φ^-1(p) = 1.79297.
	if got, want := SmallestEffect(6, .95, .02), math.Exp(.02*1.79297); math.Abs(got-want) > 1e-5 {
		t.Errorf("SmallestEffect(6, .95, .02) = %v, want %v", got, want)
	}
	if got := SmallestEffect(5, .95, .02); !math.IsInf(got, 1) {
		t.Errorf("SmallestEffect(5, .95, .02) = %v, want +Inf", got)
	}
	for n := 7; n < 60; n++ {
		if cv := .03; !(SmallestEffect(n, .95, cv) > 1 && SmallestEffect(n, .95, cv) < SmallestEffect(n, .95, 2*cv)) {
			t.Errorf("SmallestEffect at %d blocks does not grow with the noise", n)
		}
	}
}
