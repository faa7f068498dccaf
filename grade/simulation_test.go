//go:build !race

package grade

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/assaybench/assay"
)

// Simulations over many seeds: what is said of experiments whose truth is known. They are left out
// under the race detector, which has nothing to find in them.

// more asks for other numbers of seeds than the usual ones.
var more = flag.Int("seeds", 0, "seeds of each simulation; 0 for the usual number")

func seedsOr(usual int) int {
	if *more > 0 {
		return *more
	}
	return usual
}

// simulate is one experiment of claims comparisons, each of two cells with the given log ratio.
func simulate(t *testing.T, seed uint64, claims, blocks int, expectation string, ratio float64, noise func(*rand.Rand) float64) Judgement {
	sides := []string{"side"}
	for i := range claims {
		sides = append(sides, fmt.Sprint("a", i), fmt.Sprint("b", i))
	}
	b := newBench(t, blocks, sides).measure("m", "files/s", assay.More)
	b.seed = seed
	for i := range claims {
		b.claim(assay.Hypothesis{ID: fmt.Sprint("H", i), Kind: assay.Ratio, Measure: ref(t, "m"),
			Of: assay.Cell{"side": fmt.Sprint("a", i)}, To: assay.Cell{"side": fmt.Sprint("b", i)}, Expect: expect(t, expectation)})
	}
	rng := rand.New(rand.NewPCG(seed, 99))
	return b.run(0, "s", func(_ Step, tr *assay.Trial) {
		x := 100 * math.Exp(noise(rng))
		if tr.Cell["side"][0] == 'a' {
			x *= ratio
		}
		tr.Measures["m"] = assay.Num(x)
	}).judge()
}

func normal(sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return sd * r.NormFloat64() }
}

// Trials in two modes, 4 of 12 in the upper one, and trials in one skewed mode, at the chance that a
// verdict takes.
func TestRegimesAreFoundAndSkewIsNone(t *testing.T) {
	const seeds, trials = 1000, 12
	b := newBench(t, trials, []string{"n", "1"}).measure("m", "files/s", assay.More).run(0, "s", noisy("m", .02, 1, func(assay.Cell) float64 { return 100 }))
	j := newJudge(b.folder())
	f, err := j.field(ref(t, "m"))
	if err != nil {
		t.Fatal(err)
	}
	of := make([]int, trials)
	for i := range of {
		of[i] = i
	}
	share := func(draw func(r *rand.Rand, i int) float64) float64 {
		found := 0
		for seed := range uint64(seeds) {
			r, xs := rand.New(rand.NewPCG(seed, 5)), make([]float64, trials)
			for i := range xs {
				xs[i] = draw(r, i)
			}
			if _, ok := j.regimesOf(f, of, xs); ok {
				found++
			}
		}
		return float64(found) / seeds
	}
	skew := share(func(r *rand.Rand, _ int) float64 { return math.Exp(r.NormFloat64()) })
	far := share(func(r *rand.Rand, i int) float64 { return 100 + r.NormFloat64() + float64(i%3/2*10) })
	near := share(func(r *rand.Rand, i int) float64 { return 100 + r.NormFloat64() + float64(i%3/2*6) })
	t.Logf("two regimes: 10 sigma apart found in %.1f%%, 6 sigma in %.1f%%, skew called so in %.1f%%", 100*far, 100*near, 100*skew)
	if far < 0.85 || skew > 0.01 {
		t.Errorf("two regimes 10 sigma apart are found in %.1f%%, skew is called two regimes in %.1f%%", 100*far, 100*skew)
	}
}

func TestNoDifferenceIsRarelySeen(t *testing.T) {
	const seeds = 1700
	for _, claims := range []int{1, 4, 12} {
		wrong := 0
		for seed := range uint64(seeds) {
			for _, v := range simulate(t, seed, claims, 12, "!= 1", 1, normal(0.05)).Verdicts.Hypotheses {
				if v.Verdict == assay.Pass {
					wrong++
					break
				}
			}
		}
		if share := float64(wrong) / float64(seeds); share > alpha {
			t.Errorf("%d claims of a difference where there is none: one passed in %.1f%% of experiments, want at most 5%%", claims, 100*share)
		}
	}
}

func TestADifferenceIsMostlySeen(t *testing.T) {
	seeds := seedsOr(500)
	seen := 0
	for seed := range uint64(seeds) {
		if simulate(t, seed, 1, 12, "> 1.05", 1.10, normal(0.02)).Verdicts.Hypotheses[0].Verdict == assay.Pass {
			seen++
		}
	}
	if share := float64(seen) / float64(seeds); share < 0.9 {
		t.Errorf("1.10 against 1.05 at a CV of 2%% was decided in %.1f%%, want 90%%", 100*share)
	}
}

