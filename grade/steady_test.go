package grade

import (
	"bytes"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
)

// shapes are what the median of each second of a window can look like, times 5 ms. Sane ones must never
// be called unsteady.
var shapes = []struct {
	name  string
	sane  bool
	shape func(rng *rand.Rand, n int) []float64
}{
	{"white noise", true, func(rng *rand.Rand, n int) []float64 { return wandering(rng, n, 0, 0.2) }},
	{"wide noise", true, func(rng *rand.Rand, n int) []float64 { return wandering(rng, n, 0, 0.6) }},
	{"neighbours alike", true, func(rng *rand.Rand, n int) []float64 { return wandering(rng, n, 0.8, 0.4) }},
	{"wandering as near saturation", true, func(rng *rand.Rand, n int) []float64 { return wandering(rng, n, 0.95, 0.6) }},
	{"a pause now and then", true, func(rng *rand.Rand, n int) []float64 {
		xs := wandering(rng, n, 0, 0.05)
		for i := range xs {
			if rng.IntN(10) == 0 {
				xs[i] *= 20
			}
		}
		return xs
	}},
	{"a slow first second", true, func(rng *rand.Rand, n int) []float64 {
		xs := wandering(rng, n, 0, 0.05)
		xs[0] *= 50
		return xs
	}},
	{"every fourth second slow", true, func(rng *rand.Rand, n int) []float64 {
		xs := wandering(rng, n, 0, 0.05)
		for i := rng.IntN(4); i < n; i += 4 {
			xs[i] *= 3
		}
		return xs
	}},
	{"a slight warm-up", true, func(rng *rand.Rand, n int) []float64 { return warming(rng, n, 0.1, 5) }},
	{"a clock's few values", true, func(rng *rand.Rand, n int) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = 1 + float64(rng.IntN(2))/10
		}
		return xs
	}},
	{"warming up", false, func(rng *rand.Rand, n int) []float64 { return warming(rng, n, 3, float64(n)/3) }},
	{"a step in the middle", false, func(rng *rand.Rand, n int) []float64 {
		xs := wandering(rng, n, 0, 0.1)
		for i := range xs[:n/2] {
			xs[i] *= 2
		}
		return xs
	}},
}

// wandering is a lognormal series whose logarithms have lag-1 correlation rho and that deviation.
func wandering(rng *rand.Rand, n int, rho, sd float64) []float64 {
	xs := make([]float64, n)
	z := rng.NormFloat64()
	for i := range xs {
		xs[i] = math.Exp(sd * z)
		z = rho*z + math.Sqrt(1-rho*rho)*rng.NormFloat64()
	}
	return xs
}

// warming is noise on 1 + extra exp(-t/tau).
func warming(rng *rand.Rand, n int, extra, tau float64) []float64 {
	xs := wandering(rng, n, 0, 0.1)
	for i := range xs {
		xs[i] *= 1 + extra*math.Exp(-float64(i)/tau)
	}
	return xs
}

// Nearly all trials must drift one way for a cell to be unsteady: sane windows never come to that.
func TestSteadyWindowsAreNeverCalledUnsteady(t *testing.T) {
	const trials, cells = 12, 30
	for _, s := range shapes {
		for _, n := range []int{17, 30, 110} {
			rng := rand.New(rand.NewPCG(uint64(n), 7))
			unsteady := 0
			for range cells {
				up, down := 0, 0
				for range trials {
					switch d := driftOf(s.shape(rng, n)); {
					case d.times > 1:
						up++
					case d.asked && d.times < 1:
						down++
					}
				}
				if max(up, down) >= steadyNeed(trials) {
					unsteady++
				}
			}
			switch {
			case (s.sane || n < steadySeconds) && unsteady > 0:
				t.Errorf("%s over %d s: %d of %d cells are called unsteady", s.name, n, unsteady, cells)
			case !s.sane && n >= steadySeconds && unsteady < cells-1:
				t.Errorf("%s over %d s: %d of %d cells are called unsteady", s.name, n, unsteady, cells)
			}
		}
	}
}

