package stat

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// reference is one file of testdata/reference; every table is made by someone else's code.
func reference(t *testing.T, file string) map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile("testdata/reference/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string]json.RawMessage
	if err := json.Unmarshal(data, &tables); err != nil {
		t.Fatal(err)
	}
	return tables
}

// eachCase calls check with every case of one table, and fails when there is none.
func eachCase[C any](t *testing.T, file, table string, check func(*testing.T, C)) {
	t.Run(file+"/"+table, func(t *testing.T) {
		var cases []C
		if err := json.Unmarshal(reference(t, file)[table], &cases); err != nil {
			t.Fatal(err)
		}
		if len(cases) == 0 {
			t.Fatal("no cases")
		}
		for _, c := range cases {
			check(t, c)
		}
	})
}

// near fails unless got is want to a relative (and absolute, for values below it) tolerance.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Max(math.Abs(want), tolerance)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestReferenceCounts(t *testing.T) {
	eachCase(t, "python.json", "binomial", func(t *testing.T, c struct {
		K, N          int
		P             float64
		CDF, Survival float64
	}) {
		near(t, "BinomialCDF", BinomialCDF(c.K, c.N, c.P), c.CDF, 1e-9)
		near(t, "binomialSurvival", binomialSurvival(c.K+1, c.N, c.P), c.Survival, 1e-9)
	})
	eachCase(t, "python.json", "sign_rank", func(t *testing.T, c struct {
		N          int
		Confidence float64
		Rank       int
	}) {
		if got := SignRank(c.N, c.Confidence); got != c.Rank {
			t.Errorf("SignRank(%d, %v) = %d, want %d", c.N, c.Confidence, got, c.Rank)
		}
	})
	eachCase(t, "python.json", "quantile_interval", func(t *testing.T, c struct {
		N, Lo, Hi     int
		Q, Confidence float64
	}) {
		lo, hi, ok := QuantileInterval(c.N, c.Q, c.Confidence)
		if lo != c.Lo || hi != c.Hi || ok != (c.Lo >= 1 && c.Hi <= c.N) || ok != (c.N >= MinCount(c.Q, c.Confidence)) {
			t.Errorf("QuantileInterval(%d, %v, %v) = %d, %d, %v, want %d, %d", c.N, c.Q, c.Confidence, lo, hi, ok, c.Lo, c.Hi)
		}
	})
	eachCase(t, "python.json", "operations", func(t *testing.T, c struct {
		Q, Confidence float64
		Bad, N        int
	}) {
		if got := MinOperations(c.Bad, c.Q, c.Confidence); got != c.N {
			t.Errorf("MinOperations(%d, %v, %v) = %d, want %d", c.Bad, c.Q, c.Confidence, got, c.N)
		}
		if at, before := DecideShare(c.N, c.Bad, c.Q, c.Confidence), DecideShare(c.N-1, c.Bad, c.Q, c.Confidence); at != Confirmed || before == Confirmed {
			t.Errorf("%d bad of %d is %v, of one less %v", c.Bad, c.N, at, before)
		}
	})
	fisher := func(t *testing.T, c struct {
		Table [4]int
		P     float64
	}) {
		near(t, "FisherExact", FisherExact(c.Table[0], c.Table[1], c.Table[2], c.Table[3]), c.P, 1e-9)
	}
	eachCase(t, "python.json", "fisher", fisher)
	eachCase(t, "r.json", "fisher", fisher)
}