func TestDriftCancels(t *testing.T) {
	seeds := seedsOr(300)
	wrong := 0
	for seed := range uint64(seeds) {
		n := 0.0
		j := simulate(t, seed, 1, 12, "!= 1", 1, func(r *rand.Rand) float64 {
			n++
			return 0.02*n + 0.01*r.NormFloat64() // 2% a trial: A before B would show it
		})
		if j.Verdicts.Hypotheses[0].Verdict == assay.Pass {
			wrong++
		}
	}
	if share := float64(wrong) / float64(seeds); share > alpha {
		t.Errorf("a linear drift was taken for a difference in %.1f%%", 100*share)
	}
}

func TestIntervalCovers(t *testing.T) {
	const seeds = 1700
	for name, noise := range map[string]func(*rand.Rand) float64{
		"normal":       normal(0.05),
		"log-normal":   func(r *rand.Rand) float64 { return math.Exp(0.8*r.NormFloat64()) * 0.05 },
		"heavy-tailed": func(r *rand.Rand) float64 { return 0.02 * r.NormFloat64() / math.Max(1e-3, math.Abs(r.NormFloat64())) },
		"bimodal": func(r *rand.Rand) float64 {
			return 0.3*float64(r.IntN(2)) + 0.02*r.NormFloat64()
		},
	} {
		covered := 0
		for seed := range uint64(seeds) {
			v := simulate(t, seed, 1, 12, "> 1", 1.3, noise).Verdicts.Hypotheses[0]
			if v.Low != nil && v.High != nil && *v.Low <= 1.3 && 1.3 <= *v.High {
				covered++
			}
		}
		// Two standard errors of the share below what is stated.
		if share := float64(covered) / float64(seeds); share < 0.95-2*math.Sqrt(0.95*0.05/float64(seeds)) {
			t.Errorf("%s noise: the 95%% interval covers in %.1f%%", name, 100*share)
		}
	}
}

// A bound that is exactly true must neither pass nor fail more often than alpha says.
func TestOnTheBound(t *testing.T) {
	const seeds = 1700
	pass, fail := 0, 0
	for seed := range uint64(seeds) {
		switch simulate(t, seed, 1, 12, "> 1.05", 1.05, normal(0.03)).Verdicts.Hypotheses[0].Verdict {
		case assay.Pass:
			pass++
		case assay.Fail:
			fail++
		}
	}
	if float64(pass+fail)/float64(seeds) > alpha {
		t.Errorf("on the bound: %d PASS and %d FAIL of %d", pass, fail, seeds)
	}
}

// A claim that leaves a factor open fails by any of its cells: the more of them lie exactly on the bound,
// the more often one is wholly outside by chance. What does not outlast the division of alpha over the
// cells is noted, so that the FAILs without the note keep to alpha.
func TestFailsByOneOfManyCells(t *testing.T) {
	seeds := seedsOr(600)
	for _, cells := range []int{1, 2, 4, 8} {
		fails, bare := 0, 0
		for seed := range uint64(seeds) {
			levels := []string{"n"}
			for i := range cells {
				levels = append(levels, fmt.Sprint(i))
			}
			b := newBench(t, 12, levels, []string{"side", "a", "b"}).measure("m", "files/s", assay.More)
			b.seed = seed
			b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(t, "m"), Of: assay.Cell{"side": "a"}, To: assay.Cell{"side": "b"}, Expect: expect(t, "> 1")})
			rng := rand.New(rand.NewPCG(seed, 31))
			b.run(0, "s", func(_ Step, tr *assay.Trial) {
				tr.Measures["m"] = assay.Num(100 * math.Exp(0.03*rng.NormFloat64()))
			})
			if v := b.verdict(); v.Verdict == assay.Fail {
				fails++
				if !strings.Contains(strings.Join(v.Notes, "; "), "one of ") {
					bare++
				}
			}
		}
		t.Logf("%d cells on the bound: FAIL in %.1f%%, without the note in %.1f%%", cells, 100*float64(fails)/float64(seeds), 100*float64(bare)/float64(seeds))
		if float64(bare) > alpha*float64(seeds) {
			t.Errorf("%d cells on the bound: FAIL without a note in %d of %d", cells, bare, seeds)
		}
		if cells == 8 && float64(fails) < 2*alpha*float64(seeds) {
			t.Errorf("%d cells on the bound: FAIL in %d of %d; there is nothing to note", cells, fails, seeds)
		}
	}
}

