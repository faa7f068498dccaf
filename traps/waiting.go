package traps

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assaybench/assay"
)

// waitingCases are those in which time, memory or work goes where no figure shows it.
func waitingCases() []Case {
	return []Case{
		{"T6.5", "a consumer naps for want of input, and its naps are priced as work", "void for guard:stall, with position, share and lever",
			func(b *Bench) (Said, error) { return b.napping(true) }, func(b *Bench) (Said, error) { return b.napping(false) }},
		{"T14", "the command runs out of its processor quota", "void for guard:throttled, with the counter",
			func(b *Bench) (Said, error) { return b.throttled(true) }, func(b *Bench) (Said, error) { return b.throttled(false) }},
		{"T15", "the generator is held up, and that looks like the target's slowness", "void for guard:generator",
			func(b *Bench) (Said, error) { return b.heldUp(true) }, func(b *Bench) (Said, error) { return b.heldUp(false) }},
		{"T7.7", "many more threads than cores", "oversubscribed: runnable threads beside cores",
			func(b *Bench) (Said, error) { return b.crowded(true) }, func(b *Bench) (Said, error) { return b.crowded(false) }},
		{"T5", "a file is read out of the page cache at more than its disk can give", "void twice: guard:ceiling and guard:warm",
			func(b *Bench) (Said, error) { return b.warmFile(true) }, func(b *Bench) (Said, error) { return b.warmFile(false) }},
		{"T5c", "a file that is read cold is then read again out of the page cache, and all of it counts", "void for guard:ceiling: more than the disk gave when this machine was measured",
			func(b *Bench) (Said, error) { return b.readAgain(true) }, func(b *Bench) (Said, error) { return b.readAgain(false) }},
		{"T5.1", "inputs that a gate declares cold are in the page cache", "refused, with the residency that was measured",
			func(b *Bench) (Said, error) { return b.declaredCold(true) }, func(b *Bench) (Said, error) { return b.declaredCold(false) }},
		{"T12", "threads are asked for, one works", "VOID no-effect, with the lever",
			func(b *Bench) (Said, error) { return b.ignored(1) }, func(b *Bench) (Said, error) { return b.ignored(64) }},
		{"T2.9", "in flight is moved, a pool of ten caps it", "VOID no-effect, with the lever",
			func(b *Bench) (Said, error) { return b.ignored(2 + b.Rand.IntN(10)) }, func(b *Bench) (Said, error) { return b.ignored(32) }},
		{"T19", "one timed run gives another output, and is faster", "that row is void for guard:oracle",
			func(b *Bench) (Said, error) { return b.otherOutput(true) }, func(b *Bench) (Said, error) { return b.otherOutput(false) }},
		{"T6.2", "the runtime fell back to its interpreter", "void for guard:mode, by name",
			func(b *Bench) (Said, error) {
				return b.asserted("mode == 'compiled'", "mode=interpreted", "mode=compiled")
			},
			func(b *Bench) (Said, error) {
				return b.asserted("mode == 'compiled'", "mode=compiled", "mode=compiled")
			}},
		{"T6.17", "the fixture is empty", "void for guard:records: nothing was processed",
			func(b *Bench) (Said, error) { return b.asserted("records > 0", "records=0", "records=64000") },
			func(b *Bench) (Said, error) { return b.asserted("records > 0", "records=64000", "records=64000") }},
	}
}

func (b *Bench) napping(trap bool) (Said, error) {
	turns := []time.Duration{b.milliseconds(600, 800)}
	if trap {
		turns = append(turns, b.milliseconds(500, 900), b.milliseconds(300, 500))
	} else {
		turns = append(turns, 0, b.milliseconds(300, 900))
	}
	var words []string
	for _, d := range turns {
		words = append(words, lasting(d))
	}
	_, trials, err := b.watched(`experiment: napping
blocks: 1
retries: 0
command: [EXE]
env: {TRAPS_SUBJECT: "burn ` + strings.Join(words, " ") + `"}
`)
	if err != nil {
		return Said{}, err
	}
	s := voidedBy(trials, "stall")
	s.outcomes(trials, assay.OK)
	return s, nil
}

