package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/spec"
)

type newFlags struct {
	command string
	http    string
	compare []string
	out     string
}

func newNew() *cobra.Command {
	var f newFlags
	c := &cobra.Command{
		Use:   "new",
		Short: "Write a commented experiment file to start from",
		Long: `New asks nothing and writes an experiment file that works as it stands, with a comment at every key.
A {name} in the command becomes a factor. An existing file is never overwritten.`,
		Example: `  assay new --command './reader --inflight {inflight}'
  assay new --http http://127.0.0.1:8080/score
  assay new --compare 'sort -n data' --compare 'sort -g data'`,
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return newVerb(c, &f) },
	}
	c.Flags().StringVar(&f.command, "command", "", "a `command` to measure; {name} in it becomes a factor")
	c.Flags().StringVar(&f.http, "http", "", "a `URL` to send load to")
	c.Flags().StringArrayVar(&f.compare, "compare", nil, "a `command` to compare (twice or more)")
	c.Flags().StringVar(&f.out, "out", experimentName, "`file` to write; - is standard output")
	return c
}

func newVerb(c *cobra.Command, f *newFlags) error {
	ways := 0
	for _, given := range []bool{f.command != "", f.http != "", len(f.compare) > 0} {
		if given {
			ways++
		}
	}
	if ways != 1 || len(f.compare) == 1 {
		return errors.New("new: want one of --command, --http, or --compare twice or more")
	}
	text, err := f.text()
	if err != nil {
		return err
	}
	if _, err := spec.Read(f.out, []byte(text), spec.Host{CPUs: 1}); err != nil {
		return fmt.Errorf("new: what was given does not make a file:\n%w", err)
	}
	if f.out == "-" {
		_, err := fmt.Fprint(c.OutOrStdout(), text)
		return err
	}
	file, err := os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return advise(fmt.Errorf("new: %s is there already", f.out), "--out another file")
	}
	if err != nil {
		return fmt.Errorf("new: %w", err)
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("new: %w", err)
	}
	fmt.Fprintf(c.OutOrStdout(), "wrote %s\ntry: assay try %s, then assay check, then assay run\n", f.out, f.out)
	return nil
}

func (f *newFlags) text() (string, error) {
	var b strings.Builder
	switch {
	case f.command != "":
		name, err := programName(f.command)
		if err != nil {
			return "", err
		}
		commandFile(&b, name, f.command)
	case f.http != "":
		httpFile(&b, f.http)
	default:
		compareFile(&b, f.compare)
	}
	return b.String(), nil
}

// programName is the experiment's name for a command: that of its program.
func programName(command string) (string, error) {
	words, err := spec.Words(command)
	if err != nil {
		return "", fmt.Errorf("--command: %w", err)
	}
	if len(words) == 0 {
		return "", errors.New("--command: it is empty")
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return -1
	}, filepath.Base(words[0])), nil
}

func commandFile(b *strings.Builder, name, command string) {
	var factors []string
	for _, n := range assay.ParseTemplate(command).Names() {
		if !slices.Contains(factors, n) && !slices.Contains([]string{"block", "trial", "seed"}, n) {
			factors = append(factors, n)
		}
	}
	question := "How long does it take on this machine?"
	if len(factors) > 0 {
		question = "Which level of what varies is the best on this machine?"
	}
	fmt.Fprintf(b, "experiment: %s\nquestion: %s\n", quoted(name), question)
	if len(factors) > 0 {
		fmt.Fprint(b, "\n# What varies; {name} in the command is replaced by each level.\nfactors:\n")
		for _, n := range factors {
			fmt.Fprintf(b, "  %s: [1, 2, 4]\n", n)
		}
	}
	fmt.Fprintf(b, `
# What is held, in words: the report prints it.
fixed: {machine: this one}

# Every block executes every cell once, in a balanced random order. 12 decide up to 100 claims.
blocks: 12

# No shell is involved; say shell: true for one.
command: %s

# A trial that takes longer is ended and counts as worse than any number.
cap: 10m

# wall, user, system, rss_peak, ctx_switches and page_faults are measured anyway. Figures that the
# command prints are declared, for example:
# measures:
#   throughput: {json: files_per_s, unit: files/s, better: more}

# What you predict, before the first trial. It is registered and cannot be changed silently.
hypotheses:
`, quoted(command))
	if len(factors) == 0 {
		fmt.Fprint(b, "  H1:\n    claim: It takes less than a second.\n    value: wall\n    expect: \"< 1s\"\n")
		return
	}
	n := factors[0]
	fmt.Fprintf(b, "  H1:\n    claim: With %s at 2 it takes less time than at 1.\n    ratio: wall\n    of: {%s: 2}\n    to: {%s: 1}\n", n, n, n)
	if len(factors) > 1 {
		var rest []string
		for _, other := range factors[1:] {
			rest = append(rest, other+": 1")
		}
		fmt.Fprintf(b, "    at: {%s}\n", strings.Join(rest, ", "))
	}
	fmt.Fprint(b, "    expect: \"< 1\"\n")
}

func httpFile(b *strings.Builder, address string) {
	fmt.Fprintf(b, `experiment: load
question: Does the service answer in time at the rates that it must stand?

# Arrivals a second; each level is a cell.
factors:
  offered: [50, 100, 200]

blocks: 8

# A target that Assay starts and stops itself, fresh for every trial, makes the trials independent:
# target:
#   api:
#     command: ./server --port 8080
#     ready: {http: "http://127.0.0.1:8080/healthz", patience: 30s}
#     fresh: trial

# An open loop: operations are sent at their intended times whatever the target does, and response
# times count from there. For a closed loop write clients: 16 instead of rate.
load:
  http: {url: %s}
  rate: "{offered}/s"
  arrivals: poisson
  warmup: 1s
  for: 5s
  timeout: 5s

# What you predict, before the first trial. Errors and timeouts count as infinite response times.
hypotheses:
  H1:
    claim: At 100 a second, 95 of 100 operations are answered within 100 ms.
    value: p95(response_time)
    at: {offered: 100}
    expect: "< 100ms"
`, quoted(address))
}

func compareFile(b *strings.Builder, commands []string) {
	fmt.Fprint(b, "experiment: compare\nquestion: Which command is faster, and by how much?\n\n# One level a command.\nfactors:\n  program: [")
	for i := range commands {
		if i > 0 {
			fmt.Fprint(b, ", ")
		}
		fmt.Fprint(b, levelName(i))
	}
	fmt.Fprint(b, "]\nblocks: 12\ncommand:\n  each: program\n  of:\n")
	for i, command := range commands {
		fmt.Fprintf(b, "    %s: %s\n", levelName(i), quoted(command))
	}
	fmt.Fprint(b, "\n# What you predict, before the first trial.\nhypotheses:\n")
	for i := range commands[1:] {
		fmt.Fprintf(b, "  H%d:\n    claim: Command %s takes less time than command a.\n    ratio: wall\n    of: {program: %s}\n    to: {program: a}\n    expect: \"< 1\"\n",
			i+1, levelName(i+1), levelName(i+1))
	}
}

// levelName is a, b, …, z, then c26 and on.
func levelName(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return fmt.Sprintf("c%d", i)
}
