package traps

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/assaybench/assay"
)

// storageCases are those in which many read from one share: what is asked for is not what is under
// way, what looks free is paid by others, and what looks like an order is a drift.
func storageCases() []Case {
	return []Case{
		{"T5.2", "the rate of a run that was killed stands among the others", "no claim on it: UNTESTED, the figures marked est.",
			func(b *Bench) (Said, error) { return b.killedRate(true) }, func(b *Bench) (Said, error) { return b.killedRate(false) }},
		{"T5.3", "a share that becomes faster all the time favours what comes later", "no winner: the order is balanced, the claim straddles",
			func(b *Bench) (Said, error) { return b.drifting(true) }, func(b *Bench) (Said, error) { return b.drifting(false) }},
		{"T5.4", "two settings whose rates differ by less than their spread", "no order of the rates; the waits decide",
			func(b *Bench) (Said, error) { return b.tied(true) }, func(b *Bench) (Said, error) { return b.tied(false) }},
		{"T5.5", "a split of threads is taken for a cap on reads", "VOID no-effect: what was achieved stayed",
			func(b *Bench) (Said, error) { return b.split(true) }, func(b *Bench) (Said, error) { return b.split(false) }},
		{"T5.7", "the same nominal number in flight is half of it in truth", "VOID no-effect, with what was achieved",
			func(b *Bench) (Said, error) { return b.nominal(true) }, func(b *Bench) (Said, error) { return b.nominal(false) }},
		{"T5.8", "a short run is timed by a coarse clock of its own", "void for guard:clock, with the step",
			func(b *Bench) (Said, error) { return b.coarse(true) }, func(b *Bench) (Said, error) { return b.coarse(false) }},
		{"T5.9", "more workers cost nothing, but others wait for longer", "others pay: the bystander's wait beside the rate",
			func(b *Bench) (Said, error) { return b.othersPay(true) }, func(b *Bench) (Said, error) { return b.othersPay(false) }},
		{"T5.10", "the best level is the first of its axis", "axis-edge: it is that level or less; extend the axis downwards",
			func(b *Bench) (Said, error) { return b.edge(true) }, func(b *Bench) (Said, error) { return b.edge(false) }},
		{"T5.11", "each byte crosses the link several times", "the rate as a share of what the link leaves",
			func(b *Bench) (Said, error) { return b.crossings(true) }, func(b *Bench) (Said, error) { return b.crossings(false) }},
		{"T5.12", "the processors idle, so that workers are added", "FAIL: the share is the bound, workers wait for each other",
			func(b *Bench) (Said, error) { return b.queueing(true) }, func(b *Bench) (Said, error) { return b.queueing(false) }},
		{"T5.13", "the program was replaced by its next version under way", "void for guard:changed, with both digests",
			func(b *Bench) (Said, error) { return b.upgraded(true) }, func(b *Bench) (Said, error) { return b.upgraded(false) }},
	}
}

// A share serves so many files at once, each for as long as it takes; the others wait in order.
type share struct {
	heads   chan struct{}
	service func(r *http.Request) time.Duration
}

func newShare(heads int, service func(*http.Request) time.Duration) *share {
	return &share{make(chan struct{}, heads), service}
}

// steady is a service time that is always the same.
func steady(d time.Duration) func(*http.Request) time.Duration {
	return func(*http.Request) time.Duration { return d }
}

func (s *share) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.heads <- struct{}{}
	defer func() { <-s.heads }()
	time.Sleep(s.service(r))
	fmt.Fprintln(w, "data")
}

// reading executes readers on a share: words are their options, more the rest of the file.
func (b *Bench) reading(h http.Handler, factor, words, more string) (findings, []assay.Trial, error) {
	url, stop, err := serve(h)
	if err != nil {
		return findings{}, nil, err
	}
	defer stop()
	return b.watched(fmt.Sprintf(`experiment: reading
factors: {%s}
retries: 0
command: [EXE]
env: {TRAPS_SUBJECT: "readers %s %s"}
measures:
  input: {json: files_per_s, unit: /s, better: more}
  wait: {json: rtt_ms, unit: ms, better: less}
%s`, factor, url, words, strings.ReplaceAll(more, "URL", url)))
}