func TestLooksPayForThemselves(t *testing.T) {
	seeds := seedsOr(500)
	wrong := 0
	for seed := range uint64(seeds) {
		b := twoSides(t, 24, "!= 1")
		b.seed = seed
		b.e.Looks = []int{8, 16, 24}
		rng := rand.New(rand.NewPCG(seed, 7))
		b.run(0, "s", func(_ Step, tr *assay.Trial) {
			tr.Measures["rate_m"] = assay.Num(100 * math.Exp(0.05*rng.NormFloat64()))
		})
		if b.verdict().Verdict == assay.Pass {
			wrong++
		}
	}
	if share := float64(wrong) / float64(seeds); share > alpha {
		t.Errorf("three looks at no difference: PASS in %.1f%%", 100*share)
	}
}

func TestVoidsAtRandomDoNotBias(t *testing.T) {
	seeds := seedsOr(300)
	wrong := 0
	for seed := range uint64(seeds) {
		b := twoSides(t, 12, "!= 1")
		b.seed = seed
		rng := rand.New(rand.NewPCG(seed, 8))
		b.run(0, "s", func(_ Step, tr *assay.Trial) {
			tr.Measures["rate_m"] = assay.Num(100 * math.Exp(0.05*rng.NormFloat64()))
			if rng.IntN(8) == 0 {
				tr.Valid, tr.VoidBy = false, []string{"guard:clock-step"}
				tr.Measures["rate_m"] = assay.Num(1)
			}
		})
		if b.verdict().Verdict == assay.Pass {
			wrong++
		}
	}
	if share := float64(wrong) / float64(seeds); share > alpha {
		t.Errorf("void trials made a difference in %.1f%%", 100*share)
	}
}

// Curves that rise to a knee and stay, with noise of a few per cent to a fifth: the refined bracket
// holds the true knee, and is as narrow as was asked, at a fraction of the levels of a full grid. The
// blocks are as many as the noise asks for; nothing narrows a bracket below what they can tell.
func TestRefinedBracketHoldsTheKnee(t *testing.T) {
	seeds := seedsOr(60)
	for _, c := range []struct {
		noise, margin, width float64
		blocks               int
	}{{0.03, 0.05, 1.25, 20}, {0.10, 0.10, 1.5, 36}, {0.20, 0.20, 1.7, 50}} {
		held, narrow, levels := 0, 0, 0
		for seed := range uint64(seeds) {
			rng := rand.New(rand.NewPCG(seed, 21))
			top := math.Exp(math.Log(3) + rng.Float64()*math.Log(20)) // 3 to 60
			b := refineBench(t, c.blocks, 6, []string{"1", "2", "4", "8", "16", "32", "64", "128"}, "<= 128")
			b.seed = seed
			b.e.Refine.Width, b.e.Hypotheses[0].Margin = c.width, c.margin
			f := b.refined(func(_ Step, tr *assay.Trial) {
				n, _ := assay.ParseQuantity(tr.Cell["n"])
				tr.Measures["m"] = assay.Num(10 * min(n.Number, top) * math.Exp(c.noise*rng.NormFloat64()))
			})
			v := Judge(f).Verdicts.Hypotheses[0]
			plan := f.Registration.CurrentPlan()
			levels += len(plan.Cells)
			// Any real level from here on is within the margin of the best.
			knee := top * (1 - c.margin)
			low, high := 0.0, math.Inf(1)
			if v.Low != nil {
				low = *v.Low
			}
			if v.High != nil {
				high = *v.High
			}
			if low < knee && knee <= high {
				held++
			}
			if low > 0 && (high/low <= c.width || high-low <= 1) {
				narrow++
			}
		}
		t.Logf("noise %.0f%%, margin %.0f%%, %d blocks: holds %.1f%%, narrow enough %.1f%%, levels %.1f", 100*c.noise, 100*c.margin, c.blocks,
			100*float64(held)/float64(seeds), 100*float64(narrow)/float64(seeds), float64(levels)/float64(seeds))
		if float64(held)/float64(seeds) < 0.95 || float64(narrow)/float64(seeds) < 0.80 || float64(levels)/float64(seeds) > 64 {
			t.Error("want at least 95%, 80%, and at most 64 of 128 levels")
		}
	}
}
