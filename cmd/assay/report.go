package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay/report"
)

// exports are the forms in which a results folder leaves for other tools.
func exports() map[string]func(io.Writer, report.Findings) error {
	return map[string]func(io.Writer, report.Findings) error{
		"csv": report.CSV, "benchfmt": report.Benchfmt, "markdown": report.Markdown, "junit": report.JUnit,
	}
}

func newReport() *cobra.Command {
	var asJSON bool
	var format string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "report.html, or an export, from a results folder alone",
		Long: `Report writes report.html into the folder, or prints an export: csv (one row a trial), benchfmt (which
benchstat reads), markdown (for a pull request), junit (for continuous integration).`,
		Example: `  assay report inflight.results
  assay report inflight.results --format markdown
  assay report inflight.results --format junit > verdicts.xml`,
		Args: one("DIR", "experiment.results"),
		RunE: func(c *cobra.Command, args []string) error {
			export := exports()[format]
			if format != "html" && export == nil {
				return fmt.Errorf("--format %q: want html, %s", format, strings.Join(slices.Sorted(maps.Keys(exports())), ", "))
			}
			findings, err := folderFindings(args[0])
			if err != nil {
				return err
			}
			if export != nil {
				return export(c.OutOrStdout(), findings)
			}
			path, err := writeReport(args[0], findings)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c, map[string]string{"report": path})
			}
			fmt.Fprintln(c.OutOrStdout(), path)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the report's path as JSON")
	c.Flags().StringVar(&format, "format", "html", "html, csv, benchfmt, markdown or junit")
	return c
}
