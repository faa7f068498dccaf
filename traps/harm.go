package traps

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/assaybench/assay"
)

// harmCases are those in which a trial harms others, or the machine that it leaves behind.
func harmCases() []Case {
	return []Case{
		{"T23", "a bystander slows down under the load", "killed within a second, not repeated, figures marked est.",
			func(b *Bench) (Said, error) { return b.harmed(true) }, func(b *Bench) (Said, error) { return b.harmed(false) }},
		{"T23b", "a share hangs, so that its probes give no readings at all", "killed by the age of the probe that is under way",
			func(b *Bench) (Said, error) { return b.hanging(true) }, func(b *Bench) (Said, error) { return b.hanging(false) }},
		{"T23c", "the load's own answers slow down", "killed within a second, by a rule on the response time",
			func(b *Bench) (Said, error) { return b.slowing(true) }, func(b *Bench) (Said, error) { return b.slowing(false) }},
		{"T5.6", "reads suffer, and the mean over reads and writes hides it", "killed by the rule on reads",
			func(b *Bench) (Said, error) { return b.readsSuffer(true) }, func(b *Bench) (Said, error) { return b.readsSuffer(false) }},
		{"T24", "the run that changed the machine is killed", "put back by the next start, and said",
			func(b *Bench) (Said, error) { return b.leftTuned(true) }, func(b *Bench) (Said, error) { return b.leftTuned(false) }},
	}
}

// A shared server answers load at once, and probes slowly from a moment of the load on.
type shared struct {
	quick, slow time.Duration
	after       time.Duration // of load
	own         bool          // the load itself is answered as slowly as the probes
	first       atomic.Int64  // load request, ns
	last        atomic.Int64
	suffered    atomic.Int64 // first probe, or load request, that was answered slowly
}

func (s *shared) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	now := time.Now().UnixNano()
	if r.URL.Path != "/probe" {
		s.first.CompareAndSwap(0, now)
		s.last.Store(now)
		if !s.own {
			return
		}
	}
	first := s.first.Load()
	// A share recovers when nobody loads it any more.
	if first == 0 || now-first < int64(s.after) || now-s.last.Load() > int64(500*time.Millisecond) {
		time.Sleep(s.quick)
		return
	}
	s.suffered.CompareAndSwap(0, now)
	time.Sleep(s.slow)
}

// killBound is the bound of the kill rule in T23, and thus how old a probe is when its window is over it.
const killBound = time.Second

// harmed loads a shared server; it says how long after the window was over its bound the last byte of
// load arrived.
func (b *Bench) harmed(trap bool) (Said, error) {
	said, _, err := b.harm(trap)
	return said, err
}

func (b *Bench) harm(trap bool) (said Said, took time.Duration, err error) {
	s := &shared{quick: time.Millisecond, slow: 5 * time.Millisecond, after: b.milliseconds(200, 600)}
	if trap {
		s.slow = b.milliseconds(2500, 3500)
	}
	return b.killed(s, `experiment: harm
blocks: 1
retries: 2
probes: {share: {http: "%[1]sprobe", rate: 10/s, timeout: 4s}}
kill:
  - {when: "max(rtt(share)) > `+lasting(killBound)+` over 1s", cool_down: 600ms}
load:
  http: {url: "%[1]s"}
  rate: "%.0[2]f/s"
  for: 3s
  timeout: 1s
`, killBound, trap)
}

// against loads a server with 50 to 150 operations a second by an experiment, whose file has verbs for
// the address and the rate, and gives the exit code and the trials.
func (b *Bench) against(h http.Handler, file string) (exit int, trials []assay.Trial, err error) {
	url, stop, err := serve(h)
	if err != nil {
		return 0, nil, err
	}
	defer stop()
	f, trials, err := b.watched(fmt.Sprintf(file, url, b.between(50, 150)))
	return f.exit, trials, err
}

// killed loads s by an experiment and says whether the first trial was killed as it must be, and how
// long after the window was over its bound, which it is so long after the first slow answer began.
func (b *Bench) killed(s *shared, file string, over time.Duration, trap bool) (said Said, took time.Duration, err error) {
	exit, trials, err := b.against(s, file)
	if err != nil {
		return Said{}, 0, err
	}
	t := trials[0]
	said = Said{Warned: t.Outcome == assay.Killed && exit == 4, Reason: string(t.Outcome), Text: noteOf(t, "killed after")}
	if said.Warned {
		took = time.Duration(s.last.Load()-s.suffered.Load()) - over
		said.Text += fmt.Sprintf("; last byte of load %v after the window was over its bound", took.Round(time.Millisecond))
		if trap && took > time.Second {
			said.wrongf("the load went on for %v", took)
		}
	}
	if !trap {
		said.heldUp()
	}
	if trap && len(trials) != 1 {
		said.wrongf("%d trials: it was repeated", len(trials))
	}
	if trap && !strings.HasPrefix(said.Text, "est.") {
		said.wrongf("the figures are not marked est.")
	}
	return said, took, nil
}

// slowing loads a server whose answers become slow.
func (b *Bench) slowing(trap bool) (Said, error) {
	said, _, err := b.slow(trap)
	return said, err
}

