package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/store"
)

// A Step is the trial to execute next.
type Step struct {
	Block    int // 0 for a warm-up
	Position int // in the block, counted from 1
	Cell     int // index into Plan.Cells
	Warmup   bool
}

// A Run is the execution of a registered plan into a results folder.
type Run struct {
	Experiment *assay.Experiment
	Folder     *store.Folder
	Session    assay.Session
	// Next names the step that follows the recorded trials; ok is false when the plan is done.
	Next func(trials []assay.Trial) (step Step, ok bool)
	// Report is told of what happens, in order, from one goroutine; nil for nobody.
	Report func(Progress)
	// Mark goes into the environment of every process of the run as ASSAY_RUN.
	Mark string
	// Limit is how many trials to execute at most; 0 is all of them.
	Limit int

	// Driver opens the driver that a load names; nil where no cell has a load.
	Driver func(l assay.Load, values map[string]string, seed uint64) (load.Driver, error)

	settings map[string]*assay.Setting
	services services
	idle     map[string]time.Duration // how a probe answers while nothing is executed
	stats    map[string][]string      // statistics to record of each time of operations
	files    fingerprints
	first    map[string]string // digest by executable or input file, of the first trial that used it
	right    oracles
	leaks    leaks
	// calibration is how long the calibration took when the folder first asked for it.
	calibration time.Duration
	asides      []string // notes for the next trial
}

// A Phase says where in a trial a run stands.
type Phase string

// The phases, in order.
const (
	Started  Phase = "started"
	Waiting  Phase = "waiting" // for a gate
	Running  Phase = "running"
	Recorded Phase = "recorded"
)

// Progress is what a run tells while it goes on.
type Progress struct {
	Phase Phase
	Step  Step
	Cell  assay.Cell
	Trial assay.Trial // whole when Phase is Recorded
	Gate  string      // the condition waited for
	Done  int         // counted trials so far
}

// Do executes trials until the plan is done, ctx ends or the folder cannot be written. An end by
// ctx is ctx's error; the trial under way is then recorded as interrupted.
func (r *Run) Do(ctx context.Context) (err error) {
	r.prepare()
	if err := r.calibrate(ctx); err != nil {
		return err
	}
	undo, err := r.settle()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, undo()) }()
	defer r.services.stopAll()
	executed := 0
	for {
		step, ok := r.Next(r.Folder.Contents().Trials)
		if !ok || r.Limit > 0 && executed >= r.Limit {
			break
		}
		if executed == 0 {
			if err := r.hooks(ctx, r.Experiment.Setup, r.builtins(step, 0), "", "setup"); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.cleanup(ctx)) }()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.step(ctx, step); err != nil {
			return err
		}
		executed++
	}
	return ctx.Err()
}

// cleanup is carried out after an interruption too, within a bound of its own.
func (r *Run) cleanup(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return r.hooks(ctx, r.Experiment.Clean, r.builtins(Step{}, 0), "", "cleanup")
}

func (r *Run) prepare() {
	r.settings = make(map[string]*assay.Setting, len(r.Experiment.Settings))
	for i := range r.Experiment.Settings {
		s := &r.Experiment.Settings[i]
		r.settings[s.Cell.Key()] = s
	}
	r.files, r.idle, r.stats = fingerprints{}, map[string]time.Duration{}, wantedStats(r.Experiment)
	r.services.run = r
	r.first, r.right = map[string]string{}, oracles{}
	for _, t := range r.Folder.Contents().Trials {
		for name, digest := range trialDigests(&t) {
			if _, ok := r.first[name]; !ok {
				r.first[name] = digest
			}
		}
		r.right.consult(&t, r.Experiment.Measures, func(string, string) {}) // judged when it was recorded
	}
}

func (r *Run) step(ctx context.Context, step Step) error {
	recs := r.Folder.Contents()
	plan := recs.Registration.CurrentPlan()
	cell := plan.Cells[step.Cell].Cell
	setting := r.settings[cell.Key()]
	if setting == nil {
		return fmt.Errorf("execute cell %s: it is in the registered plan, but no longer in the experiment", cell)
	}
	number := len(recs.Trials) + 1
	dir, err := r.Folder.TrialDir(number)
	if err != nil {
		return err
	}
	t := &trial{run: r, setting: setting, dir: dir, step: step,
		values: r.builtins(step, number),
		record: assay.Trial{
			Trial: number, Block: step.Block, Position: step.Position, Cell: cell, Warmup: step.Warmup,
			Session: r.Session.ID, Registration: recs.Registration.Current(), Valid: true,
			VoidBy: []string{}, RefusedBy: []string{}, Measures: map[string]assay.Value{},
			Achieved: map[string]assay.Value{}, Gates: []assay.GateReading{}, Notes: []string{},
		}}
	r.tell(Progress{Phase: Started, Step: step, Cell: cell})
	t.record.Notes, r.asides = append(t.record.Notes, r.asides...), nil
	t.execute(ctx)
	if err := r.Folder.Append(t.record); err != nil {
		return err
	}
	r.tell(Progress{Phase: Recorded, Step: step, Cell: cell, Trial: t.record})
	return nil
}

func (r *Run) tell(p Progress) {
	if r.Report != nil {
		r.Report(p)
	}
}

// builtins are the values of {block}, {trial} and {seed}. The seed is of the block, so that all
// cells of a block see the same arrivals and the same input.
func (r *Run) builtins(step Step, trial int) map[string]string {
	seed := r.Folder.Contents().Registration.Seed + uint64(step.Block)
	return map[string]string{
		"block": strconv.Itoa(step.Block),
		"trial": strconv.Itoa(trial),
		"seed":  strconv.FormatUint(seed%(1<<53), 10), // exact in every language's numbers
	}
}
