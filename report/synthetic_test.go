package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// The findings in this file are made up: fixed figures that exercise every path of the reports.

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func ptr(x float64) *float64 { return &x }

func unit(s string) assay.Unit { return must(assay.ParseUnit(s)) }

func ref(s string) assay.MeasureRef { return must(assay.ParseMeasureRef(s)) }

func expect(s string) assay.Expectation { return must(assay.ParseExpectation(s)) }

func levels(texts ...string) []assay.Level {
	var ls []assay.Level
	for _, t := range texts {
		ls = append(ls, assay.Level{Text: t})
	}
	return ls
}

// inflight is an experiment of two factors whose trials were mostly good.
func inflight(blocks int) Findings {
	e := &assay.Experiment{
		Name:     "inflight",
		Question: "How many files should the reader keep in flight?",
		Factors: []assay.Factor{
			{Name: "reader", Levels: levels("readfile", "stream")},
			{Name: "inflight", Levels: levels("1", "2", "4", "8", "16", "32")},
		},
		Fixed:   []assay.Named{{Name: "corpus", Text: "the Go source tree"}},
		Blocks:  blocks,
		Retries: 2,
		Measures: []assay.Measure{
			{Name: "throughput", Unit: unit("files/s"), Better: assay.More},
			{Name: "output"},
		},
		Gates:  []assay.Gate{{Condition: must(assay.ParseCondition("load1 < 4 patience 2m"))}},
		Guards: []assay.Guard{{Name: "steal", Condition: must(assay.ParseCondition("cpu_steal < 10%"))}},
		Hypotheses: []assay.Hypothesis{
			{ID: "H1", Claim: "Reading whole files beats streaming them.", Kind: assay.Ratio, Measure: ref("throughput"),
				Of: assay.Cell{"reader": "readfile"}, To: assay.Cell{"reader": "stream"}, At: assay.Cell{"inflight": "4"}, Expect: expect("> 1.05")},
			{ID: "H2", Claim: "The knee is at 4 or below.", Kind: assay.Knee, Measure: ref("throughput"), Along: "inflight",
				At: assay.Cell{"reader": "readfile"}, Margin: 0.05, Expect: expect("<= 4")},
			{ID: "H3", Claim: "All ways read the same bytes.", Kind: assay.Identical, Measure: ref("output")},
			{ID: "H4", Claim: "Thirty-two in flight cost nothing against sixteen, whichever way the files are read.", Kind: assay.Same,
				Measure: ref("throughput"), Of: assay.Cell{"inflight": "32"}, To: assay.Cell{"inflight": "16"}, Margin: 0.02},
			{ID: "H5", Claim: "One in flight takes less than 2 s.", Kind: assay.Absolute, Measure: ref("wall"),
				At: assay.Cell{"inflight": "1", "reader": "readfile"}, Expect: expect("< 2s")},
		},
	}
	for _, reader := range []string{"readfile", "stream"} {
		for _, n := range e.Factors[1].Levels {
			e.Settings = append(e.Settings, assay.Setting{Cell: assay.Cell{"reader": reader, "inflight": n.Text}})
		}
	}
	f := Findings{Experiment: e, Host: syntheticHost()}
	f.Registration = syntheticRegistration(e)
	f.Trials, f.Measures = syntheticTrials(e, blocks)
	f.Verdicts = assay.Verdicts{
		Experiment: "inflight", Registration: f.Registration.Digest,
		Hypotheses: []assay.Verdict{
			{ID: "H1", Verdict: assay.Pass, Reason: assay.Holds, Estimate: ptr(1.2311), Low: ptr(1.1923), High: ptr(1.2749), Confidence: 0.9875, Blocks: 12},
			{ID: "H2", Verdict: assay.Untested, Reason: assay.AxisGap, Estimate: ptr(8), Low: ptr(4), High: ptr(8), Confidence: 0.9875, Blocks: 12, Notes: []string{"declines again after 16"}},
			{ID: "H3", Verdict: assay.Pass, Reason: assay.Holds, Blocks: 12},
			{ID: "H4", Verdict: assay.Undecided, Reason: assay.Straddles, Estimate: ptr(0.991), Low: ptr(0.972), High: ptr(1.013), Confidence: 0.9875, Blocks: 12, Notes: []string{"least favourable cell: reader=stream"}},
			{ID: "H5", Verdict: assay.Fail, Reason: assay.Contradicted, Estimate: ptr(2.41e9), Low: ptr(2.353e9), High: ptr(2.502e9), Confidence: 0.9875, Blocks: 12, Unit: "ns", Exploratory: true},
		},
		Trials: assay.TrialCount{Planned: len(e.Settings) * blocks, OK: len(e.Settings)*blocks - 4, Void: 2, Failed: 1, Refused: 1},
		DoNotQuote: []assay.Caution{
			{What: "throughput at reader=stream inflight=32", Why: "2 of 12 trials are void", Instead: "the ratio H4 with its interval"},
		},
	}
	for i, h := range e.Hypotheses {
		f.Verdicts.Hypotheses[i].Claim = h.Claim
	}
	f.Advice = []grade.Advice{
		{Factor: "reader", Suggested: "readfile", Default: "stream", Measured: "inflight=4 reader=readfile", By: "H1", Flip: "a cell in which the other side is ahead"},
		{Factor: "inflight", Default: "16", By: "H4", Flip: "not decided: straddles"},
	}
	f.Remarks = []string{"along inflight at reader=stream: slow and idle: 4,200/s at 52% busy"}
	return f
}

