package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/machine"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/store"
)

// quick are the terms of a measurement that is over within seconds: fewer and shorter runs over a
// smaller file, hence wider intervals and a disk whose cache is not exhausted.
const (
	quickRuns = 5
	quickFor  = 20 * time.Millisecond
	quickSize = 32 << 20
)

type machineFlags struct {
	dir, out    string
	quick, json bool
}

// machineAnswer is what assay machine --json prints.
type machineAnswer struct {
	Session  assay.Session    `json:"session"`
	Ceilings []assay.Measured `json:"ceilings"`
	Absent   []string         `json:"absent"`
}

func newMachine() *cobra.Command {
	var f machineFlags
	c := &cobra.Command{
		Use:   "machine",
		Short: "Measure what this machine can do at most: clock, cores, memory, loopback, disk",
		Long: `Machine measures ceilings, each with its spread and how it was measured, so that a figure can stand
beside what is possible: wake-ups and the clock, scaling over cores, memory bandwidth, round trips and
bandwidth over loopback, the disk of --dir past the page cache. It uses the machine hard for about half
a minute; nothing else should be measured meanwhile. They are kept for this machine as it is: a new
results folder begins with them, grade and report set figures beside them, conditions such as needs:
bandwidth(memory) read them, and a figure far beyond what is possible voids its trial. With --out they
are kept in a results folder that is there already.`,
		Example: `  assay machine
  assay machine --dir /mnt/data --out inflight.results
  assay machine --quick --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return machineVerb(c, f) },
	}
	c.Flags().StringVar(&f.dir, "dir", ".", "`folder` whose disk is measured; empty leaves the disk out")
	c.Flags().StringVar(&f.out, "out", "", "results `folder` whose host.json keeps the ceilings")
	c.Flags().BoolVar(&f.quick, "quick", false, "a few seconds: fewer and shorter runs, wider intervals")
	c.Flags().BoolVar(&f.json, "json", false, "print them as JSON")
	return c
}

func machineVerb(c *cobra.Command, f machineFlags) error {
	if f.out != "" {
		// Store would make the folder: a name that was mistyped must not become one.
		if _, err := os.Stat(f.out); err != nil {
			return advise(fmt.Errorf("keep ceilings in %s: %w", f.out, err), "assay run FILE makes the results folder")
		}
	}
	session, err := machine.Session(time.Now().UTC().Truncate(time.Second))
	if err != nil {
		return fmt.Errorf("read machine: %w", err)
	}
	what := machine.Ceilings{Dir: f.dir}
	if f.quick {
		what.Runs, what.For, what.Size = quickRuns, quickFor, quickSize
	}
	list, absent, err := measureCeilings(c.Context(), what)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Fingerprint = machine.FingerprintDigest(session.Fingerprint)
	}
	if err := rememberCeilings(list); err != nil {
		return err
	}
	if f.out != "" {
		if err := keepCeilings(f.out, list); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(c, machineAnswer{Session: session, Ceilings: list, Absent: absent})
	}
	return printCeilings(c.OutOrStdout(), list, absent)
}

// measureCeilings has lists where JSON must not show null.
func measureCeilings(ctx context.Context, what machine.Ceilings) ([]assay.Measured, []string, error) {
	list, absent, err := what.Measure(ctx)
	if list == nil {
		list = []assay.Measured{}
	}
	if absent == nil {
		absent = []string{}
	}
	return list, absent, err
}

// keepCeilings puts the ceilings into the folder's host.json in the place of older ones of the same
// name: a ceiling is of the host as it is, and figures are set beside the newest.
func keepCeilings(dir string, list []assay.Measured) error {
	folder, err := store.Open(dir, lockPatience)
	if err != nil {
		return err
	}
	defer folder.Close()
	if _, err := joinSession(folder); err != nil {
		return err
	}
	host := folder.Contents().Host
	host.Ceilings = merged(host.Ceilings, list)
	return folder.SetHost(host)
}

func merged(old, list []assay.Measured) []assay.Measured {
	out := slices.Clone(list)
	for _, o := range old {
		if !slices.ContainsFunc(list, func(m assay.Measured) bool {
			return m.Name == o.Name && m.Where == o.Where && (m.Fingerprint == o.Fingerprint || o.Fingerprint == "")
		}) {
			out = append(out, o)
		}
	}
	return out
}

func printCeilings(w io.Writer, list []assay.Measured, absent []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ceiling\tmedian\tlow\thigh\t")
	for _, m := range list {
		unit, err := assay.ParseUnit(m.Unit)
		if err != nil {
			return fmt.Errorf("print ceiling %s: %w", m.Name, err)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", m.Name, report.One(m.Value, unit, false), report.One(m.Low, unit, false), report.One(m.High, unit, false))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, m := range list {
		fmt.Fprintf(w, "%s: %s\n", m.Name, m.Method)
	}
	for _, a := range absent {
		fmt.Fprintf(w, "absent: %s\n", a)
	}
	return nil
}
