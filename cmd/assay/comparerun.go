package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/engine"
	"github.com/assaybench/assay/spec"
	"github.com/assaybench/assay/stat"
	"github.com/assaybench/assay/store"
)

// A comparisonRun carries a comparison out: it registers with the least number of blocks, executes the
// pilot block as the warm-up of the plan, amends the number of blocks by it and executes the rest.
type comparisonRun struct {
	*comparing
	folder *store.Folder
	keep   bool // the trials' files

	blocks   int          // of the plan in force
	say      func(string) // tells people what they may want to know meanwhile
	session  assay.Session
	progress *progress
	next     func([]assay.Trial) (engine.Step, bool)
	err      error // of fixing the number of blocks
}

// do executes the comparison. The error is that of the context after an interruption.
func (r *comparisonRun) do(c *cobra.Command, quiet bool) error {
	r.blocks = r.comparing.blocks
	if r.blocks == 0 {
		r.blocks = r.least()
	}
	file, err := r.register()
	if err != nil {
		return err
	}
	if r.session, err = joinSession(r.folder); err != nil {
		return err
	}
	mark, err := runMark(r.folder.Dir())
	if err != nil {
		return err
	}
	recs := r.folder.Contents()
	r.progress = newProgress(c.ErrOrStderr(), file.experiment, recs.Registration.Plan, nil, quiet || !onTerminal(c))
	defer r.progress.close()
	r.say = func(text string) {
		if !quiet {
			r.progress.mu.Lock()
			defer r.progress.mu.Unlock()
			r.progress.clear()
			fmt.Fprintln(c.ErrOrStderr(), "assay: "+text)
		}
	}
	r.follow()
	run := &engine.Run{Experiment: file.experiment, Folder: r.folder, Session: r.session, Mark: mark,
		Report: r.tell, Next: r.step}
	err = run.Do(c.Context())
	if r.err != nil {
		return r.err
	}
	return err
}

// onTerminal reports whether people see progress.
func onTerminal(c *cobra.Command) bool {
	f, ok := c.ErrOrStderr().(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// least is the least number of blocks that a pilot fixes: what an interval for so many comparisons
// takes, and leastBlocks.
func (m *comparing) least() int { return max(leastBlocks, m.fewest()) }

// fewest is the least number of blocks of which an interval can come.
func (m *comparing) fewest() int { return stat.MinBlocks(m.confidence()) }

// confidence is that of each comparison.
func (m *comparing) confidence() float64 { return 1 - 0.05/float64(len(m.pairs)) }

func (r *comparisonRun) register() (*experimentFile, error) {
	file, err := r.read(r.blocks)
	if err != nil {
		return nil, err
	}
	digest, err := spec.Digest(file.text)
	if err != nil {
		return nil, err
	}
	e := file.experiment
	return file, r.folder.Register(file.text, assay.Registration{
		Digest: digest, Time: time.Now().UTC().Truncate(time.Second), Version: version(), Seed: e.Seed,
		Plan: assay.NewPlan(e, e.Seed), Hypotheses: registered(e), Amendments: []assay.Amendment{},
	})
}

func (r *comparisonRun) follow() {
	reg := &r.folder.Contents().Registration
	r.next = following(reg.CurrentPlan(), reg.Seed, r.session, func() bool { return false })
}

// step is the next step. Once the pilot block is recorded, it fixes the number of blocks.
func (r *comparisonRun) step(trials []assay.Trial) (engine.Step, bool) {
	if len(trials) == len(r.arms) {
		if r.err = r.afterPilot(trials); r.err != nil {
			return engine.Step{}, false
		}
	}
	return r.next(trials)
}

// afterPilot refuses what could not be executed at all, and fixes the number of blocks.
func (r *comparisonRun) afterPilot(pilot []assay.Trial) error {
	failed := false
	for i := range pilot {
		t := &pilot[i]
		if t.Outcome == assay.Refused {
			return r.couldNot(t)
		}
		failed = failed || t.Outcome != assay.OK
	}
	if r.comparing.blocks != 0 || failed || len(pilot) == 0 {
		return nil // a command that fails is shown by the least number of blocks
	}
	took := time.Since(pilot[0].StartedAt)
	blocks := fitting(r.patience-took, took, r.least())
	if whole := took * time.Duration(blocks); whole > 2*r.patience && whole > time.Minute {
		r.say(fmt.Sprintf("%d blocks, the least that a comparison takes, need about %s; --blocks %d is the fewest that can decide",
			blocks, clock(whole), r.fewest()))
	}
	if blocks == r.blocks {
		return nil
	}
	r.blocks = blocks
	if err := r.amend(took); err != nil {
		return err
	}
	r.progress.replan(r.folder.Contents().Registration.CurrentPlan())
	r.follow()
	return nil
}

func (r *comparisonRun) couldNot(t *assay.Trial) error {
	why := t.RefusedBy[0]
	err := fmt.Errorf("compare: %q was not executed: %s", r.armOf(t.Cell).text, why)
	if !r.shell && strings.Contains(why, "find program") {
		return advise(err, "--shell if it is meant for a shell")
	}
	return err
}

// armOf is the arm of a cell.
func (m *comparing) armOf(cell assay.Cell) arm {
	i := slices.IndexFunc(m.arms, func(a arm) bool { return a.cell.Key() == cell.Key() })
	return m.arms[i]
}

// amend registers the number of blocks that the pilot fixed.
func (r *comparisonRun) amend(took time.Duration) error {
	file, err := r.file()
	if err != nil {
		return err
	}
	digest, err := spec.Digest(file.text)
	if err != nil {
		return err
	}
	recs := r.folder.Contents()
	return r.folder.Amend(assay.Amendment{
		Time: time.Now().UTC().Truncate(time.Second), Digest: digest, Changes: []string{"blocks"}, Trials: len(recs.Trials),
		Reason: fmt.Sprintf("the pilot block took %s; %d blocks for %s", assay.FormatDuration(took.Round(time.Millisecond)), r.blocks, assay.FormatDuration(r.patience)),
		Plan:   assay.NewPlan(file.experiment, recs.Registration.Seed), Hypotheses: registered(file.experiment), File: string(file.text),
	})
}

// file is the experiment file in force.
func (r *comparisonRun) file() (*experimentFile, error) { return r.read(r.blocks) }

// tell shows progress and, where results are not kept, removes what a trial wrote as soon as it is
// hashed, so that commands with much output do not fill the disk.
func (r *comparisonRun) tell(p engine.Progress) {
	r.progress.tell(p)
	if p.Phase == engine.Recorded && !r.keep && p.Trial.Outcome == assay.OK {
		// What cannot be removed now goes with the folder at the end.
		_ = os.RemoveAll(store.TrialPath(r.folder.Dir(), p.Trial.Trial))
	}
}

// place is where an interrupted comparison was, for people.
func (r *comparisonRun) place() string {
	block := 0
	for _, t := range r.folder.Contents().Trials {
		block = max(block, t.Block)
	}
	if block == 0 {
		return "the pilot block"
	}
	return fmt.Sprintf("block %d of %d", block, max(block, r.blocks))
}

// stderrOf is the path of a trial's standard error.
func (r *comparisonRun) stderrOf(trial int) string {
	return filepath.Join(store.TrialPath(r.folder.Dir(), trial), "stderr")
}
