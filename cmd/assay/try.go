package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/store"
)

func newTry() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "try FILE",
		Short: "One block, unregistered, never counted: does it work at all?",
		Long: `Try executes every cell once, registers nothing and keeps nothing but what failed. It shows what each
trial measured, which declared measures were missing, and what a failed command said.`,
		Example: `  assay try experiment.yaml`,
		Args:    one("FILE", "experiment.yaml"),
		RunE:    func(c *cobra.Command, args []string) error { return tryVerb(c, args[0], asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the trials as JSON")
	return c
}

func tryVerb(c *cobra.Command, arg string, asJSON bool) error {
	file, err := readExperiment(arg)
	if err != nil {
		return err
	}
	e := file.experiment
	tried, err := oneBlock(c, file)
	if err != nil {
		return err
	}
	bad := slices.ContainsFunc(tried.trials, func(t assay.Trial) bool { return t.Outcome != assay.OK || missing(e, &t) })
	if asJSON {
		err = printJSON(c, tried.trials)
	} else {
		printTried(c.OutOrStdout(), e, tried.trials, tried.dir, bad)
	}
	if err != nil {
		return err
	}
	if bad {
		return exitStatus(exitOpen)
	}
	return os.RemoveAll(tried.dir)
}

// tried is one unregistered block.
type tried struct {
	dir    string // of its files; whoever asked for the block removes it
	trials []assay.Trial
	took   time.Duration
}

// oneBlock executes every cell once, in a folder of its own that no verdict is made from.
func oneBlock(c *cobra.Command, file *experimentFile) (tried, error) {
	e := *file.experiment
	e.Blocks, e.Looks, e.Retries, e.Warmup = 1, nil, 0, 0
	one := *file
	one.experiment, one.unlisted = &e, true
	dir, err := os.MkdirTemp("", "assay-try-")
	if err != nil {
		return tried{}, fmt.Errorf("make folder for trials: %w", err)
	}
	folder, err := store.Open(dir, 0)
	if err != nil {
		return tried{}, err
	}
	defer folder.Close()
	if err := register(&one, folder); err != nil {
		return tried{}, err
	}
	session, err := joinSession(folder)
	if err != nil {
		return tried{}, err
	}
	began := time.Now()
	err = execute(c, &e, folder, session, true)
	return tried{dir: dir, trials: folder.Contents().Trials, took: time.Since(began)}, err
}

// pilotBlock is how long one block takes.
func pilotBlock(c *cobra.Command, file *experimentFile) (time.Duration, error) {
	t, err := oneBlock(c, file)
	if err != nil {
		return 0, err
	}
	return t.took, os.RemoveAll(t.dir)
}

// missing reports whether a declared measure of an ok trial was not found.
func missing(e *assay.Experiment, t *assay.Trial) bool {
	return t.Outcome == assay.OK && slices.ContainsFunc(t.Notes, func(n string) bool { return strings.HasPrefix(n, "measure ") })
}

// printTried shows one paragraph a trial.
func printTried(w io.Writer, e *assay.Experiment, trials []assay.Trial, dir string, bad bool) {
	for i := range trials {
		t := &trials[i]
		fmt.Fprintf(w, "%s: %s%s\n", t.Cell, t.Outcome, triedFigures(e, t))
		for _, why := range t.RefusedBy {
			fmt.Fprintf(w, "    %s\n", why)
		}
		for _, note := range t.Notes {
			if !strings.HasPrefix(note, "input ") {
				fmt.Fprintf(w, "    %s\n", note)
			}
		}
		if t.Outcome != assay.OK {
			printTail(w, filepath.Join(store.TrialPath(dir, t.Trial), "stderr"))
		}
	}
	if bad {
		fmt.Fprintf(w, "\nNot every trial gave what the experiment needs; their files are in %s\n", dir)
		return
	}
	fmt.Fprintf(w, "\nEvery cell works. Nothing was registered or counted.\n")
}

func triedFigures(e *assay.Experiment, t *assay.Trial) string {
	var parts []string
	for _, m := range e.Measures {
		if v, ok := t.Measures[m.Name]; ok && v.IsText {
			parts = append(parts, m.Name+" "+clip(v.Text, 20))
		} else if ok {
			parts = append(parts, m.Name+" "+report.One(v.Number, m.Unit, false))
		}
	}
	wall, _ := assay.BuiltinMeasure("wall")
	if v, ok := t.Measures[assay.MeasureKey(assay.MeasureRef{Name: "wall"})]; ok {
		parts = append(parts, "wall "+report.One(v.Number, wall.Unit, false))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, ", ")
}

// printTail shows the last lines of a failed command's standard error.
func printTail(w io.Writer, path string) {
	const most = 5
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	for _, line := range lines[max(0, len(lines)-most):] {
		fmt.Fprintf(w, "    stderr: %s\n", line)
	}
}
