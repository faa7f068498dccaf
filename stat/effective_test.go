package stat

import (
	"math"
	"testing"
)

func TestEffectiveShare(t *testing.T) {
	repeat := func(n int, xs ...int64) (out []int64) {
		for i := range n {
			out = append(out, xs[i%len(xs)])
		}
		return out
	}
	for _, test := range []struct {
		name     string
		hits, of []int64
		want     float64 // 0: not known
	}{
		{"no hit", repeat(20, 0), repeat(20, 50), 1000},
		{"hits alone", repeat(20, 50), repeat(20, 50), 1000},
		{"as even as can be", repeat(20, 5), repeat(20, 50), 1000},
		{"too few batches", repeat(9, 5), repeat(9, 50), 0},
		{"too few that hold values", repeat(20, 5, 0), append(repeat(18, 50, 0), 0, 0), 0},
		{"of another length", repeat(20, 5), repeat(19, 50), 0},
		{"more hits than values", repeat(20, 51), repeat(20, 50), 0},
		{"nothing", nil, nil, 0},
		// Batches of one kind: each is worth one value, less what 20 batches leave open.
		{"all or nothing", repeat(20, 0, 50), repeat(20, 50), 20 * 19. / 20 / uncertainty(19)},
	} {
		got, ok := EffectiveShare(test.hits, test.of)
		if ok != (test.want > 0) || ok && math.Abs(got-test.want) > 1e-9*test.want {
			t.Errorf("%s: %v, %t; want %v", test.name, got, ok, test.want)
		}
	}
}

// Student's quantiles at 97.5%, from tables.
func TestUncertainty(t *testing.T) {
	for freedom, want := range map[float64]float64{9: 2.262157, 19: 2.093024, 29: 2.045230, 119: 1.980100} {
		if got := math.Sqrt(uncertainty(freedom)) * 1.959964; math.Abs(got-want) > 5e-4 {
			t.Errorf("%v degrees of freedom: %v, want %v", freedom, got, want)
		}
	}
}

func TestEffectiveIntervalOfIndependentValuesIsTheExactOne(t *testing.T) {
	for _, q := range []float64{.01, .5, .9, .99} {
		for _, n := range []int{1, 5, 6, 36, 100, 367, 368, 1000, 5000} {
			lo, hi, ok := QuantileInterval(n, q, .95)
			if a, b, c := EffectiveInterval(n, float64(n), q, .95); a != lo || b != hi || c != ok {
				t.Errorf("q %v, n %d: %d to %d %t, want %d to %d %t", q, n, a, b, c, lo, hi, ok)
			}
			for _, effective := range []float64{1, 2, 7.5, 50, 400, 4999} {
				a, b, c := EffectiveInterval(n, effective, q, .95)
				if a > lo || b < hi || c && !ok || c && (a < 1 || b > n) {
					t.Errorf("q %v, n %d worth %v: %d to %d %t is narrower than %d to %d %t", q, n, effective, a, b, c, lo, hi, ok)
				}
			}
		}
	}
	for _, effective := range []float64{0, -1, math.NaN()} {
		if _, _, ok := EffectiveInterval(100, effective, .5, .95); ok {
			t.Errorf("%v effective values give an interval", effective)
		}
	}
}
