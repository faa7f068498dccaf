package traps

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assaybench/assay"
)

// servedCases are those in which something happens to the target, or to others beside it, while the
// figure looks as ever.
func servedCases() []Case {
	return []Case{
		{"T2.8", "the first pass is fine, the second in the same processes hangs", "hung, with half-closed sockets counted; accumulation, no ceiling",
			func(b *Bench) (Said, error) { return b.secondPass(true) }, func(b *Bench) (Said, error) { return b.secondPass(false) }},
		{"T2.8b", "a target keeps half-closed sockets from trial to trial", "void for guard:leak",
			func(b *Bench) (Said, error) { return b.leaking(true) }, func(b *Bench) (Said, error) { return b.leaking(false) }},
		{"T2.15", "a link of 20 ms is claimed, the real one is none", "refused, with what was measured",
			func(b *Bench) (Said, error) { return b.claimedLink(true) }, func(b *Bench) (Said, error) { return b.claimedLink(false) }},
		{"T7.2", "the generator is killed", "crashed: no statement about the service",
			func(b *Bench) (Said, error) { return b.deadGenerator(true) }, func(b *Bench) (Said, error) { return b.deadGenerator(false) }},
		{"T7.3", "a health check in the same queue restarts a busy service", "void for guard:target-restarted, with cause and process",
			func(b *Bench) (Said, error) { return b.restarted("/healthz") }, func(b *Bench) (Said, error) { return b.restarted("/livez") }},
		{"T7.4", "a limit on connections counts idle ones", "shed: connections beside operations in flight",
			func(b *Bench) (Said, error) { return b.idleKept(true) }, func(b *Bench) (Said, error) { return b.idleKept(false) }},
		{"T7.14", "workers start; one of them ends and is replaced", "void for guard:target-restarted; as many starts as workers are none",
			func(b *Bench) (Said, error) { return b.workers(true) }, func(b *Bench) (Said, error) { return b.workers(false) }},
		{"T7.16", "the memory of a target is measured under a limit", "clipped: the limit, and how often it was reached",
			func(b *Bench) (Said, error) { return b.limited(true) }, func(b *Bench) (Said, error) { return b.limited(false) }},
		{"T10", "local ports run out", "void for guard:generator, errors of class ports",
			func(b *Bench) (Said, error) { return b.fewPorts(true) }, func(b *Bench) (Said, error) { return b.fewPorts(false) }},
	}
}

func (b *Bench) secondPass(trap bool) (Said, error) {
	port, err := freePort()
	if err != nil {
		return Said{}, err
	}
	pulls, most := 20+b.Rand.IntN(40), 0
	if trap {
		most = pulls + b.Rand.IntN(pulls-1)
	}
	_, trials, err := b.watched(fmt.Sprintf(`experiment: passes
blocks: 1
retries: 0
passes: 2
target:
  store:
    command: [EXE]
    env: {TRAPS_SUBJECT: "leaky %[1]s %[2]d"}
    ready: {tcp: "127.0.0.1:%[1]s"}
    fresh: trial
command: [EXE]
env: {TRAPS_SUBJECT: "pull %[1]s %[3]d"}
hung: {after: 1s}
`, port, most, pulls))
	if err != nil {
		return Said{}, err
	}
	s := noted(trials, "accumulation:")
	if dump := noteOf(trials[0], "hung:"); trap && !strings.Contains(dump, "close_wait") {
		s.wrongf("the dump counts no half-closed sockets: %s", dump)
	}
	want := assay.OK
	if trap {
		want = assay.Hung
	}
	s.outcomes(trials, want)
	return s, nil
}

func (b *Bench) leaking(trap bool) (Said, error) {
	port, err := freePort()
	if err != nil {
		return Said{}, err
	}
	most := 0
	if trap {
		most = 1 << 20
	}
	_, trials, err := b.watched(fmt.Sprintf(`experiment: leaking
blocks: 8
retries: 0
target:
  store:
    command: [EXE]
    env: {TRAPS_SUBJECT: "leaky %[1]s %[2]d"}
    ready: {tcp: "127.0.0.1:%[1]s"}
    fresh: experiment
command: [EXE]
env: {TRAPS_SUBJECT: "pull %[1]s %[3]d"}
`, port, most, 3+b.Rand.IntN(10)))
	if err != nil {
		return Said{}, err
	}
	s := voidedBy(trials, "leak")
	s.outcomes(trials, assay.OK)
	return s, nil
}

