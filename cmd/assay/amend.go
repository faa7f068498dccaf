package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/spec"
	"github.com/assaybench/assay/store"
)

func newAmend() *cobra.Command {
	var out, reason string
	c := &cobra.Command{
		Use:   "amend FILE --reason TEXT",
		Short: "Append a dated amendment to a registration",
		Long: `Amend registers a changed experiment file over the one that was registered. The change is appended with
its date and reason; nothing is edited. A hypothesis whose bar, measure or guards changed after data
were recorded is exploratory from then on, and every output says so.`,
		Example: `  assay amend experiment.yaml --reason "the cap was too short for stream"`,
		Args:    one("FILE", "experiment.yaml"),
		RunE:    func(c *cobra.Command, args []string) error { return amendVerb(c, args[0], out, reason) },
	}
	c.Flags().StringVar(&out, "out", "", "results `folder` (default <experiment>.results beside the file)")
	c.Flags().StringVar(&reason, "reason", "", "why, in a sentence (required)")
	return c
}

func amendVerb(c *cobra.Command, arg, out, reason string) error {
	if reason == "" {
		return advise(fmt.Errorf("amend: no reason given"), "assay amend %s --reason 'what was wrong and what it is now'", arg)
	}
	file, err := readExperiment(arg)
	if err != nil {
		return err
	}
	folder, err := store.Open(file.resultsDir(out), lockPatience)
	if err != nil {
		return err
	}
	defer folder.Close()
	recs := folder.Contents()
	if !recs.Registered {
		return advise(fmt.Errorf("amend %s: nothing is registered in %s", file.path, folder.Dir()), "assay run %s", arg)
	}
	digest, err := spec.Digest(file.text)
	if err != nil {
		return err
	}
	if digest == recs.Registration.Current() {
		return fmt.Errorf("amend %s: it does not differ from what is registered", file.path)
	}
	changes, err := spec.Changes(recs.Amended(), file.text)
	if err != nil {
		return err
	}
	plan, err := assay.NewPlan(file.experiment, recs.Registration.Seed).Keeping(recs.Registration.CurrentPlan())
	if err != nil {
		return advise(fmt.Errorf("amend %s: %w", file.path, err), "assay run %s --out another folder", arg)
	}
	amendment := assay.Amendment{
		Time: time.Now().UTC().Truncate(time.Second), Reason: reason, Digest: digest, Changes: changes,
		Trials: len(recs.Trials), Plan: plan,
		Hypotheses: registered(file.experiment), File: string(file.text),
	}
	if err := folder.Amend(amendment); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "amended: %s\n", changesText(changes))
	if n := len(recs.Trials); n > 0 {
		fmt.Fprintf(c.OutOrStdout(), "%d trials are recorded; verdicts on what changed are exploratory\n", n)
	}
	return nil
}