func (b *Bench) throttled(trap bool) (Said, error) {
	dir, remove, err := group(b.milliseconds(2, 6))
	if err != nil {
		return Said{Noise: "no control group with a quota: " + err.Error()}, nil
	}
	defer remove()
	subject := "burn 0ms 0ms " + lasting(b.milliseconds(1400, 1700))
	if trap {
		subject = "join " + dir + " " + subject
	}
	_, trials, err := b.watched(`experiment: throttled
blocks: 1
retries: 0
command: [EXE]
env: {TRAPS_SUBJECT: "` + subject + `"}
`)
	if err != nil {
		return Said{}, err
	}
	s := voidedBy(trials, "throttled")
	if s.Noise == "guard:throttled" {
		s.Noise = ""
	}
	return s, nil
}

func (b *Bench) heldUp(trap bool) (Said, error) {
	dir, remove, err := group(b.milliseconds(1, 2))
	if err != nil {
		return Said{Noise: "no control group with a quota: " + err.Error()}, nil
	}
	defer remove()
	url, stop, err := serve(&Stub{Service: b.milliseconds(150, 300)})
	if err != nil {
		return Said{}, err
	}
	defer stop()
	exe, err := os.Executable()
	if err != nil {
		return Said{}, err
	}
	if trap {
		held := *b
		if held.Assay, err = script(b.Dir, fmt.Sprintf("%s='join %s %s '\"$*\" exec %s", SubjectVariable, dir, b.Assay, exe)); err != nil {
			return Said{}, err
		}
		b = &held
	}
	a, err := b.load(url, "--rate", fmt.Sprintf("%.0f/s", b.between(250, 400)), "--for", "1500ms")
	if err != nil {
		return Said{}, err
	}
	s := a.said("guard:generator", "generator")
	s.Warned = a.voided("guard:generator")
	if !trap && s.Warned {
		s.Noise = "guard:generator"
	}
	return s, nil
}

// script makes a program of one line of sh.
func script(dir, line string) (string, error) {
	path := filepath.Join(dir, "program")
	return path, os.WriteFile(path, []byte("#!/bin/sh\n"+line+"\n"), 0o755)
}

func (b *Bench) crowded(trap bool) (Said, error) {
	n := 1
	if trap {
		n = 12 + b.Rand.IntN(20)
	}
	_, trials, err := b.watched(fmt.Sprintf(`experiment: crowded
blocks: 1
retries: 0
command: [EXE]
env: {TRAPS_SUBJECT: "threads %d 1800ms"}
`, n))
	if err != nil {
		return Said{}, err
	}
	return noted(trials, "oversubscribed:"), nil
}

// input makes a file of so many MiB.
func (b *Bench) input(mib int) error {
	block := make([]byte, mib<<20)
	for i := range block {
		block[i] = byte(i>>12 + i)
	}
	return os.WriteFile(filepath.Join(b.Dir, "input"), block, 0o666)
}

func (b *Bench) warmFile(trap bool) (Said, error) {
	if err := b.input(16 + b.Rand.IntN(16)); err != nil {
		return Said{}, err
	}
	limit := b.between(20, 40) // MB/s
	pace, prepare := "", ""
	if !trap {
		pace, prepare = fmt.Sprintf(" %.1f", 0.8*limit), "prepare: evict(DIR/input)\n"
	}
	_, trials, err := b.watched(fmt.Sprintf(`experiment: warm
blocks: 1
retries: 0
command: [EXE]
env: {TRAPS_SUBJECT: "read DIR/input%s"}
inputs: DIR/input
%smeasures: {speed: {json: speed, unit: MB/s, better: more}}
ceilings: {measure: speed, limit: %.1f MB/s}
`, pace, prepare, limit))
	if err != nil {
		return Said{}, err
	}
	s, other := voidedBy(trials, "ceiling"), voidedBy(trials, "warm")
	if s.Warned && !other.Warned {
		s.wrongf("nothing is said of the page cache")
	}
	s.Text += "; " + other.Text
	s.Warned = s.Warned || other.Warned
	return s, nil
}

