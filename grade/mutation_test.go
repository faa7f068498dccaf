package grade

import (
	"testing"

	"github.com/assaybench/assay"
)

// The scorer must notice when the records are not what they were: each mutation of a folder that
// passes takes its PASS away.
func TestMutatedRecordsLoseTheirVerdict(t *testing.T) {
	pass := func() *bench {
		b := newBench(t, 12, []string{"corpus", "small", "medium"}, []string{"side", "a", "b"}).measure("rate_m", "files/s", assay.More)
		b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(t, "rate_m"), Of: assay.Cell{"side": "a"}, To: assay.Cell{"side": "b"},
			At: assay.Cell{"corpus": "small"}, Expect: expect(t, "1.1..1.3")})
		return b.run(0, "s", noisy("rate_m", 0.01, 3, func(c assay.Cell) float64 {
			return map[string]float64{"smalla": 120, "smallb": 100, "mediuma": 40, "mediumb": 60}[c["corpus"]+c["side"]]
		}))
	}
	pass().want(assay.Pass, assay.Holds)
	for _, m := range []struct {
		name   string
		mutate func(b *bench)
	}{
		{"a sign is flipped", func(b *bench) {
			for i := range b.trials {
				v := b.trials[i].Measures["rate_m"]
				b.trials[i].Measures["rate_m"] = assay.Num(-v.Number)
			}
		}},
		{"the sides are exchanged", func(b *bench) {
			h := &b.e.Hypotheses[0]
			h.Of, h.To = h.To, h.Of
		}},
		{"two corpora are blended", func(b *bench) {
			swapped := map[int]map[string]assay.Value{}
			for i := range b.trials {
				if b.trials[i].Block%2 == 0 && b.trials[i].Cell["side"] == "a" {
					swapped[b.trials[i].Block] = b.trials[i].Measures
				}
			}
			for i := range b.trials {
				if b.trials[i].Cell["corpus"] == "small" && b.trials[i].Cell["side"] == "a" && swapped[b.trials[i].Block] != nil {
					b.trials[i].Measures = map[string]assay.Value{"rate_m": assay.Num(40)}
				}
			}
		}},
		{"throttled trials are mixed in", func(b *bench) {
			for i := range b.trials {
				if b.trials[i].Block > 6 {
					b.trials[i].Measures["rate_m"] = assay.Num(b.trials[i].Measures["rate_m"].Number * map[bool]float64{true: 0.5, false: 1}[b.trials[i].Cell["side"] == "a"])
				}
			}
		}},
		{"the corpus is not what the claim names", func(b *bench) { b.e.Hypotheses[0].At = assay.Cell{"corpus": "medium"} }},
		{"half of the trials are gone", func(b *bench) { b.trials = b.trials[:len(b.trials)/2] }},
		{"one side is gone", func(b *bench) {
			var kept []assay.Trial
			for _, tr := range b.trials {
				if tr.Cell["side"] == "a" {
					kept = append(kept, tr)
				}
			}
			b.trials = kept
		}},
		{"one side failed", func(b *bench) {
			for i := range b.trials {
				if b.trials[i].Cell["side"] == "b" {
					b.trials[i].Outcome = assay.Failed
				}
			}
		}},
		{"everything is a warm-up", func(b *bench) {
			for i := range b.trials {
				b.trials[i].Warmup = true
			}
		}},
		{"everything is void", func(b *bench) {
			for i := range b.trials {
				b.trials[i].Valid = false
			}
		}},
		{"the executable changes half-way", func(b *bench) {
			for i := range b.trials {
				b.trials[i].ExecutableSHA256 = map[bool]string{true: "new", false: "old"}[b.trials[i].Block > 4]
			}
		}},
		{"another claim was registered later and the blocks stayed", func(b *bench) {
			for i := range 70 {
				h := b.e.Hypotheses[0]
				h.ID = string(rune('A' + i))
				b.e.Hypotheses = append(b.e.Hypotheses, h)
			}
			b.e.Blocks = 12
			b.trials = b.trials[:32]
		}},
		{"the bound moves past the interval", func(b *bench) { b.e.Hypotheses[0].Expect = expect(t, "1.25..1.3") }},
		{"nothing varies", func(b *bench) {
			for i := range b.trials {
				b.trials[i].Measures["rate_m"] = assay.Num(100)
			}
		}},
		{"the measure is a text", func(b *bench) {
			for i := range b.trials {
				b.trials[i].Measures["rate_m"] = assay.Txt("120")
			}
		}},
	} {
		t.Run(m.name, func(t *testing.T) {
			b := pass()
			m.mutate(b)
			if v := b.verdict(); v.Verdict == assay.Pass {
				t.Errorf("still PASS %s: %q", v.Reason, v.Notes)
			}
		})
	}
}

// A void mark that is dropped lets the figure of a spoilt trial in.
func TestDroppedVoidMark(t *testing.T) {
	fill := func(keep bool) func(Step, *assay.Trial) {
		plain := noisy("rate_m", 0.001, 3, rates(120, 100))
		return func(s Step, tr *assay.Trial) {
			plain(s, tr)
			if s.Block <= 4 && tr.Cell["side"] == "a" {
				tr.Measures["rate_m"] = assay.Num(50)
				if keep {
					tr.Valid, tr.VoidBy = false, []string{"guard:clock-step"}
				}
			}
		}
	}
	b := twoSides(t, 12, "> 1.05")
	marked := b.run(0, "s", fill(true)).verdict()
	b = twoSides(t, 12, "> 1.05")
	dropped := b.run(0, "s", fill(false)).verdict()
	if marked.Verdict != assay.Undecided && marked.Verdict != assay.Pass || marked.Low == nil || *marked.Low < 1.1 {
		t.Errorf("with the marks: %s, low %s; want only whole trials in the interval", marked.Verdict, shown(marked.Low))
	}
	if dropped.Low != nil && *dropped.Low > 1.1 {
		t.Errorf("without the marks the interval starts at %v all the same", *dropped.Low)
	}
}
