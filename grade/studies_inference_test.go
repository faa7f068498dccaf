package grade

import (
	"strings"
	"testing"

	"github.com/assaybench/assay"
)

// inference is the campaign on static against paged batching on a small card.
func inference() []scene {
	static := map[string]float64{"1": 32, "2": 52, "4": 80, "8": 106, "16": 122.5, "32": 81.6}
	paged := map[string]float64{"1": 60, "2": 100, "4": 175, "8": 290, "16": 414, "32": 494.5, "64": 454}
	rate := func(c assay.Cell) float64 {
		if c["engine"] == "static" {
			return static[c["batch"]]
		}
		return paged[c["batch"]]
	}
	engines := func(v *variant, batches ...string) *bench {
		return newBench(v.t, 12, []string{"engine", "static", "paged"}, append([]string{"batch"}, batches...)).measure("tok", "tok/s", assay.More)
	}
	six := []string{"1", "2", "4", "8", "16", "32"}
	return []scene{
		{"T1.1", "the best cell of one engine against the collapsed cell of the other", func(v *variant) *bench {
			return engines(v, six...).claim(v.ratio("tok", "engine", "paged", "static", "> 1.5", assay.Cell{"batch": "32"})).run(0, "s", v.gives("tok", rate))
		}, assay.Pass, assay.Holds, func(t *testing.T, j Judgement) {
			wantCaution("past its own peak", "at batch=16")(t, j)
			if c := j.Verdicts.DoNotQuote[0]; !strings.HasPrefix(c.Instead, "3.3") && !strings.HasPrefix(c.Instead, "3.4") {
				t.Errorf("instead %q, want about 3.38", c.Instead)
			}
		}},
		{"T1.1b", "the same ratio where neither has collapsed", func(v *variant) *bench {
			return engines(v, six...).claim(v.ratio("tok", "engine", "paged", "static", "> 1.5", assay.Cell{"batch": "16"})).run(0, "s", v.gives("tok", rate))
		}, assay.Pass, assay.Holds, func(t *testing.T, j Judgement) {
			if len(j.Verdicts.DoNotQuote) > 0 {
				t.Errorf("cautions %+v", j.Verdicts.DoNotQuote)
			}
		}},
		{"T1.2", "one engine ends for want of memory where the other finishes", func(v *variant) *bench {
			b := engines(v, "32", "64").measure("returned", "answers", assay.More)
			b.claim(v.ratio("tok", "engine", "paged", "static", "> 1", assay.Cell{"batch": "64"}))
			b.claim(assay.Hypothesis{ID: "H2", Kind: assay.Absolute, Measure: ref(v.t, "returned"), At: assay.Cell{"engine": "paged", "batch": "64"}, Expect: expect(v.t, ">= 64")})
			return b.run(0, "s", both(v.gives("tok", rate), v.exactly("returned", by("batch", map[string]float64{"32": 32, "64": 64})),
				when(assay.Cell{"engine": "static", "batch": "64"}, ends(assay.OOM))))
		}, assay.Untested, assay.Vacuous, func(t *testing.T, j Judgement) {
			wantSecond(assay.Pass, assay.Holds)(t, j)
			if n := j.Verdicts.Trials.Failed; n != 12 {
				t.Errorf("%d failed trials are shown, want 12", n)
			}
		}},
		{"T1.3", "more memory-efficient, it is said", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"engine", "static", "paged"}, append([]string{"batch"}, six...)).measure("peak", "MiB", assay.Lower)
			b.claim(v.ratio("peak", "engine", "paged", "static", "< 1", assay.Cell{"batch": "32"}))
			static := map[string]float64{"1": 3500, "2": 3800, "4": 4300, "8": 5100, "16": 6600, "32": 7960}
			return b.run(0, "s", v.gives("peak", func(c assay.Cell) float64 {
				if c["engine"] == "paged" {
					return 7260
				}
				return static[c["batch"]]
			}))
		}, assay.Pass, assay.Holds, wantNote("contradicted in 5 of 5 other comparable cells")},
		{"T1.3b", "more memory-efficient everywhere", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"engine", "static", "paged"}, []string{"batch", "16", "32"}).measure("peak", "MiB", assay.Lower)
			b.claim(v.ratio("peak", "engine", "paged", "static", "< 1", nil))
			return b.run(0, "s", v.gives("peak", func(c assay.Cell) float64 {
				return map[string]float64{"static16": 6600, "static32": 7960, "paged16": 7260, "paged32": 7260}[c["engine"]+c["batch"]]
			}))
		}, assay.Fail, assay.Contradicted, nil},
		{"T1.5", "one rate over two phases", func(v *variant) *bench {
			b := engines(v, "16").measure("decode", "tok/s", assay.More)
			b.claim(v.ratio("tok", "engine", "paged", "static", "> 3", nil))
			h := v.ratio("decode", "engine", "paged", "static", "> 5", nil)
			h.ID = "H2"
			b.claim(h)
			return b.run(0, "s", both(v.gives("tok", rate), v.gives("decode", by("engine", map[string]float64{"static": 146, "paged": 807}))))
		}, assay.Pass, assay.Holds, wantSecond(assay.Pass, assay.Holds)},
		{"T1.6", "each beside its roofline", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"engine", "static", "paged"}, []string{"batch", "1", "8", "16", "32", "64"}).measure("decode", "tok/s", assay.More)
			limit := map[string]float64{}
			for n, x := range map[string]float64{"1": 70, "8": 490, "16": 861, "32": 1384, "64": 1987} {
				limit["batch="+n+" engine=static"], limit["batch="+n+" engine=paged"] = x, x
			}
			b.e.Ceilings = []assay.Ceiling{{Measure: ref(v.t, "decode"), Expr: "batch * bandwidth / (weights + batch * context * token)", Limit: limit}}
			b.claim(v.ratio("decode", "engine", "paged", "static", "> 1.5", assay.Cell{"batch": "16"}))
			share := map[string]float64{"static1": 0.46, "static8": 0.25, "static16": 0.17, "static32": 0.10, "static64": 0.05,
				"paged1": 0.94, "paged8": 0.94, "paged16": 0.93, "paged32": 0.88, "paged64": 0.51}
			return b.run(0, "s", (&variant{v.t, v.seed, 0.001}).gives("decode", func(c assay.Cell) float64 {
				return share[c["engine"]+c["batch"]] * limit[c.Key()]
			}))
		}, assay.Pass, assay.Holds, wantNote("93.", "17.", "% of the ceiling 861")},
		{"T1.7", "the second engine starts on a hot device", func(v *variant) *bench {
			return engines(v, "8").claim(v.ratio("tok", "engine", "paged", "static", "> 1", nil)).run(0, "s", both(v.gives("tok", rate),
				when(assay.Cell{"engine": "static"}, ends(assay.Refused))))
		}, assay.Untested, assay.Vacuous, wantNote("refused by their gates")},
		{"T1.8", "three ways to count bytes a token", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"way", "accounting", "live", "reserved"}).measure("token", "B", "")
			b.claim(v.value("token", "28000B..29400B", nil))
			return b.run(0, "s", (&variant{v.t, v.seed, 0.001}).gives("token", by("way", map[string]float64{"accounting": 28664, "live": 32071, "reserved": 54610})))
		}, assay.Fail, assay.Contradicted, wantNote("way=accounting", "way=live", "way=reserved")},
		{"T1.9", "ragged against even, by real tokens", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"prompts", "even", "ragged"}).measure("tok", "tok/s", assay.More)
			b.claim(v.ratio("tok", "prompts", "even", "ragged", "> 1.5", nil))
			return b.run(0, "s", (&variant{v.t, v.seed, 0.0001}).gives("tok", by("prompts", map[string]float64{"even": 224.5, "ragged": 118})))
		}, assay.Pass, assay.Holds, wantNote("+90.", "of the second, -47.")},
		{"T1.10", "batch is simultaneous on one side and in waves on the other", func(v *variant) *bench {
			b := engines(v, "64").claim(v.ratio("tok", "engine", "paged", "static", "> 1", nil))
			b.e.Factors[1].Achieved = &assay.Achieved{AtLeast: 0.9}
			return b.run(0, "s", both(v.gives("tok", func(c assay.Cell) float64 { return map[string]float64{"static": 80, "paged": 454}[c["engine"]] }),
				achieves("batch", by("engine", map[string]float64{"static": 64, "paged": 46}))))
		}, assay.Void, assay.NoEffect, nil},
		{"T1.11", "prefill grows evenly and then breaks", func(v *variant) *bench {
			b := newBench(v.t, 12, append([]string{"batch"}, six...)).measure("prefill", "s", assay.Lower)
			b.claim(assay.Hypothesis{Kind: assay.Line, Along: "batch", Measure: ref(v.t, "prefill"), Slope: expect(v.t, "> 0s")})
			return b.run(0, "s", v.gives("prefill", by("batch", map[string]float64{"1": 0.6, "2": 1.2, "4": 2.4, "8": 4.8, "16": 9.6, "32": 76})))
		}, assay.Fail, assay.Contradicted, wantNote("no straight line: at batch=32")},
		{"T1.12", "neighbours differ by less than an engine's own spread", func(v *variant) *bench {
			b := newBench(v.t, 12, []string{"batch", "8", "16"}).measure("tok", "tok/s", assay.More)
			b.claim(v.ratio("tok", "batch", "16", "8", "> 1.02", nil))
			// The spread alternates, so that no pair is like another: 8.6% either way.
			return b.run(0, "s", func(s Step, tr *assay.Trial) {
				x := map[string]float64{"8": 100, "16": 102}[tr.Cell["batch"]]
				if (s.Block+len(tr.Cell["batch"]))%2 == 0 {
					x *= 1.086
				}
				tr.Measures["tok"] = assay.Num(x * (1 + v.sd/100*float64(s.Block%5)))
			})
		}, assay.Undecided, assay.Straddles, wantCaution("below the noise floor", "choose by another measure")},
	}
}