func TestReferenceOrder(t *testing.T) {
	eachCase(t, "python.json", "equivalence", func(t *testing.T, c struct {
		Xs        []float64
		Low, High float64
		P         float64
	}) {
		e := EquivalenceTest(c.Xs, c.Low, c.High, .95)
		near(t, "EquivalenceTest", e.P, c.P, 1e-12)
		if (e.Decision == Confirmed) != (c.P <= 1-.95) {
			t.Errorf("equivalence of %d values is %v at p %v", len(c.Xs), e.Decision, c.P)
		}
	})
	eachCase(t, "python.json", "trend", func(t *testing.T, c struct {
		Blocks   [][]float64
		Up, Down float64
	}) {
		got := TrendTest(c.Blocks)
		near(t, "PUp", got.PUp, c.Up, 1e-12)
		near(t, "PDown", got.PDown, c.Down, 1e-12)
	})
	eachCase(t, "python.json", "kendall", func(t *testing.T, c struct {
		Ys     []float64
		Side   string
		Tau, P float64
	}) {
		got := TrendTest([][]float64{c.Ys})
		near(t, "Tau", got.Tau, c.Tau, 1e-12)
		near(t, c.Side, map[string]float64{"greater": got.PUp, "less": got.PDown}[c.Side], c.P, 1e-10)
	})
	eachCase(t, "python.json", "line", func(t *testing.T, c struct {
		Xs, Ys           []float64
		Slope, Intercept float64
	}) {
		got, ok := FitLine(c.Xs, c.Ys)
		if !ok {
			t.Errorf("FitLine(%v) found no line", c.Xs)
		}
		near(t, "Slope", got.Slope, c.Slope, 1e-12)
		near(t, "Intercept", got.Intercept, c.Intercept, 1e-12)
	})
	ranks := func(t *testing.T, c struct {
		Xs, Ys []float64
		U, P   float64
	}) {
		u, p := MannWhitney(c.Xs, c.Ys)
		near(t, "U", u, c.U, 1e-12)
		near(t, "MannWhitney", p, c.P, 1e-9)
	}
	eachCase(t, "python.json", "mann_whitney", ranks)
	eachCase(t, "r.json", "mann_whitney", ranks)
	isotonic := func(t *testing.T, c struct{ Ys, Weights, Fit []float64 }) {
		for i, got := range Isotonic(c.Ys, c.Weights) {
			near(t, "Isotonic", got, c.Fit[i], 1e-12)
		}
	}
	eachCase(t, "python.json", "isotonic", isotonic)
	eachCase(t, "r.json", "isotonic", isotonic)
}

func TestReferenceSeries(t *testing.T) {
	eachCase(t, "python.json", "mser5", func(t *testing.T, c struct {
		Xs    []float64
		Cut   int
		Limit bool
		Error float64
	}) {
		got, ok := MSER5(c.Xs)
		if !ok || got.Cut != c.Cut || got.AtLimit != c.Limit {
			t.Errorf("MSER5 of %d values = %+v, %v, want cut %d, at limit %v", len(c.Xs), got, ok, c.Cut, c.Limit)
		}
		near(t, "StandardError", got.StandardError, c.Error, 1e-12)
	})
	eachCase(t, "python.json", "pelt", func(t *testing.T, c struct {
		Xs      []float64
		Penalty float64
		Changes []int
	}) {
		if got := ChangePoints(c.Xs, c.Penalty); !slices.Equal(got, c.Changes) {
			t.Errorf("ChangePoints of %d values at %v = %v, want %v", len(c.Xs), c.Penalty, got, c.Changes)
		}
	})
	eachCase(t, "r.json", "autocorrelation", func(t *testing.T, c struct {
		Xs  []float64
		Rho float64
	}) {
		near(t, "Autocorrelation", Autocorrelation(c.Xs), c.Rho, 1e-12)
	})
}

func TestReferenceShape(t *testing.T) {
	eachCase(t, "r.json", "dip", func(t *testing.T, c struct {
		Xs     []float64
		Dip, P float64
	}) {
		dip, p := DipTest(c.Xs, 1000, 1)
		near(t, "Dip", dip, c.Dip, 1e-12)
		// R interpolates a table, ours has its own draws; the least dip of all is no evidence, p 1.
		if least := dip*2*float64(len(c.Xs)) < 1+1e-9; math.Abs(p-c.P) > 0.05 && !(least && p == 1) {
			t.Errorf("p of dip %v in %d values = %v, want %v", dip, len(c.Xs), p, c.P)
		}
	})
	eachCase(t, "r.json", "anderson", func(t *testing.T, c struct {
		Xs             []float64
		Rate           float64
		A, P, Distance float64
	}) {
		got := ExponentialTest(c.Xs, c.Rate)
		near(t, "ASquare", got.ASquare, c.A, 1e-9)
		near(t, "Distance", got.Distance, c.Distance, 1e-12)
		if math.Abs(got.P-c.P) > 1e-6 {
			t.Errorf("p of A² %v in %d gaps = %v, want %v", got.ASquare, len(c.Xs), got.P, c.P)
		}
	})
}
