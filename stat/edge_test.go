package stat

import (
	"math"
	"slices"
	"testing"
)

var inf, nan = math.Inf(1), math.NaN()

// TestNothingIsClaimed gives every function what it cannot judge: the answer must claim nothing.
func TestNothingIsClaimed(t *testing.T) {
	isNaN := func(what string, x float64) {
		t.Helper()
		if !math.IsNaN(x) {
			t.Errorf("%s = %v, want NaN", what, x)
		}
	}
	no := func(what string, ok bool) {
		t.Helper()
		if ok {
			t.Errorf("%s claims something", what)
		}
	}
	isNaN("BinomialCDF of p 2", BinomialCDF(1, 2, 2))
	isNaN("BinomialCDF of n -1", BinomialCDF(1, -1, .5))
	for _, xs := range [][]float64{nil, {1, nan, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, nan}} {
		e := EquivalenceTest(xs, -1, 1, .95)
		isNaN("EquivalenceTest", e.P)
		no("EquivalenceTest", e.OK || e.Decision != Undecided)
		_, p := DipTest(xs, 10, 1)
		isNaN("DipTest", p)
		_, p = SplitTest(xs, 10, 1)
		isNaN("SplitTest", p)
		isNaN("ExponentialTest", ExponentialTest(xs, 1).P)
		isNaN("Autocorrelation", Autocorrelation(xs))
		_, p = MannWhitney(xs, []float64{1})
		isNaN("MannWhitney", p)
		_, ok := MSER5(xs)
		no("MSER5", ok)
		no("ChangePoints", ChangePoints(xs, 0) != nil)
		_, ok = LargestGap(xs)
		no("LargestGap", ok)
	}
	no("EquivalenceTest between margins that cross", EquivalenceTest([]float64{0, 0, 0, 0, 0, 0}, 1, -1, .95).Decision != Undecided)
	isNaN("TrendTest without pairs", TrendTest([][]float64{{1}, {nan, 2}}).PUp)
	isNaN("ExponentialTest of rate 0", ExponentialTest([]float64{1}, 0).P)
	isNaN("Autocorrelation of a constant", Autocorrelation([]float64{2, 2, 2, 2}))
	isNaN("FisherExact of -1", FisherExact(-1, 2, 3, 4))
	_, ok := FitLine([]float64{3, 3, 3}, []float64{1, 2, 3})
	no("FitLine at one x", ok)
	_, ok = FitLines([]float64{1, 2}, [][]float64{{1, 2}, {1, 2}, {1, 2}}, .95)
	no("FitLines of three blocks", ok)
	_, ok = LackOfFit([]float64{1, 2}, slices.Repeat([][]float64{{1, 2}}, 20), .95, 0)
	no("LackOfFit of two levels", ok)
	_, ok = LackOfFit([]float64{1, 2, 3}, slices.Repeat([][]float64{{1, 2, 9}}, 6), .95, 0)
	no("LackOfFit of six blocks over three levels", ok)
	no("Isotonic of weight 0", Isotonic([]float64{1, 2}, []float64{1, 0}) != nil)
	_, ok = IsotonicRoot([]float64{1, 2}, []float64{1, 2}, 3)
	no("IsotonicRoot beyond the points", ok)
	no("BetweenTrials without spreads", BetweenTrials(9, nil))
	no("DecideShare of no operations", DecideShare(0, 0, .99, .95) != Undecided)
	no("DecideShare with more bad than all", DecideShare(10, 11, .99, .95) != Undecided)
	k := KneeBracket(nil, .05, .95)
	no("KneeBracket of nothing", k.High != -1 || k.Low != -1 || k.Declines())
	for _, n := range []int{MinOperations(-1, .99, .95), MinOperations(0, .99, 1), MinBlocks(1), MinCount(0, .95)} {
		no("a count that cannot be reached", n != math.MaxInt)
	}
}

func TestEarlyStoppingTable(t *testing.T) {
	for _, c := range []struct {
		bad           int
		q, confidence float64
		want          int
	}{
		{bad: 0, q: .99, confidence: .95, want: 299}, {bad: 1, q: .99, confidence: .95, want: 473},
		{bad: 5, q: .99, confidence: .95, want: 1049}, {bad: 20, q: .99, confidence: .95, want: 2902},
		{bad: 0, q: .99, confidence: .99, want: 459}, {bad: 1, q: .99, confidence: .99, want: 662},
		{bad: 5, q: .99, confidence: .99, want: 1307}, {bad: 20, q: .99, confidence: .99, want: 3304},
		{bad: 1, q: .90, confidence: .99, want: 64}, {bad: 0, q: .999, confidence: .99, want: 4603},
	} {
		if got := MinOperations(c.bad, c.q, c.confidence); got != c.want {
			t.Errorf("MinOperations(%d, %v, %v) = %d, want %d", c.bad, c.q, c.confidence, got, c.want)
		}
	}
	for bad, want := range map[int]Decision{0: Confirmed, 4: Confirmed, 5: Undecided, 10: Undecided, 15: Undecided, 16: Refuted, 999: Refuted} {
		if got := DecideShare(1000, bad, .99, .95); got != want {
			t.Errorf("%d bad of 1,000 at p99: %v, want %v", bad, got, want)
		}
	}
}