// interval is a verdict's figure.
func interval(v assay.Verdict) string {
	if v.Estimate == nil || v.Low == nil || v.High == nil {
		return "none"
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", *v.Estimate, *v.Low, *v.High)
}

// unless says that a verdict is another than the one that is due.
func (s *Said) unless(f *findings, claim int, status assay.Status, reason assay.Reason) {
	if s.Noise != "" {
		return
	}
	if h := f.Hypotheses[claim]; h.Verdict != status || h.Reason != reason {
		s.wrongf("%s is %s %s, the truth is %s %s", h.ID, h.Verdict, h.Reason, status, reason)
	}
}

func (b *Bench) killedRate(trap bool) (Said, error) {
	many := 2
	if trap {
		many = 20 + b.Rand.IntN(10)
	}
	service := b.milliseconds(20, 30)
	f, trials, err := b.reading(newShare(1, steady(service)), fmt.Sprintf("readers: [1, %d]", many), "inflight={readers} for=900ms", fmt.Sprintf(`
blocks: 6
probes: {share: {http: "URL", rate: 10/s, timeout: 4s}}
kill:
  - {when: "max(rtt(share)) > %d ms over 500ms", cool_down: 0s}
hypotheses:
  H1: {claim: Many readers are as quick., ratio: input, of: {readers: %d}, to: {readers: 1}, expect: "< 2"}
`, 14*service.Milliseconds(), many))
	if err != nil {
		return Said{}, err
	}
	h := f.Hypotheses[0]
	s := Said{Warned: h.Verdict == assay.Untested, Reason: string(h.Verdict) + " " + string(h.Reason), Text: strings.Join(h.Notes, "; ")}
	killed := 0
	for _, t := range trials {
		if t.Outcome == assay.Killed {
			killed++
			if noteOf(t, "est.: killed") == "" {
				s.wrongf("the figures of trial %d are not marked est.", t.Trial)
			}
		}
	}
	s.Text = fmt.Sprintf("%d trials killed; %s", killed, s.Text)
	if trap && killed < 5 {
		s.wrongf("%d trials were killed, the truth is 6", killed)
	}
	if !trap {
		s.Warned = s.Warned || killed > 0
		s.heldUp()
	}
	return s, nil
}

// drifting becomes faster from file to file; of the two orders one is the faster in the twin only.
func (b *Bench) drifting(trap bool) (Said, error) {
	first, drift, gain := b.between(20, 25), b.between(0.994, 0.997), 1.0
	if !trap {
		gain = b.between(2.5, 3.5)
	}
	var files atomic.Int64
	service := func(r *http.Request) time.Duration {
		ms := first
		for range files.Add(1) {
			ms *= drift
		}
		if r.URL.RawQuery == "second" {
			ms /= gain
		}
		return time.Duration((5 + ms) * 1e6)
	}
	f, trials, err := b.reading(newShare(1, service), "order: [first, second]", "inflight=1 tag={order} for=250ms", `
blocks: 8
hypotheses:
  H1: {claim: The second order is faster., ratio: input, of: {order: second}, to: {order: first}, expect: "> 1"}
`)
	if err != nil {
		return Said{}, err
	}
	s := f.verdict(assay.Undecided, assay.Straddles)
	s.Text = fmt.Sprintf("%s while the share went from %.0f to %.0f files/s; %s", interval(f.Hypotheses[0]),
		trials[0].Measures["input"].Number, trials[len(trials)-1].Measures["input"].Number, s.Text)
	if !trap {
		s.unless(&f, 0, assay.Pass, assay.Holds)
	}
	return s, nil
}

// tied has two settings of equal rates, each quicker in every other block; in the twin one is quicker.
func (b *Bench) tied(trap bool) (Said, error) {
	service, spread := b.milliseconds(8, 12), b.between(0.1, 0.2)
	heads := 1
	if !trap {
		heads = 4
	}
	s := newShare(heads, func(r *http.Request) time.Duration {
		switch r.URL.RawQuery {
		case "1-1", "4-2", "1-3", "4-4", "1-5", "4-6", "1-7", "4-8":
			return time.Duration((1 + spread) * float64(service))
		}
		return time.Duration((1 - spread) * float64(service))
	})
	f, _, err := b.reading(s, "scans: [1, 4]", "inflight={scans} tag={scans}-{block} for=250ms", `
blocks: 8
hypotheses:
  H1: {claim: Four scans read more., ratio: input, of: {scans: 4}, to: {scans: 1}, expect: "> 1"}
  H2: {claim: And wait for as long., ratio: wait, of: {scans: 4}, to: {scans: 1}, expect: "< 1.6"}
`)
	if err != nil {
		return Said{}, err
	}
	said := f.verdict(assay.Undecided, assay.Straddles)
	second := f.Hypotheses[1]
	said.Text = fmt.Sprintf("rates %s, waits %s: %s %s", interval(f.Hypotheses[0]), interval(second), second.Verdict, second.Reason)
	if trap {
		said.unless(&f, 1, assay.Fail, assay.Contradicted)
	} else {
		said.unless(&f, 0, assay.Pass, assay.Holds)
	}
	return said, nil
}

// split sets threads; in the trap reads are not bound by them.
func (b *Bench) split(trap bool) (Said, error) {
	bound := "cap={threads}"
	if trap {
		bound = "threads={threads}"
	}
	n := 10 + b.Rand.IntN(11)
	f, _, err := b.reading(newShare(n, steady(b.milliseconds(20, 30))), "threads: {levels: [1, 8], achieved: {json: in_flight_peak, at_least: 90%}}",
		fmt.Sprintf("inflight=%d %s for=150ms", n, bound), `
blocks: 6
hypotheses:
  H1: {claim: Fewer threads read less., ratio: input, of: {threads: 8}, to: {threads: 1}, expect: "> 1"}
`)
	if err != nil {
		return Said{}, err
	}
	return f.verdict(assay.Void, assay.NoEffect), nil
}

// nominal has readers that do something else for as long as they read.
func (b *Bench) nominal(trap bool) (Said, error) {
	service := b.milliseconds(25, 40)
	think := time.Duration(0)
	if trap {
		think = time.Duration(b.between(0.5, 2) * float64(service))
	}
	f, _, err := b.reading(newShare(64, steady(service)), "inflight: {levels: [2, 16], achieved: {json: in_flight_mean, at_least: 75%}}",
		fmt.Sprintf("inflight={inflight} think=%s for=300ms", lasting(think)), `
blocks: 6
hypotheses:
  H1: {claim: More in flight read more., ratio: input, of: {inflight: 16}, to: {inflight: 2}, expect: "> 1.2"}
`)
	if err != nil {
		return Said{}, err
	}
	s := f.verdict(assay.Void, assay.NoEffect)
	if !trap {
		s.unless(&f, 0, assay.Pass, assay.Holds)
	}
	return s, nil
}

// coarse times itself by a clock of whole seconds, or by a fine one.
func (b *Bench) coarse(trap bool) (Said, error) {
	step := time.Second
	if !trap {
		step = time.Microsecond
	}
	_, trials, err := b.watched(fmt.Sprintf(`experiment: coarse
blocks: 1
retries: 0
command: [EXE]
env: {TRAPS_SUBJECT: "timed for=%s tick=%s unit=1s"}
measures: {elapsed: {json: elapsed, unit: s, better: less}}
`, lasting(b.milliseconds(1200, 2800)), step))
	if err != nil {
		return Said{}, err
	}
	s := voidedBy(trials, "clock")
	s.outcomes(trials, assay.OK)
	return s, nil
}

func (b *Bench) othersPay(trap bool) (Said, error) {
	heads := 32
	if trap {
		heads = 1
	}
	_, trials, err := b.reading(newShare(heads, steady(b.milliseconds(15, 25))), "workers: [1, 8]", "inflight={workers} for=900ms", `
blocks: 1
probes: {share: {http: "URL", rate: 10/s, timeout: 4s}}
`)
	if err != nil {
		return Said{}, err
	}
	s := noted(trials, "others pay:")
	if !trap {
		s.heldUp()
	}
	return s, nil
}

// edge has a knee at one or two heads, and an axis that begins above or below it.
func (b *Bench) edge(trap bool) (Said, error) {
	heads, axis := 1+b.Rand.IntN(2), "4, 6, 8"
	if !trap {
		heads, axis = 4, "1, 4, 8"
	}
	f, _, err := b.reading(newShare(heads, steady(b.milliseconds(15, 20))), "workers: ["+axis+"]", "inflight={workers} for=250ms", `
blocks: 9
hypotheses:
  H1: {claim: Four workers suffice., knee: input, along: workers, margin: 25%, expect: "<= 4"}
`)
	if err != nil {
		return Said{}, err
	}
	s := f.verdict(assay.Pass, assay.Holds)
	s.unless(&f, 0, assay.Pass, assay.Holds)
	s.Text = strings.Join(f.Hypotheses[0].Notes, "; ")
	if s.Warned, s.Reason = strings.Contains(s.Text, "axis-edge: the first level"), ""; s.Warned {
		s.Reason = "axis-edge"
	}
	return s, nil
}

// ofCeiling is how near a figure came to its ceiling, as a note of its verdict says.
var ofCeiling = regexp.MustCompile(`is ([0-9.]+)% of the ceiling`)

// crossings reads files over a link several times each, as fast as the link allows; in the twin the
// readers themselves are slow.
func (b *Bench) crossings(trap bool) (Said, error) {
	service, times, think := b.milliseconds(8, 12), 2+b.Rand.IntN(3), time.Duration(0)
	if !trap {
		think = 20 * service
	}
	f, _, err := b.reading(newShare(1, steady(service)), fmt.Sprintf("crossings: [%d]", times), "inflight=4 crossings={crossings} think="+lasting(think)+" for=400ms", fmt.Sprintf(`
blocks: 6
ceilings: {measure: input, limit: "%.2f / crossings"}
hypotheses:
  H1: {claim: The share is quick., value: input, expect: "> %.1f /s"}
`, 1/service.Seconds(), 1.5/service.Seconds()))
	if err != nil {
		return Said{}, err
	}
	notes := strings.Join(f.Hypotheses[0].Notes, "; ")
	said := ofCeiling.FindStringSubmatch(notes)
	if said == nil {
		return Said{Text: notes}, nil
	}
	percent, _ := strconv.ParseFloat(said[1], 64)  // the pattern takes numbers only
	s := f.verdict(assay.Fail, assay.Contradicted) // for what the machine did to the trials
	s.Warned, s.Reason, s.Text = percent > 70, "of the ceiling", notes
	s.unless(&f, 0, assay.Fail, assay.Contradicted)
	return s, nil
}

func (b *Bench) queueing(trap bool) (Said, error) {
	heads := 16
	if trap {
		heads = 1
	}
	f, trials, err := b.reading(newShare(heads, steady(b.milliseconds(15, 20))), "workers: [1, 8]", "inflight={workers} for=250ms", `
blocks: 6
hypotheses:
  H1: {claim: More workers read more., ratio: input, of: {workers: 8}, to: {workers: 1}, expect: "> 2"}
`)
	if err != nil {
		return Said{}, err
	}
	s := f.verdict(assay.Fail, assay.Contradicted)
	waits := map[string]float64{}
	for _, t := range trials {
		waits[t.Cell["workers"]] = t.Measures["wait"].Number
	}
	s.Text = fmt.Sprintf("%s times the rate with 8 workers, each read waits %.0f ms instead of %.0f; %s", interval(f.Hypotheses[0]), waits["8"], waits["1"], s.Text)
	if !trap {
		s.unless(&f, 0, assay.Pass, assay.Holds)
	}
	return s, nil
}

// upgraded replaces the program by another version while the experiment is under way.
func (b *Bench) upgraded(trap bool) (Said, error) {
	after := 3 + b.Rand.IntN(4)
	if !trap {
		after = 1000
	}
	program := filepath.Join(b.Dir, "program")
	text := fmt.Sprintf("#!/bin/sh\necho 1 >> %[1]s/count\nif [ $(wc -l < %[1]s/count) = %[2]d ]; then cp %[1]s/program %[1]s/next; echo '# version 2' >> %[1]s/next; mv %[1]s/next %[1]s/program; fi\nexec sleep 0.02\n", b.Dir, after)
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		return Said{}, err
	}
	_, trials, err := b.watched(`experiment: upgraded
factors: {way: [a, b]}
blocks: 6
retries: 0
command: [` + program + `, "{way}"]
`)
	if err != nil {
		return Said{}, err
	}
	s := voidedBy(trials, "changed")
	s.outcomes(trials, assay.OK)
	return s, nil
}
