package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/driver"
	"github.com/assaybench/assay/engine"
	"github.com/assaybench/assay/grade"
	"github.com/assaybench/assay/machine"
	"github.com/assaybench/assay/spec"
	"github.com/assaybench/assay/store"
	"github.com/assaybench/assay/target"
)

// lockPatience is how long a run waits for a process that is just letting go of the folder.
const lockPatience = 3 * time.Second

type runFlags struct {
	out   string
	quiet bool
	json  bool
}

func newRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Register, execute the plan, grade, write the report; goes on where it was stopped",
		Long: `Run registers the experiment's predictions, executes the plan block by block, grades every hypothesis
from the recorded trials and writes verdicts.json and report.html into the results folder.
Stopped at any moment, it goes on from the recorded trials when it is called again.`,
		Example: `  assay run experiment.yaml
  assay run examples/inflight --out /tmp/inflight`,
		Args: one("FILE", "experiment.yaml"),
		RunE: func(c *cobra.Command, args []string) error { return runVerb(c, args[0], f) },
	}
	c.Flags().StringVar(&f.out, "out", "", "results `folder` (default <experiment>.results beside the file)")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "no progress; the scorecard with every void and refusal named")
	c.Flags().BoolVar(&f.json, "json", false, "print verdicts.json instead of the scorecard")
	return c
}

func runVerb(c *cobra.Command, arg string, f runFlags) error {
	file, err := readExperiment(arg)
	if err != nil {
		return err
	}
	folder, err := store.Open(file.resultsDir(f.out), lockPatience)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := register(file, folder); err != nil {
		return err
	}
	if text := mentionEarlier(folder.Contents().Registration.Earlier); text != "" && !f.quiet {
		fmt.Fprintln(c.ErrOrStderr(), "assay: "+text)
	}
	session, err := joinSession(folder)
	if err != nil {
		return err
	}
	e, runErr := executeAll(c, file, folder, session, f.quiet)
	if runErr != nil && !errors.Is(runErr, context.Canceled) {
		return runErr
	}
	out := output{quiet: f.quiet, json: f.json}
	if runErr == nil {
		return conclude(c, folder, e, out)
	}
	// What there is so far can be looked at, but it answers nothing yet.
	if _, err := derive(folder, e); err != nil {
		return err
	}
	recs := folder.Contents()
	fmt.Fprintf(c.ErrOrStderr(), "assay: interrupted after %d of %d trials; assay run %s goes on from here\n",
		finishedTrials(recs.Trials), plannedTrials(recs.Registration.CurrentPlan()), arg)
	return exitStatus(exitInterrupted)
}

// finishedTrials counts the trials that will not be executed again.
func finishedTrials(trials []assay.Trial) (n int) {
	for i := range trials {
		if trials[i].Outcome != assay.Interrupted {
			n++
		}
	}
	return n
}

// register registers the experiment, or sees that it is the one registered.
func register(file *experimentFile, folder *store.Folder) error {
	digest, err := spec.Digest(file.text)
	if err != nil {
		return err
	}
	recs := folder.Contents()
	if !recs.Registered {
		return registerNew(file, folder, digest)
	}
	if recs.Registration.Current() == digest {
		return nil
	}
	changes, err := spec.Changes(recs.Amended(), file.text)
	if err != nil {
		return err
	}
	return advise(fmt.Errorf("run %s: it changed since it was registered in %s: %s", file.path, folder.Dir(), changesText(changes)),
		"assay amend %s --reason '…' (verdicts on what changed become exploratory), or --out another folder", file.path)
}

// registerNew registers the experiment and lists it among this machine's registrations.
func registerNew(file *experimentFile, folder *store.Folder, digest string) error {
	dir, err := runMark(folder.Dir())
	if err != nil {
		return err
	}
	r := newRegistration(file, digest)
	r.Earlier = earlierRegistrations(file.experiment, dir)
	if err := folder.Register(file.text, r); err != nil {
		return err
	}
	if file.unlisted {
		return nil
	}
	return listRegistration(file.experiment, r, dir)
}

func newRegistration(file *experimentFile, digest string) assay.Registration {
	e := file.experiment
	commit, dirty := file.commit()
	r := assay.Registration{
		Digest: digest, Time: time.Now().UTC().Truncate(time.Second), Commit: commit, Dirty: dirty,
		Version: version(), Seed: e.Seed, Plan: assay.NewPlan(e, e.Seed), Amendments: []assay.Amendment{},
	}
	r.Hypotheses = registered(e)
	return r
}

func registered(e *assay.Experiment) []assay.Registered {
	list := []assay.Registered{}
	for _, h := range e.Hypotheses {
		list = append(list, assay.Registered{ID: h.ID, Claim: h.Claim, Rule: spec.Rule(h)})
	}
	return list
}

func changesText(changes []string) string {
	const most = 6
	text := ""
	for i, name := range changes {
		if i == most {
			return text + fmt.Sprintf(" and %d more", len(changes)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

// joinSession adds this host and boot to host.json, if it is not there.
func joinSession(folder *store.Folder) (assay.Session, error) {
	session, err := machine.Session(time.Now().UTC().Truncate(time.Second))
	if err != nil {
		return session, fmt.Errorf("read machine: %w", err)
	}
	host := folder.Contents().Host
	for _, s := range host.Sessions {
		if s.ID == session.ID {
			return s, nil
		}
	}
	host.Sessions = append(host.Sessions, session)
	if host.Ceilings = merged(knownCeilings(session), host.Ceilings); host.Ceilings == nil {
		host.Ceilings = []assay.Measured{}
	}
	return session, folder.SetHost(host)
}

func execute(c *cobra.Command, e *assay.Experiment, folder *store.Folder, session assay.Session, quiet bool) error {
	mark, err := runMark(folder.Dir())
	if err != nil {
		return err
	}
	if n := target.SweepLeftovers(mark); n > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "assay: ended %d processes that an earlier run had left\n", n)
	}
	plan, seed := folder.Contents().Registration.CurrentPlan(), folder.Contents().Registration.Seed
	progress := newProgress(c.ErrOrStderr(), e, plan, folder.Contents().Trials, quiet)
	defer progress.close()
	run := &engine.Run{
		Experiment: e, Folder: folder, Session: session, Mark: mark, Report: progress.tell, Driver: driver.New,
		Next: following(plan, seed, session, func() bool { return decided(e, folder) }),
	}
	return run.Do(c.Context())
}

// following names the step that follows the trials recorded so far; decided says whether the verdicts
// are decided at the look just reached.
func following(plan assay.Plan, seed uint64, session assay.Session, decided func() bool) func([]assay.Trial) (engine.Step, bool) {
	schedule, added := grade.NewSchedule(plan, seed), 0
	return func(trials []assay.Trial) (engine.Step, bool) {
		for ; added < len(trials); added++ {
			schedule.Add(&trials[added])
		}
		s, ok := schedule.Next(session.ID, func(int) bool { return decided() })
		return engine.Step(s), ok
	}
}

// runMark identifies the processes of runs into one folder on this machine.
func runMark(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// decided reports whether every hypothesis is decided by the blocks of the look just reached.
func decided(e *assay.Experiment, folder *store.Folder) bool {
	for _, v := range grade.Judge(gradeFolder(folder.Dir(), e, folder.Contents())).Verdicts.Hypotheses {
		if v.Verdict == assay.Undecided {
			return false
		}
	}
	return true
}