func syntheticHost() assay.Host {
	return assay.Host{
		Sessions: []assay.Session{{ID: "s1", Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Fingerprint: map[string]string{
			"cpu": "Example CPU 9000, 2 cores", "kernel": "6.1.0", "memory": "24 GiB", "governor": "performance",
		}}},
		Ceilings: []assay.Measured{{Name: "bandwidth(memory)", Value: 21.4e9, Low: 20.9e9, High: 21.8e9, Unit: "B/s", Method: "copy of 256 MiB, 9 times"}},
	}
}

func syntheticRegistration(e *assay.Experiment) *assay.Registration {
	r := &assay.Registration{
		Digest: "5d41402abc4b2a76b9719d911017c592aa11bb22cc33dd44ee55ff6677889900",
		Time:   time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC), Commit: "0123456789abcdef0123", Dirty: true, Version: "0.1.0", Seed: 42,
		Plan: assay.NewPlan(e, 42),
		Amendments: []assay.Amendment{{Time: time.Date(2026, 3, 5, 8, 0, 0, 0, time.UTC), Reason: "the bound of H5 was a slip of the pen",
			Digest: "77889900", Changes: []string{"hypotheses.H5.expect"}, Trials: 144}},
	}
	for _, h := range e.Hypotheses {
		r.Hypotheses = append(r.Hypotheses, assay.Registered{ID: h.ID, Claim: h.Claim, Rule: string(h.Kind) + " of " + h.Measure.String() + " " + h.Expect.String()})
	}
	r.Amendments[0].Plan = r.Plan
	return r
}

// bell is a number from about -3 to 3 with variance 1: the sum of twelve uniform ones.
func bell(rng *rand.Rand) float64 {
	sum := -6.0
	for range 12 {
		sum += float64(rng.Uint64()>>11) / (1 << 53)
	}
	return sum
}

