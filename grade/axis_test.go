package grade

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/assaybench/assay"
)

func parsed(t *testing.T, s string) float64 {
	t.Helper()
	q, err := assay.ParseQuantity(s)
	if err != nil {
		t.Fatal(err)
	}
	return q.Number
}

// axisBench is an experiment along factor n with one value a level, times noise.
func axisBench(t *testing.T, blocks int, levels []string, values []float64, sd float64, h assay.Hypothesis) *bench {
	t.Helper()
	b := newBench(t, blocks, append([]string{"n"}, levels...)).measure("m", "files/s", assay.More)
	h.Measure = ref(t, "m")
	if h.Kind != assay.LadderKind {
		h.Along = "n"
	}
	return b.claim(h).run(0, "s", noisy("m", sd, 11, func(c assay.Cell) float64 {
		for i, l := range levels {
			if c["n"] == l {
				return values[i]
			}
		}
		return math.NaN()
	}))
}

func TestKnee(t *testing.T) {
	levels := []string{"1", "2", "4", "8", "16", "32"}
	for _, c := range []struct {
		name, expect string
		values       []float64
		sd           float64
		blocks       int
		status       assay.Status
		reason       assay.Reason
		low, high    float64 // NaN for null
	}{
		{"at 4", "<= 4", []float64{100, 200, 400, 402, 403, 401}, 0.005, 12, assay.Pass, assay.Holds, 2, 4},
		{"at 4, claimed below", "<= 2", []float64{100, 200, 400, 402, 403, 401}, 0.005, 12, assay.Fail, assay.Contradicted, 2, 4},
		{"a gap around the bound", "<= 3", []float64{100, 200, 400, 402, 403, 401}, 0.005, 12, assay.Untested, assay.AxisGap, 2, 4},
		{"flat from the first", "<= 4", []float64{400, 401, 400, 402, 403, 401}, 0.005, 12, assay.Pass, assay.Holds, math.NaN(), 1},
		{"flat from the first, claimed at least", ">= 1", []float64{400, 401, 400, 402, 403, 401}, 0.005, 12, assay.Untested, assay.AxisEdge, math.NaN(), 1},
		{"still rising", "<= 32", []float64{100, 200, 400, 800, 1600, 3200}, 0.005, 12, assay.Untested, assay.AxisEdge, 16, 32},
		{"still rising, claimed above", "> 8", []float64{100, 200, 400, 800, 1600, 3200}, 0.005, 12, assay.Pass, assay.Holds, 16, 32},
		{"noise hides it", "<= 4", []float64{100, 200, 400, 402, 403, 401}, 0.3, 12, assay.Undecided, assay.Straddles, math.NaN(), math.NaN()},
		{"three blocks", "<= 4", []float64{100, 200, 400, 402, 403, 401}, 0.001, 3, assay.Undecided, assay.Underpowered, 2, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := axisBench(t, c.blocks, levels, c.values, c.sd, assay.Hypothesis{Kind: assay.Knee, Margin: 0.05, Expect: expect(t, c.expect)})
			v := b.want(c.status, c.reason)
			if c.name != "noise hides it" {
				wantEnds(t, v, c.low, c.high)
			}
		})
	}
}

func wantEnds(t *testing.T, v assay.Verdict, low, high float64) {
	t.Helper()
	for _, e := range []struct {
		name string
		got  *float64
		want float64
	}{{"low", v.Low, low}, {"high", v.High, high}} {
		if (e.got == nil) != math.IsNaN(e.want) || e.got != nil && *e.got != e.want {
			t.Errorf("%s is %s, want %v\nnotes %q", e.name, shown(e.got), e.want, v.Notes)
		}
	}
}

func shown(p *float64) string {
	if p == nil {
		return "null"
	}
	return strconv.FormatFloat(*p, 'g', -1, 64)
}

func TestKneeOfLevelsThatAreNoNumbers(t *testing.T) {
	b := axisBench(t, 12, []string{"small", "medium", "large"}, []float64{100, 300, 301}, 0.002,
		assay.Hypothesis{Kind: assay.Knee, Margin: 0.05, Expect: assay.Expectation{Op: assay.LessEq, Bound: assay.Quantity{Text: "medium", Bare: true}}})
	b.want(assay.Pass, assay.Holds)
}

