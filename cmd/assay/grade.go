package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/store"
)

type gradeFlags struct {
	output
	require string
}

// output says how findings are printed.
type output struct {
	quiet bool
	json  bool
}

func newGrade() *cobra.Command {
	var f gradeFlags
	c := &cobra.Command{
		Use:   "grade DIR",
		Short: "Verdicts from a results folder alone",
		Long: `Grade verifies the chain of recorded trials, grades every registered hypothesis from them and writes
verdicts.json. Nothing but the folder is read; the same folder gives the same bytes.`,
		Example: `  assay grade inflight.results
  assay grade inflight.results --json
  assay grade inflight.results --require PASS`,
		Args: one("DIR", "experiment.results"),
		RunE: func(c *cobra.Command, args []string) error { return gradeVerb(c, args[0], f) },
	}
	c.Flags().BoolVar(&f.json, "json", false, "print verdicts.json instead of the scorecard")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "the scorecard with every void and refusal named, nothing else")
	c.Flags().StringVar(&f.require, "require", "", "exit with 1 unless every hypothesis has this `verdict`")
	return c
}

func gradeVerb(c *cobra.Command, dir string, f gradeFlags) error {
	if f.require != "" && !slices.Contains([]string{"PASS", "FAIL", "UNDECIDED", "UNTESTED", "VOID"}, f.require) {
		return fmt.Errorf("--require %q: want PASS, FAIL, UNDECIDED, UNTESTED or VOID", f.require)
	}
	findings, err := folderFindings(dir)
	if err != nil {
		return err
	}
	if err := writeVerdicts(dir, findings.Verdicts); err != nil {
		return err
	}
	if err := f.print(c, findings); err != nil {
		return err
	}
	for _, h := range findings.Verdicts.Hypotheses {
		if f.require != "" && string(h.Verdict) != f.require {
			return exitStatus(exitFail)
		}
	}
	return findingsStatus(findings)
}

// conclude grades what a run recorded, writes what is derived and prints it.
func conclude(c *cobra.Command, folder *store.Folder, e *assay.Experiment, out output) error {
	f, err := derive(folder, e)
	if err != nil {
		return err
	}
	if err := out.print(c, f); err != nil {
		return err
	}
	if !out.json && !out.quiet {
		fmt.Fprintf(c.OutOrStdout(), "\nreport: %s\n", filepath.Join(folder.Dir(), store.ReportFile))
	}
	return findingsStatus(f)
}

// derive grades what a run recorded and writes verdicts.json and report.html.
func derive(folder *store.Folder, e *assay.Experiment) (report.Findings, error) {
	f := findings(folder.Dir(), e, folder.Contents())
	if err := writeVerdicts(folder.Dir(), f.Verdicts); err != nil {
		return f, err
	}
	_, err := writeReport(folder.Dir(), f)
	return f, err
}

func (o output) print(c *cobra.Command, f report.Findings) error {
	if o.json {
		return printJSON(c, f.Verdicts)
	}
	width, colour := terminal(c.OutOrStdout())
	return report.Text(c.OutOrStdout(), f, width, o.quiet, colour)
}

func findingsStatus(f report.Findings) error {
	return verdictStatus(f.Verdicts, f.Trials, f.Unrepeated)
}

func printJSON(c *cobra.Command, v any) error { return encodeJSON(c.OutOrStdout(), v) }

func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