// secondsLog is a trial's folder with an interval log of those medians, in units of 5 ms.
func secondsLog(t *testing.T, xs []float64) fs.FS {
	t.Helper()
	var log bytes.Buffer
	start := time.Unix(1700000000, 0)
	w, err := hist.NewWriter(&log, start)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range xs {
		var h hist.Histogram
		h.RecordN(int64(5e6*x), 50)
		if err := w.Write(hist.Interval{Start: start.Add(time.Duration(i) * time.Second), Length: time.Second, Histogram: &h}); err != nil {
			t.Fatal(err)
		}
	}
	return fstest.MapFS{"response.hlog": {Data: log.Bytes()}}
}

// windows judges claims about a time and a rate of loads whose seconds look like that.
func windows(t *testing.T, load assay.Load, notes []string, series func(rng *rand.Rand) []float64) (times, rate assay.Verdict) {
	b := newBench(t, 8, []string{"n", "1"})
	b.e.Settings[0].Workload.Load = &load
	b.run(0, "s", func(_ Step, tr *assay.Trial) {
		tr.Measures["p50(response_time_ns)"] = assay.Num(5e6 + float64(tr.Trial))
		tr.Measures["rate_per_s"] = assay.Num(50 + float64(tr.Trial)/100)
		tr.Notes = notes
	})
	b.claim(assay.Hypothesis{ID: "H1", Kind: assay.Absolute, Measure: ref(t, "p50(response_time)"), Expect: expect(t, "< 10ms")})
	b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Absolute, Measure: ref(t, "rate"), Expect: expect(t, "> 10/s")})
	f := b.folder()
	rng := rand.New(rand.NewPCG(3, 4))
	logs := map[int]fs.FS{}
	f.Open = func(trial int) fs.FS {
		if logs[trial] == nil {
			logs[trial] = secondsLog(t, series(rng))
		}
		return logs[trial]
	}
	v := Judge(f).Verdicts.Hypotheses
	return v[0], v[1]
}

func TestClaimsWithoutASteadyState(t *testing.T) {
	open, closed := assay.Load{Rate: 50, For: 30 * time.Second}, assay.Load{Clients: 4, For: 30 * time.Second}
	falling := func(rng *rand.Rand) []float64 { return warming(rng, 30, 3, 10) }
	growing := func(rng *rand.Rand) []float64 {
		xs := wandering(rng, 30, 0, 0.1)
		for i := range xs {
			xs[i] *= 1 + float64(i)/5
		}
		return xs
	}
	for _, test := range []struct {
		name   string
		load   assay.Load
		notes  []string
		series func(rng *rand.Rand) []float64
		void   bool
		note   string // in the notes of the claim about the time
	}{
		{"steady", open, nil, func(rng *rand.Rand) []float64 { return wandering(rng, 30, 0, 0.2) }, false, ""},
		{"warming up", open, nil, falling, true, "in 8 of 8 trials"},
		{"warming up, closed", closed, nil, falling, true, "longer warmup"},
		{"growing under an open loop", open, nil, growing, false, "falls behind"},
		{"growing under a closed loop", closed, nil, growing, true, "wears out"},
		{"overload", open, []string{"overload"}, falling, false, ""},
		{"too short", assay.Load{Rate: 50, For: 10 * time.Second}, nil, falling, false, "takes a median for each of 18 s"},
	} {
		times, rate := windows(t, test.load, test.notes, test.series)
		want := assay.Pass
		if test.void {
			want = assay.Void
		}
		if times.Verdict != want || test.void != (times.Reason == assay.GuardReason("steady")) {
			t.Errorf("%s: %s %s, want %s; notes %q", test.name, times.Verdict, times.Reason, want, times.Notes)
		}
		if got := strings.Join(times.Notes, "; "); test.note != "" && !strings.Contains(got, test.note) {
			t.Errorf("%s: notes %q lack %q", test.name, got, test.note)
		}
		if rate.Verdict == assay.Void || strings.Contains(strings.Join(rate.Notes, "; "), "window") {
			t.Errorf("%s: the claim about the rate is %s, notes %q; want it untouched", test.name, rate.Verdict, rate.Notes)
		}
	}
}

