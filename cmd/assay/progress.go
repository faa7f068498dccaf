package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/engine"
	"github.com/assaybench/assay/report"
)

// pipeWidth is the width of text that does not go to a terminal.
const pipeWidth = 80

// terminal is the width of w and whether colours are welcome there.
func terminal(w io.Writer) (width int, colour bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return pipeWidth, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = pipeWidth
	}
	return width, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// A progress shows people how a run goes on: one live line on a terminal, one line a trial on a pipe.
type progress struct {
	mu     sync.Mutex
	w      io.Writer
	plan   assay.Plan
	unit   map[string]assay.Unit
	shown  []string // measures shown of each trial
	live   bool
	quiet  bool
	width  int
	start  time.Time
	total  int          // trials of the plan
	done   int          // recorded trials of the plan
	fresh  int          // recorded in this process
	spoilt int          // void or refused
	again  map[int]bool // blocks with a spoilt trial: each is executed again, whole
	now    engine.Progress
	since  time.Time
	last   string
	stop   chan struct{}
	idle   sync.WaitGroup
}

func newProgress(w io.Writer, e *assay.Experiment, plan assay.Plan, trials []assay.Trial, quiet bool) *progress {
	p := &progress{w: w, plan: plan, quiet: quiet, start: time.Now(), stop: make(chan struct{}),
		unit: map[string]assay.Unit{}, total: plannedTrials(plan), again: map[int]bool{}}
	for _, m := range e.Measures {
		p.unit[m.Name] = m.Unit
		p.shown = append(p.shown, m.Name)
	}
	for i := range trials {
		p.count(&trials[i])
	}
	p.fresh = 0
	f, ok := w.(*os.File)
	p.live = ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && !quiet
	if p.live {
		p.width, _ = terminal(w)
		p.idle.Go(p.tick)
	}
	return p
}

// replan goes on with another plan of the same cells.
func (p *progress) replan(plan assay.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += len(plan.Cells) * (plan.Blocks - p.plan.Blocks)
	p.plan = plan
}

// plannedTrials is how many trials a plan has, warm-ups and stages included.
func plannedTrials(plan assay.Plan) int {
	n := plan.Main() * (plan.Blocks + plan.Warmup)
	for _, s := range plan.Stages {
		n += s.Blocks * len(s.Cells)
	}
	return n
}

// tick redraws the live line, so that the clock moves while a trial goes on.
func (p *progress) tick() {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

func (p *progress) close() {
	close(p.stop)
	p.idle.Wait()
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func (p *progress) count(t *assay.Trial) {
	if t.Outcome == assay.Interrupted {
		return
	}
	p.done, p.fresh = p.done+1, p.fresh+1
	if !t.Valid || t.Outcome == assay.Refused {
		p.spoilt++
		if !t.Warmup && !p.again[t.Block] {
			p.again[t.Block] = true
			p.total += p.plan.Main() // unless its retries are spent
		}
	}
}

// tell takes in what the engine says.
func (p *progress) tell(e engine.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.since = e, time.Now()
	if e.Phase == engine.Recorded {
		p.count(&e.Trial)
		p.last = p.figures(&e.Trial)
		if !p.quiet && (!p.live || !e.Trial.Valid || e.Trial.Outcome != assay.OK) {
			p.clear()
			fmt.Fprintln(p.w, p.line(&e.Trial))
		}
	}
	p.draw()
}

func (p *progress) clear() {
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func (p *progress) draw() {
	if !p.live || p.now.Phase == "" {
		return
	}
	parts := []string{p.place(p.now.Step), fmt.Sprintf("%d/%d", p.done, p.total), clock(time.Since(p.start))}
	if eta, ok := p.eta(); ok {
		parts = append(parts, clock(eta)+" left")
	}
	if p.spoilt > 0 {
		parts = append(parts, fmt.Sprintf("%d void", p.spoilt))
	}
	doing := p.now.Cell.String()
	if p.now.Phase == engine.Waiting {
		doing += " waits for " + p.now.Gate
	}
	parts = append(parts, doing)
	if p.last != "" {
		parts = append(parts, "last "+p.last)
	}
	fmt.Fprint(p.w, "\r\x1b[K"+fit(parts, p.width-1))
}

// fit joins parts as long as they fit into width columns; the first that does not is cut if little
// else would stand there.
func fit(parts []string, width int) string {
	const gap = "  "
	text := ""
	for i, part := range parts {
		next := part
		if i > 0 {
			next = text + gap + part
		}
		if len([]rune(next)) > width {
			if len([]rune(text)) < width/2 {
				return clip(next, width)
			}
			return text
		}
		text = next
	}
	return text
}

// place is where in the plan a step stands.
func (p *progress) place(s engine.Step) string {
	if s.Warmup {
		return "warm-up"
	}
	if s.Block > p.plan.Blocks { // a spoilt block again, or one of a refined level
		return fmt.Sprintf("extra block %d", s.Block)
	}
	return fmt.Sprintf("block %d of %d", s.Block, p.plan.Blocks)
}

func (p *progress) eta() (time.Duration, bool) {
	if p.fresh == 0 {
		return 0, false
	}
	left := max(0, p.total-p.done)
	return time.Since(p.start) / time.Duration(p.fresh) * time.Duration(left), true
}

// line is one trial on a pipe.
func (p *progress) line(t *assay.Trial) string {
	s := fmt.Sprintf("%s  trial %d  %s  %s", p.place(p.now.Step), t.Trial, t.Cell, t.Outcome)
	if !t.Valid {
		s += "  void by " + strings.Join(t.VoidBy, ", ")
	}
	if len(t.RefusedBy) > 0 {
		s += "  refused by " + strings.Join(t.RefusedBy, ", ")
	}
	if f := p.figures(t); f != "" {
		s += "  " + f
	}
	if eta, ok := p.eta(); ok && !p.live {
		s += "  (" + clock(eta) + " left)"
	}
	return s
}

// figures are a trial's first declared measures, or its wall time.
func (p *progress) figures(t *assay.Trial) string {
	const most = 2
	var parts []string
	for _, name := range p.shown {
		if v, ok := t.Measures[name]; ok && !v.IsText && len(parts) < most {
			parts = append(parts, name+" "+report.One(v.Number, p.unit[name], false))
		}
	}
	if len(parts) == 0 {
		wall, _ := assay.BuiltinMeasure("wall")
		if v, ok := t.Measures[assay.MeasureKey(assay.MeasureRef{Name: "wall"})]; ok {
			parts = append(parts, "wall "+report.One(v.Number, wall.Unit, false))
		}
	}
	return strings.Join(parts, ", ")
}

// clock is a time in whole seconds, for people.
func clock(d time.Duration) string {
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	if d < time.Hour {
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// clip cuts text to width columns.
func clip(s string, width int) string {
	if r := []rune(s); len(r) > width && width > 1 {
		return string(r[:width-1]) + "…"
	}
	return s
}