// The knee of a time that falls: less is better.
func TestKneeOfATime(t *testing.T) {
	levels := []string{"1", "2", "4", "8"}
	b := axisBench(t, 12, levels, []float64{400, 200, 100, 99.5}, 0.002, assay.Hypothesis{Kind: assay.Knee, Margin: 0.05, Expect: expect(t, "<= 4")})
	b.e.Measures[0].Better = assay.Lower
	wantEnds(t, b.want(assay.Pass, assay.Holds), 2, 4)
}

func TestKneeWithKilledLevels(t *testing.T) {
	levels := []string{"1", "2", "4", "8"}
	values := map[string]float64{"1": 100, "2": 200, "4": 202, "8": 203}
	b := newBench(t, 12, append([]string{"n"}, levels...)).measure("m", "files/s", assay.More)
	b.claim(assay.Hypothesis{Kind: assay.Knee, Along: "n", Measure: ref(t, "m"), Margin: 0.05, Expect: expect(t, "<= 2")})
	plain := noisy("m", 0.002, 3, func(c assay.Cell) float64 { return values[c["n"]] })
	b.run(0, "s", func(s Step, tr *assay.Trial) {
		plain(s, tr)
		if tr.Cell["n"] == "8" {
			tr.Outcome = assay.Killed
		}
	}).want(assay.Untested, assay.Censored)
}

func TestTrend(t *testing.T) {
	levels := []string{"1", "2", "4", "8"}
	for _, c := range []struct {
		direction string
		values    []float64
		status    assay.Status
		reason    assay.Reason
	}{
		{"up", []float64{4, 8, 14, 70}, assay.Pass, assay.Holds},
		{"down", []float64{4, 8, 14, 70}, assay.Fail, assay.Contradicted},
		{"none", []float64{4, 8, 14, 70}, assay.Fail, assay.Contradicted},
		{"none", []float64{40, 40.1, 40, 40.1}, assay.Pass, assay.Holds},
		{"up", []float64{40, 40.001, 40, 40.001}, assay.Undecided, assay.Straddles},
		{"down", []float64{70, 14, 8, 4}, assay.Pass, assay.Holds},
	} {
		t.Run(fmt.Sprint(c.direction, c.values), func(t *testing.T) {
			axisBench(t, 12, levels, c.values, 0.01, assay.Hypothesis{Kind: assay.Trend, Direction: c.direction}).want(c.status, c.reason)
		})
	}
	axisBench(t, 12, levels, []float64{3, 3, 3, 3}, 0, assay.Hypothesis{Kind: assay.Trend, Direction: "none"}).want(assay.Untested, assay.Vacuous)
}

// A factor's unit stands for all of its bare levels; the axis was once taken for names then, and
// figures were places.
func TestAxisOfAFactorWithAUnit(t *testing.T) {
	for _, unit := range []string{"files", "ms"} {
		levels := []string{"100", "200", "400", "800"}
		b := axisBench(t, 12, levels, []float64{100, 200, 400, 402}, 0.002, assay.Hypothesis{Kind: assay.Knee, Margin: 0.05, Expect: expect(t, "<= 400")})
		b.e.Factors[0].Unit = unit
		v := b.want(assay.Pass, assay.Holds)
		wantEnds(t, v, 200, 400)
		if v.Unit != unit {
			t.Errorf("unit %q, want %s", v.Unit, unit)
		}
	}
}

func TestLine(t *testing.T) {
	levels := []string{"2", "4", "8"}
	for _, c := range []struct {
		name, slope, intercept string
		values                 []float64
		status                 assay.Status
		reason                 assay.Reason
	}{
		{"linear", "2.3GiB..2.7GiB", "< 1GiB", []float64{5.5, 10.5, 20.5}, assay.Pass, assay.Holds},
		{"too steep", "2.3GiB..2.7GiB", "< 1GiB", []float64{6.5, 12.5, 24.5}, assay.Fail, assay.Contradicted},
		{"too high", "2.3GiB..2.7GiB", "< 1GiB", []float64{7.5, 12.5, 22.5}, assay.Fail, assay.Contradicted},
		{"bent", "1GiB..3GiB", "< 100GiB", []float64{5, 20, 21}, assay.Fail, assay.Contradicted},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, 12, append([]string{"n"}, levels...)).measure("mem", "B", assay.Lower)
			b.claim(assay.Hypothesis{Kind: assay.Line, Along: "n", Measure: ref(t, "mem"), Slope: expect(t, c.slope), Intercept: expect(t, c.intercept)})
			v := b.run(0, "s", noisy("mem", 0.002, 3, func(cell assay.Cell) float64 {
				return c.values[strings.Index("248", cell["n"])] * (1 << 30)
			})).want(c.status, c.reason)
			if v.Unit != "GiB" {
				t.Errorf("unit %q, want GiB", v.Unit)
			}
		})
	}
}