// A level whose times have no steady state neither meets nor misses; the claim stands where the other
// levels decide it.
func TestHighestRespectsSteadyState(t *testing.T) {
	steady := func(rng *rand.Rand) []float64 { return wandering(rng, 30, 0, 0.2) }
	falling := func(rng *rand.Rand) []float64 { return warming(rng, 30, 3, 10) }
	growing := func(rng *rand.Rand) []float64 {
		xs := warming(rng, 30, 3, 10)
		slices.Reverse(xs)
		return xs
	}
	for name, c := range map[string]struct {
		series  [4]func(rng *rand.Rand) []float64 // at 1, 2, 4 and 8, of which 1 to 4 meet
		clients bool
		want    assay.Status
		expect  string
		note    string
	}{
		"steady":                            {[4]func(*rand.Rand) []float64{steady, steady, steady, steady}, false, assay.Pass, ">= 4", ""},
		"warming at the level that matters": {[4]func(*rand.Rand) []float64{steady, steady, falling, steady}, false, assay.Void, ">= 4", "a longer warmup"},
		"warming below it":                  {[4]func(*rand.Rand) []float64{falling, steady, steady, steady}, false, assay.Void, ">= 4", "a longer warmup"},
		"warming above what is claimed":     {[4]func(*rand.Rand) []float64{steady, steady, falling, steady}, false, assay.Pass, ">= 2", "a longer warmup"},
		"growing above, under an open loop": {[4]func(*rand.Rand) []float64{steady, steady, steady, growing}, false, assay.Pass, ">= 4", "falls behind"},
		"wearing out, under a closed loop":  {[4]func(*rand.Rand) []float64{steady, steady, growing, steady}, true, assay.Void, ">= 4", "wears out"},
		"warming at the level that refutes": {[4]func(*rand.Rand) []float64{steady, steady, steady, falling}, false, assay.Void, ">= 8", "a longer warmup"},
		"steady at the level that refutes":  {[4]func(*rand.Rand) []float64{steady, steady, steady, steady}, false, assay.Fail, ">= 8", ""},
	} {
		if testing.Short() && c.expect != ">= 2" && !c.clients {
			t.Logf("short: %s is left out; each takes two seconds, and many times that under the race detector", name)
			continue
		}
		b := newBench(t, 8, []string{"n", "1", "2", "4", "8"})
		load := assay.Load{Rate: 50, For: 30 * time.Second}
		if c.clients {
			load = assay.Load{Clients: 4, For: 30 * time.Second}
		}
		for i := range b.e.Settings {
			b.e.Settings[i].Workload.Load = &load
		}
		b.run(0, "s", func(_ Step, tr *assay.Trial) {
			took := 5e6
			if tr.Cell["n"] == "8" {
				took = 5e7
			}
			tr.Measures["p50(response_time_ns)"] = assay.Num(took + float64(tr.Trial))
		})
		meets, err := assay.ParseCondition("p50(response_time) < 10ms")
		if err != nil {
			t.Fatal(err)
		}
		b.claim(assay.Hypothesis{ID: "H1", Kind: assay.Highest, Along: "n", Meets: []assay.Condition{meets}, Expect: expect(t, c.expect)})
		f, rng, logs := b.folder(), rand.New(rand.NewPCG(3, 4)), map[int]fs.FS{}
		at := map[string]int{"1": 0, "2": 1, "4": 2, "8": 3}
		f.Open = func(trial int) fs.FS {
			if logs[trial] == nil {
				logs[trial] = secondsLog(t, c.series[at[f.Trials[trial-1].Cell["n"]]](rng))
			}
			return logs[trial]
		}
		v := Judge(f).Verdicts.Hypotheses[0]
		if v.Verdict != c.want || c.want == assay.Void && v.Reason != assay.GuardReason("steady") || !strings.Contains(strings.Join(v.Notes, "; "), c.note) {
			t.Errorf("%s: %s %s, want %s; notes %q", name, v.Verdict, v.Reason, c.want, v.Notes)
		}
	}
}
