package load

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/stat"
	"pgregory.net/rapid"
)

// all is every intended time of a schedule.
func all(t testing.TB, p Plan) []time.Duration {
	t.Helper()
	s, err := p.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	var times []time.Duration
	for {
		at, ok := s.Next()
		if !ok {
			return times
		}
		times = append(times, at)
	}
}

func TestConstantArrivalsAreKOverRateAndExactlyRateTimesFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := float64(rapid.IntRange(1, 50_000).Draw(t, "rate"))
		seconds := rapid.IntRange(1, 3).Draw(t, "seconds")
		p, err := NewPlan(assay.Load{Rate: rate, For: time.Duration(seconds) * time.Second}, 1)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := p.Schedule()
		for k := 0; ; k++ {
			at, ok := s.Next()
			if !ok {
				if want := int(rate) * seconds; k != want {
					t.Fatalf("got %d arrivals, want %d", k, want)
				}
				return
			}
			if want := time.Duration(math.Round(float64(k) / rate * 1e9)); at != want {
				t.Fatalf("arrival %d: got %s, want %s", k, at, want)
			}
		}
	})
}

func TestConstantArrivalsAtOddRates(t *testing.T) {
	for _, c := range []struct {
		rate float64
		long time.Duration
		want int
	}{
		{0.3, 10 * time.Second, 3}, {2.5, time.Second, 3}, {1.0 / 3, 9 * time.Second, 3}, {0.1, time.Second, 1},
		{1e5, 100 * time.Millisecond, 10_000}, {7, 100 * time.Millisecond, 1}, {1.1, 100 * time.Second, 110},
	} {
		p, err := NewPlan(assay.Load{Rate: c.rate, For: c.long}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(all(t, p)); got != c.want {
			t.Errorf("%g/s for %s: got %d arrivals, want %d", c.rate, c.long, got, c.want)
		}
	}
}

func TestSchedulesAscendWithinTheWindowAndRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := assay.Load{}
		if rapid.Bool().Draw(t, "ramp") {
			l.Ramp = &assay.Ramp{From: rapid.Float64Range(0, 900).Draw(t, "from"), To: rapid.Float64Range(1, 900).Draw(t, "to"), For: time.Second}
		} else {
			for range rapid.IntRange(1, 4).Draw(t, "steps") {
				l.Steps = append(l.Steps, assay.Step{Rate: rapid.Float64Range(0, 900).Draw(t, "rate"), For: time.Duration(rapid.IntRange(1, 1e9).Draw(t, "for"))})
			}
		}
		if rapid.Bool().Draw(t, "poisson") {
			l.Arrivals = "poisson"
		}
		seed := rapid.Uint64().Draw(t, "seed")
		p, err := NewPlan(l, seed)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := p.Schedule()
		b, _ := p.Schedule()
		last, n := time.Duration(0), 0
		for {
			x, okX := a.Next()
			y, okY := b.Next()
			if x != y || okX != okY {
				t.Fatalf("arrival %d: %s and %s from the same seed", n, x, y)
			}
			if !okX {
				break
			}
			if x < last || x >= p.For {
				t.Fatalf("arrival %d at %s, after %s, in a window of %s", n, x, last, p.For)
			}
			last, n = x, n+1
		}
		want := 0.0
		for _, s := range p.spans {
			want += s.arrivals(s.length)
		}
		if l.Arrivals == "" && math.Abs(float64(n)-want) > 1 {
			t.Fatalf("got %d arrivals, want %.2f", n, want)
		}
		if d := math.Abs(float64(n) - want); l.Arrivals != "" && d > 6*math.Sqrt(want)+6 {
			t.Fatalf("got %d arrivals, want about %.0f", n, want)
		}
	})
}