func TestEquivalenceTable(t *testing.T) {
	around := func(center float64, n int) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = center + .01*float64(i-n/2)/float64(n)
		}
		return xs
	}
	for _, c := range []struct {
		name string
		xs   []float64
		want Decision
	}{
		{"inside", around(0, 12), Confirmed},
		{"above", around(.2, 12), Refuted},
		{"below", around(-.2, 12), Refuted},
		{"across a margin", around(.05, 12), Undecided},
		{"five inside are enough, both tests being one-sided", around(0, 5), Confirmed},
		{"four inside are too few", around(0, 4), Undecided},
		{"five outside are too few, either side being possible", around(.2, 5), Undecided},
		{"all on the margin", slices.Repeat([]float64{.05}, 12), Refuted},
		{"infinitely worse", slices.Repeat([]float64{inf}, 12), Refuted},
	} {
		if e := EquivalenceTest(c.xs, -.05, .05, .95); e.Decision != c.want {
			t.Errorf("%s: %+v, want %v", c.name, e, c.want)
		}
	}
}

func TestKneeBracketTable(t *testing.T) {
	margin := -math.Log(1 - .05)
	curve := func(levels ...float64) [][]float64 { // 12 blocks of it, each a little different
		blocks := make([][]float64, 12)
		for b := range blocks {
			for l, y := range levels {
				blocks[b] = append(blocks[b], math.Log(y)+.001*float64((b*7+l*5)%11-5))
			}
		}
		return blocks
	}
	for _, c := range []struct {
		name      string
		blocks    [][]float64
		low, high int
		declines  bool
	}{
		{"a knee between levels 1 and 2", curve(100, 180, 300, 303, 301), 1, 2, false},
		{"flat: the first level will do", curve(300, 301, 299), -1, 0, false},
		{"still rising: the last is the first that will do", curve(100, 200, 400), 1, 2, false},
		{"decline past the knee", curve(100, 300, 302, 200), 0, 1, true},
		{"a failing level counts as worst", curve(0, 300, 302), 0, 1, false},
		{"the level on the margin is undecided", curve(100, 285.3, 300, 300), 0, 2, false},
		{"too few blocks", curve(100, 300, 300)[:5], -1, -1, false},
		{"enough to be within, too few to be beaten", curve(100, 300, 300)[:6], -1, 1, false},
	} {
		k := KneeBracket(c.blocks, margin, .95)
		if k.Low != c.low || k.High != c.high || k.Declines() != c.declines {
			t.Errorf("%s: (%d, %d], declines %v, want (%d, %d], %v", c.name, k.Low, k.High, k.Declines(), c.low, c.high, c.declines)
		}
	}
	for levels, want := range map[int]int{2: 7, 3: 7, 6: 8, 12: 9} {
		if got := KneeMinBlocks(levels, .95); got != want {
			t.Errorf("KneeMinBlocks(%d, .95) = %d, want %d", levels, got, want)
		}
	}
	// Both of two compared levels failing says nothing of either.
	dead := KneeBracket(slices.Repeat([][]float64{{-inf, -inf}}, 12), margin, .95)
	if dead.High != -1 || dead.Beaten[0] || dead.Beaten[1] {
		t.Errorf("two dead levels: %+v", dead)
	}
	// A pair without a value drops out, the rest still decides.
	holes := curve(100, 300, 303)
	for _, b := range []int{1, 3, 7, 10} {
		holes[b][0] = nan
	}
	if k := KneeBracket(holes, margin, .95); k.Low != 0 || k.High != 1 {
		t.Errorf("with four holes: (%d, %d]", k.Low, k.High)
	}
}

