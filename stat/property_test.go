package stat

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// values draws between least and most finite values of moderate size, ties among them.
func values(least, most int) *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-1e3, 1e3), rapid.Map(rapid.IntRange(-3, 3), func(i int) float64 { return float64(i) })), least, most)
}

func TestSignIntervalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := values(1, 60).Draw(t, "xs")
		confidence := rapid.Float64Range(0, 0.999).Draw(t, "confidence")
		low, high, ok := SignInterval(xs, confidence)
		if m := Median(xs); !(low <= m && m <= high) {
			t.Fatalf("median %v is outside %v..%v", m, low, high)
		}
		wideLow, wideHigh, _ := SignInterval(xs, 1-(1-confidence)/2)
		if wideLow > low || wideHigh < high {
			t.Fatalf("%v..%v at more confidence is inside %v..%v", wideLow, wideHigh, low, high)
		}
		// A value made as bad as can be moves no end the other way.
		worse := slices.Clone(xs)
		worse[rapid.IntRange(0, len(xs)-1).Draw(t, "i")] = math.Inf(1)
		if l, h, _ := SignInterval(worse, confidence); ok && (l < low || h < high) {
			t.Fatalf("a value raised to +Inf lowered %v..%v to %v..%v", low, high, l, h)
		}
	})
}

func TestBinomialProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1_000_000).Draw(t, "n")
		k := rapid.IntRange(0, n-1).Draw(t, "k")
		p := rapid.Float64Range(1e-6, 1-1e-6).Draw(t, "p")
		at, next := BinomialCDF(k, n, p), BinomialCDF(k+1, n, p)
		if !(at >= 0 && at <= next+1e-12 && next <= 1) {
			t.Fatalf("P(X <= %d), P(X <= %d) of (%d, %v) = %v, %v", k, k+1, n, p, at, next)
		}
		if rest := binomialSurvival(k+1, n, p); math.Abs(at+rest-1) > 1e-10 {
			t.Fatalf("tails of (%d, %v) at %d add to %v", n, p, k, at+rest)
		}
	})
}

func TestQuantileIntervalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100_000).Draw(t, "n")
		q := rapid.SampledFrom([]float64{.01, .5, .9, .99, .999}).Draw(t, "q")
		lo, hi, ok := QuantileInterval(n, q, .95)
		if lo < 0 || hi > n+1 || lo >= hi || ok != (n >= MinCount(q, .95)) {
			t.Fatalf("QuantileInterval(%d, %v) = %d, %d, %v", n, q, lo, hi, ok)
		}
		// Coverage by the definition: P(lo <= Bin <= hi-1).
		if cover := BinomialCDF(hi-1, n, q) - BinomialCDF(lo-1, n, q); cover < .95-1e-12 {
			t.Fatalf("ranks %d, %d of %d cover %v", lo, hi, n, cover)
		}
	})
}

func TestEquivalenceProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := values(1, 40).Draw(t, "xs")
		margin := rapid.Float64Range(0.01, 100).Draw(t, "margin")
		e := EquivalenceTest(xs, -margin, margin, .95)
		if (e.Decision == Confirmed) != (e.P <= 1-.95) {
			t.Fatalf("decided %v at p %v", e.Decision, e.P)
		}
		wider := EquivalenceTest(xs, -2*margin, 2*margin, .95)
		if wider.P > e.P || e.Decision == Confirmed && wider.Decision != Confirmed {
			t.Fatalf("a wider margin made p %v of %v", wider.P, e.P)
		}
	})
}

func TestTrendProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var blocks, mirrored [][]float64
		for range rapid.IntRange(1, 12).Draw(t, "blocks") {
			block := values(2, 6).Draw(t, "block")
			blocks = append(blocks, block)
			flipped := slices.Clone(block)
			slices.Reverse(flipped)
			mirrored = append(mirrored, flipped)
		}
		up, down := TrendTest(blocks), TrendTest(mirrored)
		if math.Abs(up.PUp-down.PDown) > 1e-9 || math.Abs(up.Tau+down.Tau) > 1e-12 {
			t.Fatalf("mirrored blocks: %+v and %+v", up, down)
		}
		if up.PUp+up.PDown < 1-1e-9 {
			t.Fatalf("tails do not overlap at the observed value: %+v", up)
		}
	})
}

func TestLineProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slope := rapid.Float64Range(-50, 50).Draw(t, "slope")
		intercept := rapid.Float64Range(-50, 50).Draw(t, "intercept")
		xs := []float64{1, 2, 4, 8, 16, 32}
		blocks := make([][]float64, 12)
		for b := range blocks {
			for _, x := range xs {
				blocks[b] = append(blocks[b], intercept+slope*x)
			}
			// One wild point of six is no reason to bend the line.
			blocks[b][b%6] += rapid.Float64Range(-1e6, 1e6).Draw(t, "wild")
		}
		fit, ok := FitLines(xs, blocks, .95)
		if !ok || math.Abs(fit.Slope-slope) > 1e-6 || math.Abs(fit.Intercept-intercept) > 1e-5 {
			t.Fatalf("line %v + %v x came out as %+v, %v", intercept, slope, fit, ok)
		}
	})
}

func TestIsotonicProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ys := values(1, 40).Draw(t, "ys")
		fit := Isotonic(ys, nil)
		if len(fit) != len(ys) || !slices.IsSorted(fit) {
			t.Fatalf("Isotonic(%v) = %v", ys, fit)
		}
		if math.Abs(mean(fit)-mean(ys)) > 1e-9*1e3 {
			t.Fatalf("the fit of %v moves the mean to %v", ys, mean(fit))
		}
		if again := Isotonic(fit, nil); !slices.Equal(again, fit) {
			t.Fatalf("the fit %v is not its own fit: %v", fit, again)
		}
		ordered := sorted(ys)
		if !slices.Equal(Isotonic(ordered, nil), ordered) {
			t.Fatalf("an ordered series is changed: %v", ordered)
		}
	})
}

func TestDipProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := values(1, 60).Draw(t, "xs")
		least := 1 / (2 * float64(len(xs)))
		dip := Dip(xs)
		if !(dip >= least-1e-12 && dip <= math.Max(.25, least)+1e-12) {
			t.Fatalf("Dip(%v) = %v", xs, dip)
		}
		mirrored := make([]float64, len(xs))
		for i, x := range xs {
			mirrored[i] = 4 - 2*x
		}
		if other := Dip(mirrored); math.Abs(other-dip) > 1e-9 {
			t.Fatalf("the dip depends on scale or side: %v and %v of %v", dip, other, xs)
		}
	})
}

// TestChangePointsAreBest compares the pruned search with all divisions of short series.
func TestChangePointsAreBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := values(4, 14).Draw(t, "xs")
		penalty := rapid.Float64Range(.1, 20).Draw(t, "penalty")
		cost := newSegmentCost(xs)
		best := math.Inf(1)
		var walk func(start int, total float64)
		walk = func(start int, total float64) {
			if end := total + cost.of(start, len(xs)); len(xs)-start >= minSegment && end < best {
				best = end
			}
			for next := start + minSegment; next <= len(xs)-minSegment; next++ {
				walk(next, total+cost.of(start, next)+penalty)
			}
		}
		walk(0, 0)
		start, total := 0, 0.0
		for _, change := range ChangePoints(xs, penalty) {
			total += cost.of(start, change) + penalty
			start = change
		}
		if total += cost.of(start, len(xs)); math.Abs(total-best) > 1e-6 {
			t.Fatalf("ChangePoints(%v, %v) costs %v, the best %v", xs, penalty, total, best)
		}
	})
}

func TestMannWhitneyProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs, ys := values(1, 12).Draw(t, "xs"), values(1, 12).Draw(t, "ys")
		u, p := MannWhitney(xs, ys)
		v, q := MannWhitney(ys, xs)
		if u+v != float64(len(xs)*len(ys)) || math.Abs(p-q) > 1e-9 || !(p > 0 && p <= 1) {
			t.Fatalf("sides differ: U %v, %v; p %v, %v", u, v, p, q)
		}
	})
}

func TestKneeBracketProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.IntRange(2, 7).Draw(t, "levels")
		blocks := make([][]float64, rapid.IntRange(1, 14).Draw(t, "blocks"))
		for b := range blocks {
			blocks[b] = values(levels, levels).Draw(t, "block")
		}
		k := KneeBracket(blocks, .05, .95)
		if k.High >= 0 && k.Low >= k.High || k.High < 0 && k.Low >= 0 {
			t.Fatalf("bracket (%d, %d]", k.Low, k.High)
		}
		for l := range levels {
			if k.Within[l] && k.Beaten[l] {
				t.Fatalf("level %d is both within and beaten", l)
			}
		}
		if len(blocks) < 6 && k.High >= 0 {
			t.Fatalf("%d blocks show a knee", len(blocks))
		}
		// What is common to a block says nothing of its levels.
		for _, block := range blocks {
			shift := float64(rapid.IntRange(-64, 64).Draw(t, "shift"))
			for l := range block {
				block[l] += shift
			}
		}
		if again := KneeBracket(blocks, .05, .95); again.Low != k.Low && !nearMargin(blocks, .05) {
			t.Fatalf("a shift of blocks moved (%d, %d] to (%d, %d]", k.Low, k.High, again.Low, again.High)
		}
	})
}

// nearMargin reports whether some pair of levels is so close to the margin that rounding may decide.
func nearMargin(blocks [][]float64, margin float64) bool {
	for _, block := range blocks {
		for _, a := range block {
			for _, b := range block {
				if math.Abs(a-b-margin) < 1e-9 {
					return true
				}
			}
		}
	}
	return false
}