func syntheticTrials(e *assay.Experiment, blocks int) ([]assay.Trial, []grade.Figures) {
	rng := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 3, 4, 5, 7, 0, 0, time.UTC)
	throughput := grade.Figures{Ref: ref("throughput"), Unit: unit("files/s"), Better: assay.More}
	wall := grade.Figures{Ref: ref("wall"), Unit: unit("ns"), Better: assay.Lower}
	var trials []assay.Trial
	for block := 1; block <= blocks; block++ {
		for position, at := range assay.Order(42, len(e.Settings), block) {
			cell := e.Settings[at].Cell
			n := float64(slices.Index(e.Factors[1].Order(), cell["inflight"]))
			rate := 4200 * (1 - math.Exp(-0.9*(n+0.7))) * (1 + 0.018*bell(rng))
			if cell["reader"] == "stream" {
				rate /= 1.23
			}
			t := assay.Trial{Trial: len(trials) + 1, Block: block, Position: position + 1, Cell: cell, Session: "s1",
				StartedAt: start.Add(time.Duration(len(trials)) * 700 * time.Millisecond), Outcome: assay.OK, Valid: true,
				Gates: []assay.GateReading{{Condition: "load1 < 4 patience 2m", Reading: assay.Num(math.Round(100*(1.1+0.2*bell(rng))) / 100), WaitedNS: 0}},
				Measures: map[string]assay.Value{"cpu_steal_ratio": assay.Num(0.001), "throughput": assay.Num(rate),
					"wall_ns": assay.Num(math.Round(1e13 / rate))}}
			switch len(trials) {
			case 30, 55:
				t.Valid, t.VoidBy = false, []string{"guard:steal"}
				t.Notes = []string{"input words.txt sha256 00", "steal: cpu_steal < 10%: was 0.17"}
				t.Measures["cpu_steal_ratio"] = assay.Num(0.14 + 0.001*float64(len(trials)))
				rate *= 0.6
			case 77:
				t.Outcome, t.Exit, rate = assay.Failed, 3, 0
			case 90:
				t.Outcome, t.RefusedBy, rate = assay.Refused, []string{"gate load1 < 4 patience 2m: did not hold within 2m: was 6.25"}, math.NaN()
				t.Gates[0].Reading, t.Gates[0].WaitedNS = assay.Num(6.25), 120e9
			}
			trials = append(trials, t)
			throughput.Values = append(throughput.Values, rate)
			wall.Values = append(wall.Values, 1e13/rate)
		}
	}
	for _, m := range []*grade.Figures{&throughput, &wall} {
		for _, s := range e.Settings {
			m.Cells = append(m.Cells, middle(counted(trials, m.Values, s.Cell), s.Cell))
		}
	}
	return trials, []grade.Figures{throughput, wall}
}

// counted are the finite values of the trials that take part in statistics in the cell.
func counted(trials []assay.Trial, values []float64, cell assay.Cell) []float64 {
	var xs []float64
	for i := range trials {
		if trials[i].Counts() && trials[i].Cell.Matches(cell) && finite(values[i]) {
			xs = append(xs, values[i])
		}
	}
	return xs
}

// middle stands in for grading: the median and the third values from the ends.
func middle(xs []float64, cell assay.Cell) grade.CellFigures {
	slices.Sort(xs)
	c := grade.CellFigures{Cell: cell, Median: math.NaN(), Low: math.NaN(), High: math.NaN(), Confidence: 0.95, N: len(xs)}
	if len(xs) > 0 {
		c.Median = xs[len(xs)/2]
	}
	if len(xs) > 6 {
		c.Low, c.High = xs[2], xs[len(xs)-3]
	}
	return c
}

