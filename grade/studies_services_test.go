package grade

import (
	"math"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// services is the campaign on retuning a service of an expensive computation.
func services() []scene {
	const p95 = "p95(response_time_ns)"
	service := func(v *variant, factor string, levels ...string) *bench {
		return newBench(v.t, 12, append([]string{factor}, levels...))
	}
	loaded := func(b *bench, l assay.Load) *bench {
		for i := range b.e.Settings {
			own := l
			b.e.Settings[i].Workload.Load = &own
		}
		return b
	}
	highest := func(v *variant, expectation string, at assay.Cell) assay.Hypothesis {
		h := assay.Hypothesis{Kind: assay.Highest, Along: "offered", At: at, Expect: expect(v.t, expectation)}
		for _, s := range []string{"p95(response_time) < 2s", "errors < 1%"} {
			c, err := assay.ParseCondition(s)
			if err != nil {
				v.t.Fatal(err)
			}
			h.Meets = append(h.Meets, c)
		}
		return h
	}
	second := func(x float64) func(assay.Cell) float64 { return func(assay.Cell) float64 { return x * 1e9 } }
	return []scene{
		{"T7.1", "a third of the iterations was dropped", func(v *variant) *bench {
			b := service(v, "offered", "6", "12", "18").measure("done", "/s", assay.More).claim(v.value("done", "> 5", nil))
			return b.run(0, "s", both(v.gives("done", by("offered", map[string]float64{"6": 5.25, "12": 9.6, "18": 12.2})), voids("delivered")))
		}, assay.Void, assay.GuardReason("delivered"), nil},
		{"T7.1b", "only the lower step was ever sent", func(v *variant) *bench {
			b := service(v, "offered", "6", "12", "18").claim(highest(v, ">= 18", nil))
			return b.run(0, "s", both(v.gives(p95, second(0.5)), v.gives("errors_ratio", second(0)), func(s Step, t *assay.Trial) {
				if t.Cell["offered"] != "6" {
					voids("delivered")(s, t)
				}
			}))
		}, assay.Void, assay.GuardReason("delivered"), wantNote("offered=6: meets", "offered=12: undecided")},
		{"T7.2", "the generator died and the service looked dead", func(v *variant) *bench {
			b := service(v, "offered", "12").measure("done", "/s", assay.More).claim(v.value("done", "> 5", nil))
			return b.run(0, "s", both(v.exactly("done", func(assay.Cell) float64 { return 0 }), voids("generator")))
		}, assay.Void, assay.GuardReason("generator"), nil},
		{"T7.3", "an impatient probe restarts a busy worker", func(v *variant) *bench {
			b := service(v, "probe", "2s", "8s").claim(v.value("restarts(api)", "== 0", nil))
			return b.run(0, "s", v.exactly("restarts(api)", by("probe", map[string]float64{"2s": 3, "8s": 0})))
		}, assay.Fail, assay.Contradicted, wantNote("probe=8s: 0", "PASS", "probe=2s: 3", "FAIL")},
		{"T7.3b", "a patient one restarts nothing", func(v *variant) *bench {
			b := service(v, "probe", "2s", "8s").claim(v.value("restarts(api)", "== 0", assay.Cell{"probe": "8s"}))
			return b.run(0, "s", v.exactly("restarts(api)", by("probe", map[string]float64{"2s": 3, "8s": 0})))
		}, assay.Pass, assay.Holds, nil},
		{"T7.4", "a connection limit sheds 14% of a small load", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"limit", "4", "16"}, []string{"offered", "3", "5"}).claim(highest(v, ">= 3", assay.Cell{"limit": "4"}))
			return b.run(0, "s", both(v.gives(p95, second(0.5)), v.gives("errors_ratio", by("limit", map[string]float64{"4": 0.14, "16": 0}))))
		}, assay.Fail, assay.Contradicted, wantNote("offered=3: misses")},
		{"T7.5", "a loose limit trades errors for waiting", func(v *variant) *bench {
			b := service(v, "limit", "4", "16")
			b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(v.t, "p95(response_time)"), Of: assay.Cell{"limit": "16"}, To: assay.Cell{"limit": "4"}, Expect: expect(v.t, "> 2.5")})
			b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Difference, Measure: ref(v.t, "errors"), Of: assay.Cell{"limit": "4"}, To: assay.Cell{"limit": "16"}, Expect: expect(v.t, "> 10%")})
			return b.run(0, "s", both(v.gives(p95, by("limit", map[string]float64{"4": 1e9, "16": 3e9})), v.gives("errors_ratio", by("limit", map[string]float64{"4": 0.14, "16": 0}))))
		}, assay.Pass, assay.Holds, func(t *testing.T, j Judgement) {
			wantSecond(assay.Pass, assay.Holds)(t, j)
			if v := j.Verdicts.Hypotheses[1]; v.Unit != "%" || math.Abs(*v.Estimate-14) > 1 {
				t.Errorf("%v %s, want about 14%%", *v.Estimate, v.Unit)
			}
		}},
		{"T7.6", "memory is linear in workers, and not shared", func(v *variant) *bench {
			b := service(v, "workers", "2", "4", "8").claim(assay.Hypothesis{Kind: assay.Line, Along: "workers", Measure: ref(v.t, "rss_anon(api)"),
				Slope: expect(v.t, "2.3GiB..2.7GiB"), Intercept: expect(v.t, "< 1GiB")})
			b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Line, Along: "workers", Measure: ref(v.t, "rss_anon(api)"), Slope: expect(v.t, "< 0.5GiB")})
			return b.run(0, "s", v.gives("rss_anon_bytes(api)", by("workers", map[string]float64{"2": 5.4 * (1 << 30), "4": 10.4 * (1 << 30), "8": 20.4 * (1 << 30)})))
		}, assay.Pass, assay.Holds, wantSecond(assay.Fail, assay.Contradicted)},
		{"T7.8", "8.8 times by one variable that moves two pools", func(v *variant) *bench {
			b := service(v, "omp", "unset", "pinned")
			b.e.Factors[0].Levels = []assay.Level{{Text: "unset", Sets: map[string]string{"blas": "16", "intra": "16"}}, {Text: "pinned", Sets: map[string]string{"blas": "2", "intra": "2"}}}
			b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(v.t, "p95(response_time)"), Of: assay.Cell{"omp": "unset"}, To: assay.Cell{"omp": "pinned"}, Expect: expect(v.t, "> 2")})
			return b.run(0, "s", v.gives(p95, by("omp", map[string]float64{"unset": 8.8e9, "pinned": 1e9})))
		}, assay.Void, assay.Confounded, wantNote("2 terms: blas, intra")},
		{"T7.8b", "the same variable, its terms unnamed", func(v *variant) *bench {
			b := service(v, "omp", "unset", "pinned")
			h := v.ratio("p95(response_time)", "omp", "unset", "pinned", "> 2", nil)
			h.Unattributed = true
			return b.claim(h).run(0, "s", v.gives(p95, by("omp", map[string]float64{"unset": 8.8e9, "pinned": 1e9})))
		}, assay.Pass, assay.Holds, func(t *testing.T, j Judgement) {
			wantNote("unattributed")(t, j)
			wantCaution("nobody named", "one term at a time")(t, j)
		}},
		{"T7.9", "7.8 a second, for light payloads", func(v *variant) *bench {
			b := service(v, "payload", "720x960", "large").measure("capacity", "/s", assay.More).claim(v.value("capacity", "> 7", nil))
			return b.run(0, "s", v.gives("capacity", by("payload", map[string]float64{"720x960": 7.8, "large": 5})))
		}, assay.Fail, assay.Contradicted, wantNote("payload=large: ", "payload=720x960: ")},
		{"T7.10", "a p95 of 30 s in a step of 30 s", func(v *variant) *bench {
			b := loaded(service(v, "omp", "unset", "pinned"), assay.Load{Rate: 8, For: 30 * time.Second, Timeout: 60 * time.Second})
			b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(v.t, "p95(response_time)"), Of: assay.Cell{"omp": "unset"}, To: assay.Cell{"omp": "pinned"}, Expect: expect(v.t, "< 50")})
			return b.run(0, "s", (&variant{v.t, v.seed, 0.0003}).gives(p95, by("omp", map[string]float64{"unset": 30e9, "pinned": 2e9})))
		}, assay.Untested, assay.Censored, nil},
		{"T7.10b", "which is at least a factor of 10", func(v *variant) *bench {
			b := loaded(service(v, "omp", "unset", "pinned"), assay.Load{Rate: 8, For: 30 * time.Second, Timeout: 60 * time.Second})
			b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(v.t, "p95(response_time)"), Of: assay.Cell{"omp": "unset"}, To: assay.Cell{"omp": "pinned"}, Expect: expect(v.t, "> 10")})
			return b.run(0, "s", (&variant{v.t, v.seed, 0.0003}).gives(p95, by("omp", map[string]float64{"unset": 30e9, "pinned": 2e9})))
		}, assay.Pass, assay.Holds, nil},
		{"T7.11", "four times the workers and the same ceiling", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"workers", "2", "8"}, []string{"offered", "6", "8", "12"}).measure("ceiling", "/s", assay.More)
			b.e.Measures[0].MaxOf, b.e.Measures[0].Along = ref(v.t, "rate"), "offered"
			for i := range b.e.Settings {
				b.e.Settings[i].Workload.Load = &assay.Load{Rate: parsed(v.t, b.e.Settings[i].Cell["offered"]), For: 30 * time.Second}
			}
			b.claim(assay.Hypothesis{Kind: assay.Same, Measure: ref(v.t, "ceiling"), Of: assay.Cell{"workers": "8"}, To: assay.Cell{"workers": "2"}, Margin: 0.05})
			return b.run(0, "s", v.gives("rate_per_s", by("offered", map[string]float64{"6": 5.98, "8": 7.5, "12": 7.75})))
		}, assay.Pass, assay.Holds, nil},
		{"T7.13", "those that timed out are part of the tail", func(v *variant) *bench {
			b := service(v, "offered", "8").claim(v.value("p95(response_time)", "< 2s", nil))
			return b.run(0, "s", func(_ Step, tr *assay.Trial) { tr.Measures[p95] = assay.Num(math.Inf(1)) })
		}, assay.Fail, assay.Contradicted, nil},
		{"T7.15", "the defect was found and the headline stayed", func(v *variant) *bench {
			b := service(v, "generator", "broken", "mended").measure("done", "/s", assay.More).claim(v.value("done", "> 7.5", assay.Cell{"generator": "broken"}))
			h := v.value("done", "> 7.5", assay.Cell{"generator": "mended"})
			h.ID = "H2"
			b.claim(h)
			return b.run(0, "s", both((&variant{v.t, v.seed, 0.002}).gives("done", by("generator", map[string]float64{"broken": 7.73, "mended": 7.77})), when(assay.Cell{"generator": "broken"}, voids("delivered"))))
		}, assay.Void, assay.GuardReason("delivered"), wantSecond(assay.Pass, assay.Holds)},
		{"T7.16", "memory under a limit", func(v *variant) *bench {
			b := service(v, "workers", "2", "8").measure("mem", "MiB", assay.Lower).claim(v.ratio("mem", "workers", "8", "2", "< 3", nil))
			b.e.Ceilings = []assay.Ceiling{{Measure: ref(v.t, "mem"), Expr: "limit", Limit: map[string]float64{"workers=2": 8192 << 20, "workers=8": 8192 << 20}}}
			return b.run(0, "s", (&variant{v.t, v.seed, 0.001}).gives("mem", by("workers", map[string]float64{"2": 5120, "8": 8100})))
		}, assay.Untested, assay.Censored, nil},
	}
}

func TestSlowAndIdle(t *testing.T) {
	s, ok := Serialised(7.75, 0.52, 0.45)
	if !ok || math.Abs(s.Width-4) > 0.1 {
		t.Errorf("width %v %v, want about 4", s.Width, ok)
	}
	if _, ok := Serialised(7.75, 0.52, 0.98); ok {
		t.Error("a busy resource binds, and a pool was blamed")
	}
	if off, agree := Little(100, 0.05, 5); !agree || math.Abs(off) > 1e-9 {
		t.Errorf("100/s for 50 ms are 5 in flight: %v %v", off, agree)
	}
	if _, agree := Little(1000, 0.00125, 1000); agree {
		t.Error("a thousand connections with 1.25 in flight agree")
	}
}
