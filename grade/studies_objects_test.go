package grade

import (
	"testing"

	"github.com/assaybench/assay"
)

// objects is the campaign on reading both ends of many files from an object store.
func objects() []scene {
	flights := []string{"1", "4", "8", "16", "32", "64", "128"}
	rate := map[string]float64{"1": 253, "4": 455, "8": 470, "16": 471, "32": 466, "64": 449, "128": 422}
	tail := map[string]float64{"1": 4, "4": 8, "8": 14, "16": 70, "32": 104, "64": 157, "128": 2235}
	flight := func(v *variant, blocks int, levels ...string) *bench {
		return newBench(v.t, blocks, append([]string{"inflight"}, levels...)).measure("rate_f", "files/s", assay.More)
	}
	quiet := func(v *variant) *variant { return &variant{v.t, v.seed, 0.004} }
	return []scene{
		{"T2.1", "17.8 times fewer bytes on a link without delay", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"read", "ends", "whole"}).measure("rate_f", "files/s", assay.More)
			h := v.ratio("rate_f", "read", "ends", "whole", "> 1.5", nil)
			needs, err := assay.ParseCondition("bandwidth(store) <= 125MB/s")
			if err != nil {
				v.t.Fatal(err)
			}
			h.Needs = &needs
			b.host.Ceilings = []assay.Measured{{Name: "bandwidth(store)", Value: 2500, Unit: "MB/s"}}
			return b.claim(h).run(0, "s", v.gives("rate_f", by("read", map[string]float64{"ends": 90, "whole": 91.6})))
		}, assay.Untested, assay.NotTestableHere, wantNote("testable where bandwidth(store) <= 125MB/s; here bandwidth(store) was 2500 MB/s")},
		{"T2.2", "an axis of 1, 8, 32", func(v *variant) *bench {
			return flight(v, 12, "1", "8", "32").claim(v.knee("rate_f", "inflight", "<= 4", 0.05, nil)).run(0, "s", quiet(v).gives("rate_f", by("inflight", rate)))
		}, assay.Untested, assay.AxisGap, func(t *testing.T, j Judgement) {
			wantEnds(t, j.Verdicts.Hypotheses[0], 1, 8)
			wantNote("no level between them was measured")(t, j)
		}},
		{"T2.2b", "the axis refined", func(v *variant) *bench {
			return flight(v, 12, flights...).claim(v.knee("rate_f", "inflight", "<= 4", 0.05, nil)).run(0, "s", quiet(v).gives("rate_f", by("inflight", rate)))
		}, assay.Pass, assay.Holds, func(t *testing.T, j Judgement) { wantEnds(t, j.Verdicts.Hypotheses[0], 1, 4) }},
		{"T2.2c", "medians of single passes give a bracket and no verdict", func(v *variant) *bench {
			return flight(v, 1, flights...).claim(v.knee("rate_f", "inflight", "<= 4", 0.05, nil)).run(0, "s", v.exactly("rate_f", by("inflight", rate)))
		}, assay.Undecided, assay.Underpowered, func(t *testing.T, j Judgement) { wantEnds(t, j.Verdicts.Hypotheses[0], 1, 4) }},
		{"T2.3", "the top of the axis declines", func(v *variant) *bench {
			return flight(v, 12, flights...).claim(v.knee("rate_f", "inflight", "<= 4", 0.05, nil)).run(0, "s", (&variant{v.t, v.seed, 0.002}).gives("rate_f", by("inflight", rate)))
		}, assay.Pass, assay.Holds, wantNote("declines later")},
		{"T2.4", "the rate does not depend on the size", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"tier", "small", "medium"}).measure("rate_f", "files/s", assay.More)
			return b.claim(v.same("rate_f", "tier", "medium", "small", 0.03, nil)).run(0, "s", quiet(v).gives("rate_f", by("tier", map[string]float64{"small": 466, "medium": 467})))
		}, assay.Pass, assay.Holds, nil},
		{"T2.5", "the bigger buffer is slower", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"buffer", "100", "10000"}).measure("rate_f", "files/s", assay.More)
			b.claim(v.ratio("rate_f", "buffer", "10000", "100", "< 0.95", nil))
			return b.run(0, "s", (&variant{v.t, v.seed, 0.0001}).gives("rate_f", by("buffer", map[string]float64{"100": 173.8, "10000": 139.8})))
		}, assay.Pass, assay.Holds, wantNote("-19.6% of the second, +24.3% of the first")},
		{"T2.6", "222 and 238 MiB with rows too small to tell", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"buffer", "100", "10000"}).measure("peak", "MiB", assay.Lower).measure("row", "B", "")
			h := v.ratio("peak", "buffer", "10000", "100", "> 1.5", nil)
			needs, err := assay.ParseCondition("row >= 30KiB")
			if err != nil {
				v.t.Fatal(err)
			}
			h.Needs = &needs
			return b.claim(h).run(0, "s", both(v.gives("peak", by("buffer", map[string]float64{"100": 222, "10000": 238})), v.exactly("row", func(assay.Cell) float64 { return 200 })))
		}, assay.Untested, assay.NotTestableHere, wantNote("testable where row >= 30KiB")},
		{"T2.7", "two corpora in one cell", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"inflight", "4"}).measure("rate_f", "files/s", assay.More).measure("corpus", "", "")
			b.claim(v.value("rate_f", "> 100", nil))
			return b.run(0, "s", func(s Step, tr *assay.Trial) {
				name, x := "plain", 467.0
				if s.Block%2 == 0 {
					name, x = "throttled", 173.8
				}
				v.gives("rate_f", func(assay.Cell) float64 { return x + float64(s.Block) })(s, tr)
				tr.Measures["corpus"] = assay.Txt(name)
			})
		}, assay.Void, assay.Regimes, wantNote("corpus: throttled in the low one, plain in the high one")},
		{"T2.8", "the second pass hangs", func(v *variant) *bench {
			return flight(v, 12, "128", "256").claim(v.ratio("rate_f", "inflight", "256", "128", "> 0.9", nil)).run(0, "s", both(v.gives("rate_f", by("inflight", rate)),
				when(assay.Cell{"inflight": "256"}, ends(assay.Hung))))
		}, assay.Untested, assay.Vacuous, func(t *testing.T, j Judgement) {
			if n := j.Verdicts.Trials.Failed; n != 12 {
				t.Errorf("%d failed, want 12", n)
			}
		}},
		{"T2.9", "64 in flight through a pool of 10", func(v *variant) *bench {
			b := flight(v, 12, "8", "64").claim(v.ratio("rate_f", "inflight", "64", "8", "> 0.9", nil))
			b.e.Factors[0].Achieved = &assay.Achieved{AtLeast: 0.9}
			return b.run(0, "s", both(v.gives("rate_f", by("inflight", rate)), achieves("inflight", by("inflight", map[string]float64{"8": 8, "64": 10}))))
		}, assay.Void, assay.NoEffect, wantNote("inflight=64 did not take effect", "lever")},
		{"T2.10", "a reader that skips rows is faster", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"reader", "right", "wrong"}).measure("rate_f", "files/s", assay.More)
			b.claim(v.ratio("rate_f", "reader", "wrong", "right", "> 1.1", nil))
			return b.run(0, "s", both(v.gives("rate_f", by("reader", map[string]float64{"right": 300, "wrong": 500})), when(assay.Cell{"reader": "wrong"}, voids("oracle"))))
		}, assay.Void, assay.GuardReason("oracle"), nil},
		{"T2.12", "bytes of the client and of the wire disagree", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"read", "ends"}).measure("bytes", "B", assay.Lower)
			b.claim(v.value("bytes", "< 100kB", nil))
			return b.run(0, "s", both(v.gives("bytes", func(assay.Cell) float64 { return 62308 }), voids("agree")))
		}, assay.Void, assay.GuardReason("agree"), nil},
		{"T2.13", "5.1 times by overlap, it is said", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"sizes", "head", "manifest"}, []string{"fetch", "serial", "parallel"}, []string{"inflight", "1", "4"}).measure("rate_f", "files/s", assay.More)
			rung := func(sizes, fetch, n string) assay.Cell {
				return assay.Cell{"sizes": sizes, "fetch": fetch, "inflight": n}
			}
			l := assay.Ladder{Name: "v2-to-v3", Rungs: []assay.Cell{rung("head", "serial", "1"), rung("manifest", "serial", "1"), rung("manifest", "parallel", "1"), rung("manifest", "parallel", "4")},
				Added: []assay.Cell{{"sizes": "manifest"}, {"fetch": "parallel"}, {"inflight": "4"}}}
			b.e.Ladders, b.e.Settings = []assay.Ladder{l}, nil
			x := map[string]float64{}
			for i, r := range []float64{90, 128, 253, 467} {
				b.e.Settings = append(b.e.Settings, assay.Setting{Cell: l.Rungs[i]})
				x[l.Rungs[i].Key()] = r
			}
			b.claim(assay.Hypothesis{Kind: assay.LadderKind, Ladder: "v2-to-v3", Measure: ref(v.t, "rate_f"), Largest: assay.Cell{"inflight": "4"}})
			return b.run(0, "s", quiet(v).gives("rate_f", func(c assay.Cell) float64 { return x[c.Key()] }))
		}, assay.Fail, assay.Contradicted, wantNote("sizes=manifest: factor 1.4", "fetch=parallel: factor 1.9", "inflight=4: factor 1.8", "the whole ladder: factor 5.")},
		{"T2.15", "one millisecond asked of the network, none there", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"delay", "1", "10"}).measure("rate_f", "files/s", assay.More)
			b.claim(v.ratio("rate_f", "delay", "10", "1", "< 1", nil))
			b.e.Factors[0].Achieved = &assay.Achieved{AtLeast: 0.7}
			return b.run(0, "s", both(v.gives("rate_f", by("delay", map[string]float64{"1": 91, "10": 90})), achieves("delay", func(assay.Cell) float64 { return 0.05 })))
		}, assay.Void, assay.NoEffect, nil},
		{"T2.16", "throughput and tail are two verdicts", func(v *variant) *bench {
			b := flight(v, 12, flights...).measure("tail", "ms", assay.Lower).claim(v.knee("rate_f", "inflight", "<= 4", 0.05, nil))
			b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Trend, Direction: "up", Along: "inflight", Measure: ref(v.t, "tail")})
			return b.run(0, "s", both(quiet(v).gives("rate_f", by("inflight", rate)), v.gives("tail", by("inflight", tail))))
		}, assay.Pass, assay.Holds, wantSecond(assay.Pass, assay.Holds)},
	}
}