func (b *Bench) claimedLink(trap bool) (Said, error) {
	claimed := b.milliseconds(15, 40)
	far := claimed
	if trap {
		far = 0
	}
	url, stop, err := serve(&Stub{Service: far})
	if err != nil {
		return Said{}, err
	}
	defer stop()
	_, trials, err := b.watched(fmt.Sprintf(`experiment: link
blocks: 1
retries: 0
probes: {link: {http: "%s", rate: 5/s, timeout: 2s}}
gates: ["min(rtt(link)) > %d us"]
command: [EXE]
env: {TRAPS_SUBJECT: "says rate=1"}
`, url, claimed.Microseconds()*7/10))
	if err != nil {
		return Said{}, err
	}
	t := trials[0]
	s := Said{Warned: t.Outcome == assay.Refused, Reason: string(t.Outcome), Text: strings.Join(t.RefusedBy, "; ")}
	if s.Warned && trap && !strings.Contains(s.Text, "was ") {
		s.wrongf("what was measured is not said")
	}
	return s, nil
}

func (b *Bench) deadGenerator(trap bool) (Said, error) {
	end := "exit 0"
	if trap {
		end = "kill -KILL $$"
	}
	f, trials, err := b.watched(`experiment: generator
factors: {rate: [5, 9]}
blocks: 6
retries: 0
shell: true
command: "sleep 0.02; echo '{\"done\": {rate}}'; ` + end + `"
measures: {done: {json: done, unit: /s, better: more}}
hypotheses:
  H1: {claim: The service does more., ratio: done, of: {rate: 9}, to: {rate: 5}, expect: "> 1.1"}
`)
	if err != nil {
		return Said{}, err
	}
	s := Said{Warned: trials[0].Outcome == assay.Crashed || trials[0].Outcome == assay.OOM, Reason: string(trials[0].Outcome),
		Text: fmt.Sprintf("exit %d %s; %s %s", trials[0].Exit, trials[0].Signal, f.Hypotheses[0].Verdict, f.Hypotheses[0].Reason)}
	if v := f.Hypotheses[0]; trap && (v.Verdict == assay.Pass || v.Verdict == assay.Fail) {
		s.wrongf("%s %s", v.Verdict, v.Reason)
	}
	return s, nil
}

func (b *Bench) restarted(health string) (Said, error) {
	port, err := freePort()
	if err != nil {
		return Said{}, err
	}
	_, trials, err := b.watched(fmt.Sprintf(`experiment: restarted
blocks: 1
retries: 0
target:
  api:
    command: [EXE]
    env: {TRAPS_SUBJECT: "server %[1]s service=%[2]s serial=yes"}
    ready: {http: "http://127.0.0.1:%[1]s/livez"}
    fresh: trial
    supervise: {http: "http://127.0.0.1:%[1]s%[3]s", timeout: 600ms, period: 200ms, failures: 1, do: restart}
load:
  http: {url: "http://127.0.0.1:%[1]s/score"}
  clients: 16
  for: 2s
  timeout: 1s
`, port, lasting(b.milliseconds(120, 200)), health))
	if err != nil {
		return Said{}, err
	}
	return voidedBy(trials, "target-restarted"), nil
}

func (b *Bench) idleKept(trap bool) (Said, error) {
	port, err := freePort()
	if err != nil {
		return Said{}, err
	}
	clients := 16 + b.Rand.IntN(10)
	limit := clients + 20
	if trap {
		limit = clients - 6
	}
	_, trials, err := b.watched(fmt.Sprintf(`experiment: kept
blocks: 1
retries: 0
target:
  api:
    command: [EXE]
    env: {TRAPS_SUBJECT: "server %[1]s service=30ms limit=%[2]d"}
    ready: {http: "http://127.0.0.1:%[1]s/livez"}
    fresh: trial
load:
  http: {url: "http://127.0.0.1:%[1]s/score"}
  clients: %[3]d
  think: 300ms
  for: 1500ms
  timeout: 2s
`, port, limit, clients))
	if err != nil {
		return Said{}, err
	}
	s := noted(trials, "shed: the target")
	if x := trials[0].Measures["in_flight"].Number; s.Warned && x > float64(clients)/2 {
		s.wrongf("%.1f in flight of %d clients", x, clients)
	}
	return s, nil
}