// every has a verdict for each reason of the vocabulary, over the trials of inflight.
func every() Findings {
	f := inflight(12)
	f.Verdicts.Experiment = "every"
	f.Verdicts.Hypotheses, f.Experiment.Hypotheses = nil, nil
	ratio := assay.Hypothesis{Kind: assay.Ratio, Measure: ref("throughput"), Of: assay.Cell{"reader": "readfile"},
		To: assay.Cell{"reader": "stream"}, At: assay.Cell{"inflight": "4"}, Expect: expect("> 1.05")}
	status := map[assay.Status][]assay.Reason{
		assay.Pass:      {assay.Holds},
		assay.Fail:      {assay.Contradicted},
		assay.Undecided: {assay.Straddles, assay.Underpowered, assay.Incomplete, assay.UnequalVoids},
		assay.Untested:  {assay.Vacuous, assay.AxisGap, assay.AxisEdge, assay.Censored, assay.NotTestableHere},
		assay.Void: {assay.GuardReason("steal"), assay.GuardReason("delivered"), assay.NoEffect, assay.Regimes, assay.Confounded,
			assay.CrossSession, assay.BadInstrument, assay.AboveCeiling},
	}
	for _, s := range statuses {
		for _, reason := range status[s.status] {
			h := ratio
			h.ID = fmt.Sprintf("H%d", len(f.Experiment.Hypotheses)+1)
			h.Claim = "A claim that is " + string(s.status) + " for the reason " + string(reason) + "."
			v := assay.Verdict{ID: h.ID, Claim: h.Claim, Verdict: s.status, Reason: reason, Confidence: 0.9975, Blocks: 12}
			switch reason {
			case assay.Holds:
				v.Estimate, v.Low, v.High = ptr(1.23), ptr(1.19), ptr(1.27)
			case assay.Contradicted:
				v.Estimate, v.Low, v.High = ptr(1.01), ptr(0.97), ptr(1.03)
			case assay.Straddles, assay.Underpowered:
				v.Estimate, v.Low, v.High = ptr(1.06), ptr(1.0496), ptr(1.09)
			case assay.AxisGap, assay.AxisEdge:
				h.Kind, h.Along, h.At, h.Expect = assay.Knee, "inflight", nil, expect("<= 6")
				v.Estimate, v.Low, v.High = ptr(8), ptr(4), ptr(8)
				if reason == assay.AxisEdge {
					v.Low, v.Estimate, v.High = nil, ptr(1), ptr(1)
				}
			case assay.AboveCeiling:
				h.Kind, h.Expect = assay.Absolute, expect("> 5000 files/s")
				v.Estimate, v.Low, v.High, v.Unit = ptr(61234), ptr(60111), ptr(62345), "files/s"
			}
			f.Experiment.Hypotheses = append(f.Experiment.Hypotheses, h)
			f.Verdicts.Hypotheses = append(f.Verdicts.Hypotheses, v)
		}
	}
	return f
}

// hostile has markup and terminal escapes in every text that an author or a program can choose.
func hostile() Findings {
	f := inflight(3)
	const bad = `<script>alert("x")</script>'"&` + "\x1b[31m\u202e]]>"
	f.Verdicts.Experiment, f.Experiment.Question = bad, bad
	f.Experiment.Factors[0].Name = bad
	for i := range f.Trials {
		c := f.Trials[i].Cell.Without("reader").With(assay.Cell{bad: bad})
		f.Trials[i].Cell, f.Trials[i].Notes = c, []string{bad}
	}
	for i := range f.Measures {
		f.Measures[i].Ref.Name = bad
		f.Measures[i].Unit.Name = bad
		f.Measures[i].Unit.Dim.Base = bad
		for j := range f.Measures[i].Cells {
			f.Measures[i].Cells[j].Cell = f.Measures[i].Cells[j].Cell.Without("reader").With(assay.Cell{bad: bad})
		}
	}
	for i := range f.Verdicts.Hypotheses {
		v := &f.Verdicts.Hypotheses[i]
		v.ID, v.Claim, v.Notes = bad, bad, []string{bad}
	}
	f.Verdicts.DoNotQuote = []assay.Caution{{What: bad, Why: bad, Instead: bad}}
	f.Experiment.Fixed = []assay.Named{{Name: bad, Text: bad}}
	f.Advice = []grade.Advice{{Factor: bad, Suggested: bad, Default: bad, Measured: bad, By: bad, Flip: bad}}
	f.Remarks = []string{bad}
	f.Experiment.Cited = []assay.Cited{{Cell: assay.Cell{bad: bad}, Measure: bad, Source: bad}}
	f.Host.Sessions[0].Fingerprint[bad] = bad
	f.Registration.Amendments[0].Reason = bad
	f.Trials[3].Valid, f.Trials[3].VoidBy = false, []string{bad}
	return f
}

func TestSyntheticIsStable(t *testing.T) {
	a, b := inflight(12), inflight(12)
	if got, want := fmt.Sprint(a.Measures), fmt.Sprint(b.Measures); got != want {
		t.Fatal("made-up findings differ between two calls")
	}
}