func TestStepsFollowOneAnother(t *testing.T) {
	p, err := NewPlan(assay.Load{Steps: []assay.Step{{Rate: 2, For: time.Second}, {Rate: 0, For: time.Second}, {Rate: 4, For: time.Second}}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{0, 5e8, 2e9, 225e7, 25e8, 275e7}
	if got := all(t, p); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A ramp from 0 to r has half its arrivals in the last 1 - sqrt(1/2) of the time.
func TestRampDensityGrowsLinearly(t *testing.T) {
	p, err := NewPlan(assay.Load{Ramp: &assay.Ramp{From: 0, To: 2000, For: 10 * time.Second}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	times := all(t, p)
	if len(times) != 10_000 {
		t.Fatalf("got %d arrivals, want 10,000", len(times))
	}
	if got, want := times[5000].Seconds(), 10*math.Sqrt(0.5); math.Abs(got-want) > 1e-6 {
		t.Errorf("half of the arrivals by %.6f s, want %.6f", got, want)
	}
}

// 4,096 gaps of each of 100 seeds are held against the exponential distribution of the asked rate
// (Anderson and Darling 1954, case 0: rate known). At level 0.01 one seed of a hundred may fail;
// more than three have a chance of 2% in a right generator, and the seeds are fixed.
func TestPoissonGapsPassAndersonDarling(t *testing.T) {
	passed := 0
	const rate = 1000.0
	for seed := range uint64(100) {
		p, err := NewPlan(assay.Load{Rate: rate, Arrivals: "poisson", For: 10 * time.Second}, seed)
		if err != nil {
			t.Fatal(err)
		}
		times := all(t, p)[:4097]
		gaps := make([]float64, 4096)
		for i := range gaps {
			gaps[i] = (times[i+1] - times[i]).Seconds()
		}
		if stat.ExponentialTest(gaps, rate).P > 0.01 {
			passed++
		}
	}
	if passed < 97 {
		t.Errorf("%d of 100 seeds pass, want 97 or more", passed)
	}
}

// The test must be able to fail: gaps that are a little too even are found out.
func TestAndersonDarlingRejectsWhatIsNotPoisson(t *testing.T) {
	p, err := NewPlan(assay.Load{Rate: 1000, Arrivals: "poisson", For: 10 * time.Second}, 1)
	if err != nil {
		t.Fatal(err)
	}
	times := all(t, p)[:4097]
	gaps := make([]float64, 4096)
	for i := range gaps {
		gaps[i] = 0.9*(times[i+1]-times[i]).Seconds() + 0.1/1000
	}
	if c := stat.ExponentialTest(gaps, 1000); c.P > 0.01 {
		t.Errorf("got %+v for gaps that are 10%% constant, want p below 0.01", c)
	}
}

func TestTrace(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "trace")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p, err := NewPlan(assay.Load{Trace: write("# seconds\n0\n0.5\n\n0.5\n2.25\n"), Timeout: time.Second}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := all(t, p), []time.Duration{0, 5e8, 5e8, 225e7}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if p.InFlight != 3 || p.For <= 2250*time.Millisecond {
		t.Errorf("got in flight %d and a window of %s, want 3 (the densest second) and just over 2.25s", p.InFlight, p.For)
	}
	for _, c := range []struct{ text, want string }{
		{"1\n0.5\n", ":2: got \"0.5\" after 1s, want ascending"}, {"1\nx\n", ":2: got \"x\""}, {"-1\n", ":1: got \"-1\""}, {"#\n", "holds no times"},
	} {
		if _, err := NewPlan(assay.Load{Trace: write(c.text)}, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("trace %q: got %v, want %q", c.text, err, c.want)
		}
	}
}

func TestNewPlanRefusesWhatContradictsItself(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		name string
		l    assay.Load
		want string
	}{
		{"nothing", assay.Load{For: second}, "want exactly one"},
		{"two", assay.Load{Rate: 1, Clients: 1, For: second}, "want exactly one"},
		{"no window", assay.Load{Rate: 1}, "for is missing"},
		{"negative rate", assay.Load{Rate: -1, For: second}, "rate -1/s"},
		{"think without clients", assay.Load{Rate: 1, For: second, Think: second}, "think"},
		{"poisson clients", assay.Load{Clients: 1, For: second, Arrivals: "poisson"}, "open loop"},
		{"unknown arrivals", assay.Load{Rate: 1, For: second, Arrivals: "even"}, "arrivals"},
		{"steps for longer", assay.Load{Steps: []assay.Step{{Rate: 1, For: second}}, For: 2 * second}, "steps"},
		{"flat ramp", assay.Load{Ramp: &assay.Ramp{For: second}}, "ramp"},
		{"operations", assay.Load{Rate: 1, For: second, Operations: "some"}, "operations"},
	} {
		if _, err := NewPlan(c.l, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestInFlightIsRateTimesTimeoutAtMost(t *testing.T) {
	p, err := NewPlan(assay.Load{Rate: 20, For: time.Second, Timeout: 5 * time.Second}, 1)
	if err != nil || p.InFlight != 100 || p.Bound != "rate x timeout" {
		t.Errorf("got %d by %q, %v; want 100 by rate x timeout", p.InFlight, p.Bound, err)
	}
	p, err = NewPlan(assay.Load{Rate: 1e6, For: time.Second, Timeout: time.Hour}, 1)
	if err != nil || p.InFlight > 1<<20 || p.Bound == "rate x timeout" {
		t.Errorf("got %d by %q, %v; want what this machine allows", p.InFlight, p.Bound, err)
	}
}

// The minimum for a quantile agrees with the exact ranks of package stat.
func TestLeastAgreesWithTheExactInterval(t *testing.T) {
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
		if got, want := least(q), int64(stat.MinCount(q, 0.95)); got != want {
			t.Errorf("least(%v) = %d, want %d", q, got, want)
		}
	}
}