func (b *Bench) workers(trap bool) (Said, error) {
	port, err := freePort()
	if err != nil {
		return Said{}, err
	}
	k, lasts := 2+b.Rand.IntN(4), ""
	if trap {
		lasts = " " + lasting(b.milliseconds(1000, 1400))
	}
	_, trials, err := b.watched(fmt.Sprintf(`experiment: workers
blocks: 1
retries: 0
target:
  api:
    command: [EXE]
    env: {TRAPS_SUBJECT: "master %[1]s %[2]d%[3]s"}
    ready: {tcp: "127.0.0.1:%[1]s"}
    starts: %[2]d
    fresh: trial
command: [EXE]
env: {TRAPS_SUBJECT: "burn 0ms 2500ms"}
`, port, k, lasts))
	if err != nil {
		return Said{}, err
	}
	s := voidedBy(trials, "target-restarted")
	s.outcomes(trials, assay.OK)
	return s, nil
}

func (b *Bench) fewPorts(trap bool) (Said, error) {
	if os.Geteuid() != 0 {
		return Said{Noise: "a network of its own takes root"}, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return Said{}, err
	}
	low, n := 20000+b.Rand.IntN(20000), 8+b.Rand.IntN(16)
	if !trap {
		n = 20000
	}
	own := *b
	// The server's address is the last argument of what ports executes.
	if own.Assay, err = script(b.Dir, fmt.Sprintf(`shift 2; exec env "%s=ports %d %d %s load $* " %s`, SubjectVariable, low, low+n, b.Assay, exe)); err != nil {
		return Said{}, err
	}
	a, err := own.load("http://unused/", "--no-keep-alive", "--rate", "200/s", "--for", "1s", "--timeout", "1s")
	if err != nil {
		return Said{}, err
	}
	s := a.said("guard:generator", "no local port")
	s.Warned = s.Warned && a.voided("guard:generator") && a.Errors["ports"] > 0
	return s, nil
}

func (b *Bench) limited(trap bool) (Said, error) {
	limit := 1 << 30
	if trap {
		limit = 64 << 20
	}
	dir, remove, err := memoryGroup(limit)
	if err != nil {
		return Said{Noise: "no control group with a limit on memory: " + err.Error()}, nil
	}
	defer remove()
	if err := b.bigInput(80 + b.Rand.IntN(40)); err != nil {
		return Said{}, err
	}
	port, err := freePort()
	if err != nil {
		return Said{}, err
	}
	_, trials, err := b.watched(fmt.Sprintf(`experiment: limited
blocks: 1
retries: 0
target:
  store:
    command: [EXE]
    env: {TRAPS_SUBJECT: "join %[2]s cache %[1]s DIR/big"}
    ready: {tcp: "127.0.0.1:%[1]s"}
    fresh: trial
prepare: evict(DIR/big)
command: [EXE]
env: {TRAPS_SUBJECT: "rest 1500ms"}
`, port, dir))
	if err != nil {
		return Said{}, err
	}
	s := noted(trials, "clipped:")
	s.outcomes(trials, assay.OK)
	return s, nil
}

// bigInput makes a file of so many MiB, in parts.
func (b *Bench) bigInput(mib int) error {
	f, err := os.Create(filepath.Join(b.Dir, "big"))
	if err != nil {
		return err
	}
	defer f.Close()
	for range mib {
		if _, err := f.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
	}
	return nil
}

// A bystander is a shared thing that becomes slow while it is loaded.
type bystander struct {
	quick, slow time.Duration
	loaded      func() bool
}

func (s *bystander) ServeHTTP(_ http.ResponseWriter, _ *http.Request) {
	if s.loaded() {
		time.Sleep(s.slow)
	} else {
		time.Sleep(s.quick)
	}
}