func TestLadder(t *testing.T) {
	b := newBench(t, 12, []string{"read", "whole", "ends"}, []string{"fetch", "serial", "parallel"}, []string{"n", "1", "4"}).measure("m", "files/s", assay.More)
	rung := func(read, fetch, n string) assay.Cell { return assay.Cell{"read": read, "fetch": fetch, "n": n} }
	b.e.Settings = nil
	l := assay.Ladder{Name: "v1-to-v3", Rungs: []assay.Cell{rung("whole", "serial", "1"), rung("ends", "serial", "1"), rung("ends", "parallel", "1"), rung("ends", "parallel", "4")},
		Added: []assay.Cell{{"read": "ends"}, {"fetch": "parallel"}, {"n": "4"}}}
	rate := map[string]float64{}
	for i, x := range []float64{91.6, 90, 253, 467} {
		b.e.Settings = append(b.e.Settings, assay.Setting{Cell: l.Rungs[i]})
		rate[l.Rungs[i].Key()] = x
	}
	b.e.Ladders = []assay.Ladder{l}
	b.claim(assay.Hypothesis{Kind: assay.LadderKind, Ladder: "v1-to-v3", Measure: ref(t, "m"), Largest: assay.Cell{"n": "4"}})
	b.run(0, "s", noisy("m", 0.01, 3, func(c assay.Cell) float64 { return rate[c.Key()] }))
	v := b.want(assay.Fail, assay.Contradicted)
	if !strings.Contains(strings.Join(v.Notes, "\n"), "fetch=parallel: factor 2.8") {
		t.Errorf("notes %q; want the factor of each rung", v.Notes)
	}
	b.e.Hypotheses[0].Largest = assay.Cell{"fetch": "parallel"}
	b.want(assay.Pass, assay.Holds)
	b.e.Hypotheses[0].Largest = assay.Cell{"read": "ends"}
	b.want(assay.Fail, assay.Contradicted)

	// A rung that beats one other and ties with the last is not shown to be the largest.
	rate[l.Rungs[2].Key()], rate[l.Rungs[3].Key()] = 180, 360
	b.trials = nil
	b.e.Hypotheses[0].Largest = assay.Cell{"n": "4"}
	b.run(0, "s", noisy("m", 0.01, 3, func(c assay.Cell) float64 { return rate[c.Key()] })).want(assay.Undecided, assay.Straddles)
}

func TestHighest(t *testing.T) {
	levels := []string{"2", "4", "6", "8"}
	for _, c := range []struct {
		name, expect string
		p95          []float64 // s
		errors       []float64
		status       assay.Status
		reason       assay.Reason
		low, high    float64
	}{
		{"stands 6", ">= 6", []float64{0.5, 0.6, 0.9, 9}, []float64{0, 0, 0, 0.2}, assay.Pass, assay.Holds, 6, 8},
		{"stands 4 only", ">= 6", []float64{0.5, 0.6, 5, 9}, []float64{0, 0, 0, 0}, assay.Fail, assay.Contradicted, 4, 6},
		{"errors at 6", ">= 6", []float64{0.5, 0.6, 0.9, 0.9}, []float64{0, 0, 0.14, 0.3}, assay.Fail, assay.Contradicted, 4, 6},
		{"in a gap", ">= 5", []float64{0.5, 0.6, 5, 9}, []float64{0, 0, 0, 0}, assay.Untested, assay.AxisGap, 4, 6},
		{"beyond the axis", ">= 10", []float64{0.5, 0.6, 0.7, 0.9}, []float64{0, 0, 0, 0}, assay.Untested, assay.AxisEdge, 8, math.NaN()},
		{"never", ">= 2", []float64{5, 6, 7, 9}, []float64{0, 0, 0, 0}, assay.Fail, assay.Contradicted, math.NaN(), 2},
		{"one level undecided", ">= 6", []float64{0.5, 0.6, 2, 9}, []float64{0, 0, 0, 0}, assay.Undecided, assay.Straddles, 4, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, 12, append([]string{"offered"}, levels...))
			h := assay.Hypothesis{Kind: assay.Highest, Along: "offered", Expect: expect(t, c.expect)}
			for _, s := range []string{"p95(response_time) < 2s", "errors < 1%"} {
				cond, err := assay.ParseCondition(s)
				if err != nil {
					t.Fatal(err)
				}
				h.Meets = append(h.Meets, cond)
			}
			at := func(c assay.Cell) int { return int(parsed(t, c["offered"]))/2 - 1 }
			p95 := noisy("p95(response_time_ns)", 0.05, 3, func(cell assay.Cell) float64 { return c.p95[at(cell)] * 1e9 })
			errs := noisy("errors_ratio", 0.05, 3, func(cell assay.Cell) float64 { return c.errors[at(cell)] })
			v := b.claim(h).run(0, "s", func(s Step, tr *assay.Trial) { p95(s, tr); errs(s, tr) }).want(c.status, c.reason)
			wantEnds(t, v, c.low, c.high)
		})
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		name     string
		a, b, sd float64
		margin   float64
		status   assay.Status
		reason   assay.Reason
	}{
		{"the same", 467, 466, 0.005, 0.03, assay.Pass, assay.Holds},
		{"not the same", 500, 466, 0.005, 0.03, assay.Fail, assay.Contradicted},
		{"noise as wide as the margin", 467, 466, 0.08, 0.03, assay.Undecided, assay.Straddles},
		{"constant and equal", 467, 467, 0, 0.03, assay.Untested, assay.Vacuous},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := twoSides(t, 12, "> 1")
			b.e.Hypotheses[0].Kind, b.e.Hypotheses[0].Margin, b.e.Hypotheses[0].Expect = assay.Same, c.margin, assay.Expectation{}
			b.run(0, "s", noisy("rate_m", c.sd, 3, rates(c.a, c.b))).want(c.status, c.reason)
		})
	}
}

