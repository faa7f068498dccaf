// Command assay is an experiment engine for performance claims.
//
// It registers what is predicted, executes the trials interleaved, watches its own instrument and
// grades every prediction from the recorded trials. See README.md for the first minute and
// ARCHITECTURE.md for the house.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/assaybench/assay/spec"
	"github.com/assaybench/assay/target"
)

func main() {
	if code, inner := target.Keep(); !inner {
		os.Exit(code)
	}
	os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Main is the program: it reads arguments and streams and returns the exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := interruptible(context.Background())
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	complain(stderr, err)
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	return exitUsage
}

// interruptible is a context that the first SIGINT, SIGTERM or SIGHUP cancels; the second ends the
// program at once.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		cancel()
		if _, ok := <-signals; ok {
			os.Exit(exitInterrupted)
		}
	}()
	return ctx, func() { signal.Stop(signals); close(signals); cancel() }
}

// complain prints an error and, where it holds advice, a line of it.
func complain(w io.Writer, err error) {
	var mistakes spec.Mistakes
	if errors.As(err, &mistakes) {
		fmt.Fprintln(w, mistakes.Advised()) // each line starts with its place
		return
	}
	fmt.Fprintln(w, "assay: "+err.Error())
	var advice *advisedError
	if errors.As(err, &advice) {
		fmt.Fprintln(w, "try: "+advice.try)
	}
}

// An advisedError is an error with a specific next step.
type advisedError struct {
	err error
	try string
}

func (e *advisedError) Error() string { return e.err.Error() }
func (e *advisedError) Unwrap() error { return e.err }

func advise(err error, format string, args ...any) error {
	return &advisedError{err: err, try: fmt.Sprintf(format, args...)}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "assay",
		Short: "Experiments that decide performance claims",
		Long: `Assay registers what you predict, executes the trials interleaved, watches its own instrument and
grades every prediction from the recorded trials: PASS, FAIL, UNDECIDED, UNTESTED or VOID, with the reason.`,
		Example: `  assay compare 'sort -n data' 'sort -g data'   which is faster, and by how much?
  assay new --command './server --workers {n}'  write an experiment file
  assay check experiment.yaml                   what can be known beforehand
  assay run experiment.yaml                     register, execute, grade`,
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		Args:                       unknownVerb,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
		Version:                    version(),
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(verbs()...)
	return root
}

// verbs are the verbs that are built.
func verbs() []*cobra.Command {
	return []*cobra.Command{newCompare(), newNew(), newTry(), newCheck(), newRun(), newGrade(), newReport(), newAmend(), newLoad(), newFind(), newMachine(), newSchema()}
}

// unknownVerb refuses a word that is no verb and names the nearest one.
func unknownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown verb %q", args[0])
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return advise(err, "assay %s", near[0])
	}
	return advise(err, "assay --help")
}

// flagError names the nearest flag beside an unknown one.
func flagError(c *cobra.Command, err error) error {
	msg := err.Error()
	name, ok := strings.CutPrefix(msg, "unknown flag: --")
	if !ok {
		return advise(fmt.Errorf("%s: %w", c.CommandPath(), err), "%s --help", c.CommandPath())
	}
	err = fmt.Errorf("%s: unknown flag --%s", c.CommandPath(), name)
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := spec.Nearest(name, names); near != "" {
		return advise(err, "--%s", near)
	}
	return advise(err, "%s --help", c.CommandPath())
}