func TestTrendAndLineTables(t *testing.T) {
	up := slices.Repeat([][]float64{{1, 2, 3}}, 3)
	if got := TrendTest(up); got.Tau != 1 || math.Abs(got.PUp-1.0/216) > 1e-12 || got.PDown != 1 {
		t.Errorf("three blocks that rise: %+v", got)
	}
	if got := TrendTest([][]float64{{2, 2, 2}, {5, 5}}); got.PUp != 1 || got.PDown != 1 || got.Tau != 0 {
		t.Errorf("constant blocks: %+v", got)
	}
	line, ok := FitLine([]float64{1, 2, 3, 4}, []float64{5, 7, inf, 11})
	if !ok || line.Slope < 2 || math.IsInf(line.Intercept, 0) {
		t.Errorf("a line with an infinite point: %+v, %v", line, ok)
	}
	xs := []float64{1, 2, 4, 8}
	bent, straight := make([][]float64, 12), make([][]float64, 12)
	for b := range bent {
		for l, x := range xs {
			wobble := .1 * float64((b*5+l*3)%7-3)
			straight[b] = append(straight[b], 3+2*x+wobble)
			bent[b] = append(bent[b], 3+2*x+wobble+.3*x*x)
		}
	}
	if misfits, ok := LackOfFit(xs, straight, .95, 0); !ok || len(misfits) > 0 {
		t.Errorf("a straight line: %v, %v", misfits, ok)
	}
	misfits, ok := LackOfFit(xs, bent, .95, 0)
	above := slices.ContainsFunc(misfits, func(m Misfit) bool { return m.Low > 0 })
	below := slices.ContainsFunc(misfits, func(m Misfit) bool { return m.High < 0 })
	if !ok || !above || !below {
		t.Errorf("a bent line should miss on both sides: %v, %v", misfits, ok)
	}
	if misfits, _ := LackOfFit(xs, bent, .95, 100); len(misfits) > 0 {
		t.Errorf("a bend within the tolerance: %v", misfits)
	}
	var rounded []float64 // on a line but for the last bits, always the same ones
	levels := []float64{1, 2, 3, 4, 5, 6, 7}
	for _, x := range levels {
		rounded = append(rounded, .1+.7*x)
	}
	if line, _ := FitLine(levels, rounded); !slices.ContainsFunc(levels, func(x float64) bool { return line.At(x) != .1+.7*x }) {
		t.Fatal("this line has no rounding to be mistaken")
	}
	if misfits, _ := LackOfFit(levels, slices.Repeat([][]float64{rounded}, 12), .95, 0); len(misfits) > 0 {
		t.Errorf("rounding is taken for a bend: %v", misfits)
	}
}

func TestSeriesTables(t *testing.T) {
	for _, c := range []struct {
		n         int
		rho, want float64
	}{{100, 0, 100}, {100, .5, 100.0 / 3}, {100, -.5, 100}, {100, nan, 100}, {100, 1, 1}, {0, .5, 0}} {
		if got := EffectiveCount(c.n, c.rho); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("EffectiveCount(%d, %v) = %v, want %v", c.n, c.rho, got, c.want)
		}
	}
	constant := slices.Repeat([]float64{7}, 100)
	if s, ok := MSER5(constant); !ok || s.Cut != 0 || s.AtLimit {
		t.Errorf("MSER5 of a constant = %+v, %v", s, ok)
	}
	if got := ChangePoints(constant, 0); got != nil {
		t.Errorf("a constant changes at %v", got)
	}
	step := append(slices.Clone(constant), slices.Repeat([]float64{8}, 100)...)
	if got := ChangePoints(step, 0); !slices.Equal(got, []int{100}) {
		t.Errorf("a clean step changes at %v", got)
	}
	if got := ExponentialTest([]float64{.1, -.1, .2}, 5); got.P != 0 || !math.IsInf(got.ASquare, 1) {
		t.Errorf("a negative gap: %+v", got)
	}
	gaps := make([]float64, 1000) // the quantiles of the distribution: as exponential as can be
	for i := range gaps {
		gaps[i] = -math.Log1p(-(float64(i)+.5)/1000) / 5
	}
	gaps[0] = 0
	if got := ExponentialTest(gaps, 5); got.P < .99 {
		t.Errorf("one gap of zero among 1,000: %+v", got)
	}
	clear(gaps[:100])
	if got := ExponentialTest(gaps, 5); got.P > .001 {
		t.Errorf("a hundred gaps of zero among 1,000: %+v", got)
	}
	root, ok := IsotonicRoot([]float64{1, 2, 4, 8}, []float64{0, 3, 3, 5}, 4)
	if !ok || root != 6 {
		t.Errorf("IsotonicRoot = %v, %v, want 6", root, ok)
	}
	if root, ok := IsotonicRoot([]float64{1, 2, 4, 8}, []float64{0, 3, 3, 5}, 3); !ok || root != 3 {
		t.Errorf("IsotonicRoot of a flat = %v, %v, want 3", root, ok)
	}
}

func TestModesTables(t *testing.T) {
	xs := []float64{9.1, 1, 1.2, 9, 1.1, 9.2, .9, 1.05, 8.9, 9.05, 1.15, 8.95}
	s, p := SplitTest(xs, 1000, 1)
	if p > .05 || !slices.Equal(s.High, []int{0, 3, 5, 8, 9, 11}) || math.Abs(s.Gap-7.7) > 1e-9 {
		t.Errorf("two clear modes: %+v, p %v", s, p)
	}
	if again, q := SplitTest(xs, 1000, 1); q != p || again.Gap != s.Gap {
		t.Errorf("the same seed gives p %v and %v", p, q)
	}
	if _, p := SplitTest([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 1000, 1); p < .5 {
		t.Errorf("an even series has two modes at p %v", p)
	}
	if !BetweenTrials(s.Gap, []float64{2.6, 2.4}) || BetweenTrials(s.Gap, []float64{2.7, 2.5}) {
		t.Error("the gap rule does not compare with the spread within trials")
	}
	if gap, ok := LargestGap([]float64{5, 1, 2}); !ok || gap.Cut != 3.5 || !slices.Equal(gap.Low, []int{1, 2}) {
		t.Errorf("LargestGap = %+v, %v", gap, ok)
	}
}
