package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/store"
)

// compareFlags are the flags of compare as they were given.
type compareFlags struct {
	blocks  int
	patient string // --for
	margin  string
	seed    uint64
	vary    []string
	shell   bool

	prepare, conclude, setup, cleanup []string

	json, markdown, csv, quiet bool
	export, save, out          string
}

func newCompare() *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare 'CMD A' 'CMD B' …",
		Short: "Which command is faster, and by how much? No file needed",
		Long: `Compare executes the commands interleaved in randomised blocks, each command once a block, and judges the
ratio of their wall times within blocks: an exact interval on its median, whatever the noise looks like.

One pilot block warms up; it is recorded and not counted. It fixes the number of blocks, 10 to 100, by what
fits into --for. Nothing is looked at before the last block is done.

Every command is compared with the first one. With --vary, the commands are compared at each combination of
levels; a single command is compared with itself, each level of the first --vary with that factor's first
level. The confidence is 1 - 0.05/k for k comparisons, so that all of them together are right in 19 of 20 cases.

The exit status is 0 when every comparison is decided, 3 when one is not, 4 after an interruption.`,
		Example: `  assay compare 'sort -n data' 'sort -g data'
  assay compare --for 2m --prepare 'evict(data)' 'sort -n data' 'sort -g data'
  assay compare --margin 5% './old' './new'            are they equally fast, within 5%?
  assay compare --vary n=1,2,4 'xz -T {n} -k -c data'  one command at several levels
  assay compare --shell 'ls | sort' 'find . | sort' --save sorts.yaml`,
		RunE: func(c *cobra.Command, args []string) error { return compareVerb(c, args, &f) },
	}
	f.define(c)
	return c
}

func (f *compareFlags) define(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVar(&f.blocks, "blocks", 0, "`number` of blocks, each of every command once (default: what fits into --for)")
	fl.StringVar(&f.patient, "for", "30s", "about how long to measure: a `time` such as 30s or 5m")
	fl.StringVar(&f.margin, "margin", "", "commands whose whole interval is within this `share` of each other, such as 5%, are the same")
	fl.Uint64Var(&f.seed, "seed", 1, "`number` that fixes the order of execution")
	fl.StringArrayVar(&f.vary, "vary", nil, "`name=level,level,…`: {name} in the commands stands for each level in turn")
	fl.BoolVar(&f.shell, "shell", false, "hand commands and hooks to sh")
	fl.StringArrayVar(&f.prepare, "prepare", nil, "`command` before each trial, not timed; evict(FILES) drops files from the page cache")
	fl.StringArrayVar(&f.conclude, "conclude", nil, "`command` after each trial, not timed")
	fl.StringArrayVar(&f.setup, "setup", nil, "`command` once before all trials")
	fl.StringArrayVar(&f.cleanup, "cleanup", nil, "`command` once after all trials")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.BoolVar(&f.markdown, "markdown", false, "print a Markdown table")
	fl.BoolVar(&f.csv, "csv", false, "print one CSV row a comparison")
	fl.BoolVar(&f.quiet, "quiet", false, "no progress; the answer in a sentence, with what was not counted")
	fl.StringVar(&f.export, "export-json", "", "write every trial to `file`, in hyperfine's form")
	fl.StringVar(&f.save, "save", "", "write the experiment `file` that does the same with assay run")
	fl.StringVar(&f.out, "out", "", "keep the results in `folder`")
}

// compareVerb compares; what it executes is an experiment file like any other.
func compareVerb(c *cobra.Command, args []string, f *compareFlags) error {
	m, err := f.comparing(args)
	if err != nil {
		return err
	}
	dir, err := f.folder()
	if err != nil {
		return err
	}
	if f.out == "" {
		defer os.RemoveAll(dir)
	}
	folder, err := store.Open(dir, lockPatience)
	if err != nil {
		return err
	}
	defer folder.Close()
	if folder.Contents().Registered {
		return advise(fmt.Errorf("compare: %s holds results already", dir), "--out another folder, or assay grade %s", dir)
	}
	run := &comparisonRun{comparing: m, folder: folder, keep: f.out != ""}
	err = run.do(c, f.quiet)
	if errors.Is(err, context.Canceled) {
		fmt.Fprintf(c.ErrOrStderr(), "assay: interrupted in %s; nothing is judged\n", run.place())
		return exitStatus(exitInterrupted)
	}
	if err != nil {
		return err
	}
	return f.conclusion(c, run)
}

// folder is where the trials go.
func (f *compareFlags) folder() (string, error) {
	if f.out != "" {
		return f.out, nil
	}
	dir, err := os.MkdirTemp("", "assay-compare-")
	if err != nil {
		return "", fmt.Errorf("make folder for trials: %w", err)
	}
	return dir, nil
}