func (b *Bench) slow(trap bool) (said Said, took time.Duration, err error) {
	s := &shared{quick: time.Millisecond, slow: 5 * time.Millisecond, after: b.milliseconds(1200, 1900), own: true}
	if trap {
		s.slow = b.milliseconds(300, 600)
	}
	// A slow answer is seen when it has come.
	return b.killed(s, `experiment: slowing
blocks: 1
retries: 2
kill:
  - {when: "max(response_time) > 250ms over 1s", cool_down: 0s}
load:
  http: {url: "%[1]s"}
  rate: "%.0[2]f/s"
  for: 4s
  timeout: 1s
`, s.slow, trap)
}

// hanging is a share that answers nobody from a moment of the load on, until the load has ended.
func (b *Bench) hanging(trap bool) (Said, error) {
	s := &shared{quick: time.Millisecond, slow: 5 * time.Millisecond, after: b.milliseconds(300, 800)}
	if trap {
		s.slow = time.Hour
	}
	share := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		done := make(chan struct{})
		go func() { s.ServeHTTP(w, r); close(done) }()
		select {
		case <-done:
		case <-r.Context().Done():
		}
	})
	exit, trials, err := b.against(share, `experiment: hanging
blocks: 1
retries: 2
probes: {share: {http: "%[1]sprobe", rate: 10/s, timeout: 20s}}
kill:
  - {when: "mean(rtt(share)) > 500ms over 2s", cool_down: 600ms}
load:
  http: {url: "%[1]s"}
  rate: "%.0[2]f/s"
  for: 5s
  timeout: 1s
`)
	if err != nil {
		return Said{}, err
	}
	t := trials[0]
	said := Said{Warned: t.Outcome == assay.Killed && exit == 4, Reason: string(t.Outcome), Text: noteOf(t, "killed after")}
	if trap && len(trials) != 1 {
		said.wrongf("%d trials: it was repeated", len(trials))
	}
	if !trap {
		said.heldUp()
	}
	return said, nil
}

func (b *Bench) readsSuffer(trap bool) (Said, error) {
	began := time.Now()
	reads := b.milliseconds(20, 40)
	if trap {
		reads = b.milliseconds(800, 1200)
	}
	// The mean of both stays below the bound.
	slow := func() bool { return time.Since(began) > 2500*time.Millisecond }
	urls := map[string]string{}
	for name, d := range map[string]time.Duration{"read": reads, "write": 20 * time.Millisecond} {
		var h http.Handler = &bystander{quick: 20 * time.Millisecond, slow: d, loaded: slow}
		url, stop, err := serve(h)
		if err != nil {
			return Said{}, err
		}
		defer stop()
		urls[name] = url
	}
	f, trials, err := b.watched(fmt.Sprintf(`experiment: reads
blocks: 1
retries: 0
probes:
  read: {http: "%s", rate: 5/s, timeout: 2s}
  write: {http: "%s", rate: 20/s, timeout: 2s}
kill:
  - {when: "mean(rtt(read)) > 400ms over 1s", cool_down: 0s}
  - {when: "mean(rtt(write)) > 400ms over 1s", cool_down: 0s}
command: [EXE]
env: {TRAPS_SUBJECT: "rest 5s"}
`, urls["read"], urls["write"]))
	if err != nil {
		return Said{}, err
	}
	t := trials[0]
	s := Said{Warned: t.Outcome == assay.Killed, Reason: string(t.Outcome), Text: noteOf(t, "rtt(read)")}
	if !trap {
		s.heldUp()
	}
	if s.Warned && f.exit != 4 {
		s.wrongf("exit status %d, the truth is 4", f.exit)
	}
	return s, nil
}

// leftTuned has a file stand for a governor.
func (b *Bench) leftTuned(trap bool) (Said, error) {
	governor := filepath.Join(b.Dir, "governor")
	was := []string{"powersave\n", "ondemand\n"}[b.Rand.IntN(2)]
	if err := os.WriteFile(governor, []byte(was), 0o666); err != nil {
		return Said{}, err
	}
	yaml := `experiment: tuned
blocks: 1
retries: 0
machine: {"DIR/governor": performance}
command: [sh, -c, "grep -q performance DIR/governor && { test -e DIR/again || { touch DIR/again; sleep ` + map[bool]string{true: "30", false: "0.1"}[trap] + `; }; }"]
`
	if trap {
		if err := b.killedRun(strings.ReplaceAll(yaml, "DIR", b.Dir)); err != nil {
			return Said{}, err
		}
		if now, err := os.ReadFile(governor); err != nil || string(now) == was {
			return Said{}, fmt.Errorf("the machine was not changed when the run was killed: %q, %v", now, err)
		}
	}
	_, trials, err := b.watched(yaml)
	if err != nil {
		return Said{}, err
	}
	s := noted(trials, "restored:")
	s.outcomes(trials[len(trials)-1:], assay.OK)
	if now, err := os.ReadFile(governor); err != nil || string(now) != was {
		s.wrongf("the machine holds %q, the truth is %q", now, was)
	}
	return s, nil
}

// killedRun starts a run and kills it in its first trial.
func (b *Bench) killedRun(yaml string) error {
	file := filepath.Join(b.Dir, "experiment.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o666); err != nil {
		return err
	}
	c := exec.Command(b.Assay, "run", file, "--out", filepath.Join(b.Dir, "results"), "--quiet")
	if err := c.Start(); err != nil {
		return err
	}
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(b.Dir, "again")); err == nil {
			break
		}
	}
	if err := c.Process.Kill(); err != nil {
		return err
	}
	c.Wait() // it was killed: its status says nothing
	return nil
}