func TestSamePrintsTheIntervalThatDecides(t *testing.T) {
	b := twoSides(t, 12, "> 1")
	b.e.Hypotheses[0].Kind, b.e.Hypotheses[0].Margin, b.e.Hypotheses[0].Expect = assay.Same, 0.03, assay.Expectation{}
	v := b.run(0, "s", noisy("rate_m", 0.005, 3, rates(467, 466))).want(assay.Pass, assay.Holds)
	if math.Abs(v.Confidence-0.90) > 1e-12 || *v.Low < 0.97 || *v.High > 1.03 {
		t.Errorf("%v to %v at %v; want the interval of two one-sided tests, inside the margin", *v.Low, *v.High, v.Confidence)
	}
}

// A level at which the target crashes misses, and so does one at which a kill rule on the very measure
// fired; a level that was killed for another harm is unknown.
func TestHighestOfFailingLevels(t *testing.T) {
	kill := func(s string) assay.KillRule {
		c, err := assay.ParseCondition(s)
		if err != nil {
			t.Fatal(err)
		}
		return assay.KillRule{When: c}
	}
	for _, c := range []struct {
		name   string
		last   assay.Outcome
		rule   string
		accept bool
		status assay.Status
		reason assay.Reason
		high   float64
	}{
		{"crashed", assay.Crashed, "", false, assay.Pass, assay.Holds, 6},
		{"killed for its own measure", assay.Killed, "mean(rtt(share)) > 100ms over 5s", false, assay.Pass, assay.Holds, 6},
		{"killed for another", assay.Killed, "load1 > 50", false, assay.Untested, assay.Censored, math.NaN()},
		{"killed for another, and that accepted", assay.Killed, "load1 > 50", true, assay.Pass, assay.Holds, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, 12, []string{"offered", "2", "4", "6"})
			cond, err := assay.ParseCondition("mean(rtt(share)) < 50ms")
			if err != nil {
				t.Fatal(err)
			}
			h := assay.Hypothesis{Kind: assay.Highest, Along: "offered", Meets: []assay.Condition{cond}, Expect: expect(t, "< 6"), Censoring: c.accept}
			if c.rule != "" {
				for i := range b.e.Settings {
					b.e.Settings[i].Workload.Kills = []assay.KillRule{kill(c.rule)}
				}
			}
			plain := noisy("mean(rtt_ns(share))", 0.05, 3, func(assay.Cell) float64 { return 10e6 })
			v := b.claim(h).run(0, "s", func(s Step, tr *assay.Trial) {
				plain(s, tr)
				if tr.Cell["offered"] == "6" {
					tr.Outcome = c.last
				}
			}).want(c.status, c.reason)
			wantEnds(t, v, 4, c.high)
		})
	}
}