// conclusion judges, writes and prints.
func (f *compareFlags) conclusion(c *cobra.Command, run *comparisonRun) error {
	file, err := run.file()
	if err != nil {
		return err
	}
	judged := findings(run.folder.Dir(), file.experiment, run.folder.Contents())
	if f.out != "" {
		if err := writeVerdicts(f.out, judged.Verdicts); err != nil {
			return err
		}
		if _, err := writeReport(f.out, judged); err != nil {
			return err
		}
	}
	if err := f.writeSaved(c, run); err != nil {
		return err
	}
	if err := f.writeExport(run, &judged); err != nil {
		return err
	}
	compared := run.compared(&judged)
	var counted int
	if compared.Warnings, counted = run.warnings(&judged); f.quiet {
		compared.Warnings = compared.Warnings[:counted]
	}
	if err := f.print(c, compared); err != nil {
		return err
	}
	for _, r := range compared.Comparisons {
		if r.Verdict == report.CannotTell {
			return exitStatus(exitOpen)
		}
	}
	return nil
}

func (f *compareFlags) print(c *cobra.Command, compared report.Comparison) error {
	w := c.OutOrStdout()
	if f.json || f.csv { // which have no place for sentences
		for _, text := range compared.Warnings {
			fmt.Fprintln(c.ErrOrStderr(), "assay: "+text)
		}
	}
	switch {
	case f.json:
		return printJSON(c, compared)
	case f.markdown:
		return report.CompareMarkdown(w, compared)
	case f.csv:
		return report.CompareCSV(w, compared)
	}
	width, colour := terminal(w)
	return report.CompareText(w, compared, width, f.quiet, colour)
}

// writeSaved writes the experiment file that does the same.
func (f *compareFlags) writeSaved(c *cobra.Command, run *comparisonRun) error {
	if f.save == "" {
		return nil
	}
	if err := os.WriteFile(f.save, run.text(run.blocks), 0o666); err != nil {
		return fmt.Errorf("save experiment file: %w", err)
	}
	here, err := os.Getwd()
	there, err2 := filepath.Abs(filepath.Dir(f.save))
	if err == nil && err2 == nil && here != there {
		fmt.Fprintf(c.ErrOrStderr(), "assay: commands in %s start in its own folder, not in %s\n", f.save, here)
	}
	return nil
}

func (f *compareFlags) writeExport(run *comparisonRun, judged *report.Findings) error {
	if f.export == "" {
		return nil
	}
	return writeFile(f.export, func(w io.Writer) error { return report.Hyperfine(w, run.timings(judged)) })
}

// writeFile creates or replaces a file.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), file.Close())
	}
	return file.Close()
}

// comparing checks the flags and arguments and says what they ask for.
func (f *compareFlags) comparing(args []string) (*comparing, error) {
	m := &comparing{shell: f.shell, seed: f.seed, blocks: f.blocks,
		prepare: f.prepare, conclude: f.conclude, setup: f.setup, cleanup: f.cleanup}
	formats := 0
	for _, on := range []bool{f.json, f.markdown, f.csv} {
		if on {
			formats++
		}
	}
	if formats > 1 {
		return nil, errors.New("compare: --json, --markdown and --csv exclude each other")
	}
	var err error
	if m.patience, err = assay.ParseDuration(f.patient); err != nil || m.patience <= 0 {
		return nil, fmt.Errorf("compare: --for %q: want a time above 0 with its unit, such as 30s", f.patient)
	}
	if f.blocks < 0 || f.blocks > mostAskedBlocks {
		return nil, fmt.Errorf("compare: --blocks %d: want a number from 1 to %d", f.blocks, mostAskedBlocks)
	}
	if f.seed >= 1<<53 {
		return nil, fmt.Errorf("compare: --seed %d: want a number below 2^53", f.seed)
	}
	if m.margin, err = marginOf(f.margin); err != nil {
		return nil, err
	}
	if f.save != "" {
		if _, err := os.Stat(f.save); err == nil {
			return nil, advise(fmt.Errorf("compare: --save %s: the file is there already", f.save), "another name")
		}
	}
	if err := m.take(args, f.vary); err != nil {
		return nil, err
	}
	return m, m.check()
}

// marginOf reads a margin: a share between 0 and 1, or 0 for an empty text.
func marginOf(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	q, err := assay.ParseQuantity(text)
	if x := q.Base(); err == nil && q.Unit.Dim == (assay.Dimension{}) && x > 0 && x < 1 {
		return x, nil
	}
	return 0, fmt.Errorf("compare: --margin %q: want a share between 0 and 1, such as 5%% or 0.05", text)
}

// mostAskedBlocks bounds --blocks.
const mostAskedBlocks = 100_000

// Bounds on the number of blocks that a pilot block fixes. Ten decide a single comparison with room
// for one outlier; beyond a hundred the interval gets narrower by little.
const (
	leastBlocks = 10
	mostBlocks  = 100
)

// fitting is the number of blocks that fit into what is left of the time, within their bounds.
func fitting(left, each time.Duration, least int) int {
	n := mostBlocks
	if each > 0 {
		n = int(min(left/each, mostBlocks))
	}
	return max(n, least)
}
