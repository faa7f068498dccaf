package grade

import (
	"testing"

	"github.com/assaybench/assay"
)

// remembering is two cells under one load, answered quickly where the body was sent before.
func remembering(t *testing.T, body string, fresh string, fixed string) *bench {
	b := newBench(t, 6, []string{"layout", "one", "two"})
	b.e.Fixed = []assay.Named{{Name: "cache", Text: fixed}}
	for i := range b.e.Settings {
		w := &b.e.Settings[i].Workload
		w.Load = &assay.Load{HTTP: &assay.HTTPLoad{URL: assay.ParseTemplate("http://127.0.0.1/"), Body: assay.Body{Text: assay.ParseTemplate(body)}}}
		if fresh != "" {
			w.Targets = []assay.Target{{Name: "api", Fresh: fresh}}
		}
	}
	b.claim(assay.Hypothesis{Kind: assay.Absolute, Measure: ref(t, "p50(response_time)"), At: assay.Cell{"layout": "one"}, Expect: expect(t, "< 1s")})
	return b.run(0, "s", func(_ Step, trial *assay.Trial) {
		took := 1e6
		if len(b.trials) == 0 {
			took = 100e6
		}
		trial.Measures["p50(service_time_ns)"] = assay.Num(took)
		trial.Measures["p50(response_time_ns)"] = assay.Num(took)
	})
}

func TestRepeatedOperations(t *testing.T) {
	for _, c := range []struct {
		name, body, fresh, fixed string
		void                     bool
	}{
		{"each operation its own", "prompt {operation}", "", "", true},
		{"each block its own, for both cells", "{seed}", "", "", true},
		{"each trial its own", "{trial} {operation}", "", "", false},
		{"one body for all", "prompt", "", "", false},
		{"a target that forgets", "prompt {operation}", "trial", "", false},
		{"a warm cache that is declared", "prompt {operation}", "", "warm", false},
	} {
		b := remembering(t, c.body, c.fresh, c.fixed)
		j := newJudge(b.folder())
		void := false
		for i := range b.trials {
			void = void || j.spoilt[i] == assay.GuardVoid("warm")
		}
		if void != c.void {
			t.Errorf("%s: void for warm %t, want %t", c.name, void, c.void)
		}
	}
}

// A rate that the pacer gave stays one when the window's end cuts off what was under way, and is no
// capacity that two sides share.
func TestPacedRatesAreNoCapacities(t *testing.T) {
	for _, c := range []struct {
		name           string
		rate, inFlight float64
		note           string
		status         assay.Status
		reason         assay.Reason
	}{
		{"all that was offered", 30, 0.1, "", assay.Untested, assay.Censored},
		{"all but what was under way", 27.5, 2, "", assay.Untested, assay.Censored},
		{"less than was offered", 20, 2, "", assay.Untested, assay.Vacuous},
		{"an overload", 27, 2, "overload", assay.Untested, assay.Vacuous},
	} {
		b := newBench(t, 6, []string{"layout", "one", "two"})
		for i := range b.e.Settings {
			b.e.Settings[i].Workload.Load = &assay.Load{Rate: 30, For: 1e9}
		}
		b.claim(assay.Hypothesis{Kind: assay.Ratio, Measure: ref(t, "rate"), Of: assay.Cell{"layout": "two"}, To: assay.Cell{"layout": "one"}, Expect: expect(t, "> 1.3")})
		b.run(0, "s", func(_ Step, trial *assay.Trial) {
			trial.Measures["rate_per_s"], trial.Measures["in_flight"] = assay.Num(c.rate), assay.Num(c.inFlight)
			if c.note != "" {
				trial.Notes = append(trial.Notes, c.note)
			}
		})
		if v := b.judge().Verdicts.Hypotheses[0]; v.Verdict != c.status || v.Reason != c.reason {
			t.Errorf("%s: %s %s %q, want %s %s", c.name, v.Verdict, v.Reason, v.Notes, c.status, c.reason)
		}
	}
}