// readAgain has no declared limit: the machine's own ceilings were measured before.
func (b *Bench) readAgain(trap bool) (Said, error) {
	var measured struct{ Ceilings []assay.Measured }
	if _, err := b.assay(&measured, "machine", "--quick", "--json", "--dir", b.Dir); err != nil {
		return Said{}, err
	}
	if !slices.ContainsFunc(measured.Ceilings, func(m assay.Measured) bool { return m.Name == "bandwidth(disk_read_deep)" }) {
		return Said{Noise: "no disk that can be measured past the page cache"}, nil
	}
	if err := b.input(16 + b.Rand.IntN(16)); err != nil {
		return Said{}, err
	}
	again := 0
	if trap {
		again = 80 + b.Rand.IntN(40)
	}
	_, trials, err := b.watched(fmt.Sprintf(`experiment: again
blocks: 1
retries: 0
command: [EXE]
env: {TRAPS_SUBJECT: "read DIR/input again=%d"}
prepare: evict(DIR/input)
measures: {speed: {json: speed, unit: MB/s, better: more}}
`, again))
	if err != nil {
		return Said{}, err
	}
	s := voidedBy(trials, "ceiling")
	s.outcomes(trials, assay.OK)
	return s, nil
}

func (b *Bench) declaredCold(trap bool) (Said, error) {
	if err := b.input(4 + b.Rand.IntN(8)); err != nil {
		return Said{}, err
	}
	prepare := ""
	if !trap {
		prepare = "prepare: evict(DIR/input)\n"
	}
	_, trials, err := b.watched(`experiment: cold
blocks: 1
retries: 0
command: [EXE]
env: {TRAPS_SUBJECT: "read DIR/input"}
inputs: DIR/input
` + prepare + `gates: ["resident(DIR/input) <= 5%"]
`)
	if err != nil {
		return Said{}, err
	}
	t := trials[0]
	return Said{Warned: t.Outcome == assay.Refused, Reason: string(t.Outcome), Text: strings.Join(t.RefusedBy, "; ")}, nil
}

func (b *Bench) ignored(width int) (Said, error) {
	f, _, err := b.watched(fmt.Sprintf(`experiment: ignored
factors: {inflight: {levels: [1, 32], achieved: {json: in_flight_peak, at_least: 90%%}}}
blocks: 6
retries: 0
command: [EXE]
env: {TRAPS_SUBJECT: "pool {inflight} %d"}
measures: {rate: {json: rate, unit: /s, better: more}}
hypotheses:
  H1: {claim: More in flight is faster., ratio: rate, of: {inflight: 32}, to: {inflight: 1}, expect: "> 1"}
`, width))
	if err != nil {
		return Said{}, err
	}
	return f.verdict(assay.Void, assay.NoEffect), nil
}

func (b *Bench) otherOutput(trap bool) (Said, error) {
	last := "same"
	if trap {
		last = fmt.Sprint("short", b.Rand.IntN(1000))
	}
	f, _, err := b.watched(`experiment: output
factors: {reader: [a, b]}
blocks: 6
retries: 0
shell: true
command: if [ {block}{reader} = 5b ]; then o=` + last + `; else o=same; fi; sleep 0.02; echo "{\"sum\":\"$o\"}"
measures: {sum: {json: sum, oracle: first}}
hypotheses:
  H1: {claim: All read the same., identical: sum}
`)
	if err != nil {
		return Said{}, err
	}
	s := Said{Warned: f.Trials.Void == 1, Reason: "guard:oracle", Text: fmt.Sprintf("%d of %d trials void", f.Trials.Void, f.Trials.Planned)}
	if h := f.Hypotheses[0]; h.Verdict != assay.Pass {
		s.wrongf("%s %s: %s", h.Verdict, h.Reason, strings.Join(h.Notes, "; "))
	}
	return s, nil
}

// asserted has a guard of the file's own on what the command says of itself.
func (b *Bench) asserted(guard, first, others string) (Said, error) {
	name, _, _ := strings.Cut(guard, " ")
	_, trials, err := b.watched(fmt.Sprintf(`experiment: asserted
factors: {round: [1, 2]}
blocks: 1
retries: 0
command: [sh, -c, 'if [ {round} = 1 ]; then %s="says %s"; else %s="says %s"; fi; export %s; exec "$0"', EXE]
measures: {%s: {json: %s}}
guards: ["%s"]
`, SubjectVariable, first, SubjectVariable, others, SubjectVariable, name, name, guard))
	if err != nil {
		return Said{}, err
	}
	s := voidedBy(trials, name)
	s.outcomes(trials, assay.OK)
	return s, nil
}
