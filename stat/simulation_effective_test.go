//go:build !race

package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// autoregressive is n values of an AR(1) series with standard normal margins.
func autoregressive(r *rand.Rand, n int, rho float64) []float64 {
	xs := make([]float64, n)
	x := r.NormFloat64()
	for i := range xs {
		xs[i] = x
		x = rho*x + math.Sqrt(1-rho*rho)*r.NormFloat64()
	}
	return xs
}

// TestSimulatedEffectiveCoverage holds the interval on a quantile of values that depend on one another
// to its stated rate, over batches of 100; beside it stands the interval that takes them as independent,
// which must be seen to fail.
func TestSimulatedEffectiveCoverage(t *testing.T) {
	const seeds, batch = 400, 100
	quantiles := []float64{.5, .9, .99}
	truths := []float64{0, 1.2815515655, 2.3263478740}
	for _, test := range []struct {
		rho     float64
		batches int
	}{{0, 10}, {0, 30}, {.5, 30}, {.9, 10}, {.9, 30}, {.97, 30}, {.99, 60}} {
		var held, without, wide [3]float64
		for seed := range seeds {
			xs := autoregressive(seeded(seed), test.batches*batch, test.rho)
			ys := sorted(xs)
			for i, q := range quantiles {
				effective, ok := EffectiveShare(above(xs, ys[int(math.Ceil(q*float64(len(xs))))-1], batch))
				if !ok {
					t.Fatal("not known")
				}
				wide[i] += float64(len(xs)) / effective / seeds
				held[i] += covers(ys, effective, q, truths[i]) / seeds
				without[i] += covers(ys, float64(len(xs)), q, truths[i]) / seeds
			}
		}
		for i, q := range quantiles {
			t.Logf("rho %.2f, %2d batches, p%g: the 95%% interval holds the quantile in %.1f%%, as if independent in %.1f%%; %.1f values are worth one",
				test.rho, test.batches, 100*q, 100*held[i], 100*without[i], wide[i])
			if held[i] < .95-3*math.Sqrt(.95*.05/seeds) {
				t.Errorf("rho %v, %d batches, p%g: the interval holds the quantile in %.1f%%", test.rho, test.batches, 100*q, 100*held[i])
			}
			if test.rho > 0 && q < .99 && without[i] > .9 {
				t.Errorf("rho %v, %d batches, p%g: as if independent it holds in %.1f%%, and there is nothing to mend", test.rho, test.batches, 100*q, 100*without[i])
			}
		}
	}
}

// above counts, by batch, the values above a bound, and all.
func above(xs []float64, bound float64, batch int) (hits, of []int64) {
	hits, of = make([]int64, len(xs)/batch), make([]int64, len(xs)/batch)
	for i, x := range xs {
		of[i/batch]++
		if x > bound {
			hits[i/batch]++
		}
	}
	return hits, of
}

// covers is 1 if the interval of sorted values that are worth so many holds the truth, else 0.
func covers(ys []float64, effective, q, truth float64) float64 {
	lo, hi, _ := EffectiveInterval(len(ys), effective, q, .95)
	if (lo < 1 || ys[lo-1] <= truth) && (hi > len(ys) || truth <= ys[hi-1]) {
		return 1
	}
	return 0
}

// TestSimulatedDriftLeavesFewEffectiveValues: a window in which the level wanders says little of it.
func TestSimulatedDriftLeavesFewEffectiveValues(t *testing.T) {
	r := seeded(1)
	xs := make([]float64, 3000)
	for i := range xs {
		xs[i] = float64(i)/300 + r.NormFloat64()
	}
	hits, of := above(xs, Median(xs), 100)
	if effective, ok := EffectiveShare(hits, of); !ok || effective > 30 {
		t.Errorf("a drift over 30 batches leaves %v effective values of 3000", effective)
	}
	slices.Reverse(hits)
	if effective, ok := EffectiveShare(hits, of); !ok || effective > 30 {
		t.Errorf("the drift the other way leaves %v", effective)
	}
}
