package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
	"github.com/assaybench/assay/store"
)

// executeAll executes the plan and, as long as the experiment's refine rule asks for another level, the
// stage that it adds. It returns the experiment with all cells that were executed.
func executeAll(c *cobra.Command, file *experimentFile, folder *store.Folder, session assay.Session, quiet bool) (*assay.Experiment, error) {
	for {
		e, err := file.extended(folder.Contents().Registration.CurrentPlan())
		if err != nil {
			return file.experiment, err
		}
		if err := execute(c, e, folder, session, quiet); err != nil {
			return e, err
		}
		recut, ok := grade.Refine(gradeFolder(folder.Dir(), e, folder.Contents()))
		if !ok {
			return e, nil
		}
		if err := folder.Amend(file.recut(e, folder.Contents(), recut)); err != nil {
			return e, err
		}
		if !quiet {
			fmt.Fprintf(c.ErrOrStderr(), "%s; adding %s=%s\n", recut.Why, recut.Factor, recut.Level)
		}
	}
}

// recut is the record of a level that the registered rule added: the file is as it was, the plan has
// one stage more.
func (f *experimentFile) recut(e *assay.Experiment, recs *store.Contents, r grade.Recut) assay.Amendment {
	plan := recs.Registration.CurrentPlan().Recut(r.With, []assay.PlannedCell{{Cell: r.Cell}}, r.Blocks, r.Why)
	return assay.Amendment{
		Time: time.Now().UTC().Truncate(time.Second), Reason: fmt.Sprintf("%s; adding %s=%s", r.Why, r.Factor, r.Level),
		Digest: recs.Registration.Current(), Changes: []string{}, Trials: len(recs.Trials), Plan: plan,
		Hypotheses: registered(e), File: string(recs.Amended()),
	}
}
