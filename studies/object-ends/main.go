// Command object-ends is a study: 10,000 files, two ends each, from an object store.
//
// Without a verb it does all of it. The verbs are the programs that its experiments start.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/assaybench/assay/studies/object-ends/corpus"
	"github.com/assaybench/assay/studies/object-ends/leak"
	"github.com/assaybench/assay/studies/object-ends/link"
	"github.com/assaybench/assay/studies/object-ends/pair"
	"github.com/assaybench/assay/studies/object-ends/reader"
	"github.com/assaybench/assay/studies/object-ends/store"
	"github.com/assaybench/assay/studies/object-ends/study"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "object-ends:", err)
		os.Exit(1)
	}
}

// run does what the arguments say.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	verb := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "", "study":
		return study.Command(ctx, args, stdout, stderr)
	case "results":
		return study.ResultsCommand(args)
	case "seed":
		return seed(ctx, args, stdout, stderr)
	case "store":
		return serve(ctx, args, stdout, stderr)
	case "install":
		return install(ctx, args, stdout, stderr)
	case "read":
		return read(ctx, args, stdout, stderr)
	case "oracle":
		return oracle(args, stdout, stderr)
	case "link":
		return link.Command(ctx, args, stdout)
	case "leak":
		return leak.Command(ctx, args, stdout)
	case "pair":
		return pair.Command(ctx, args, stdout, stderr)
	}
	return fmt.Errorf("choose verb %q: want study, results, install, store, seed, read, oracle, link, leak or pair", verb)
}

// parse reads flags and refuses what is left over.
func parse(flags *flag.FlagSet, args []string, stderr io.Writer) error {
	flags.SetOutput(stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s: what is %q?", flags.Name(), flags.Arg(0))
	}
	return nil
}

// corpusFlags binds a corpus to flags; the returned function makes it once they are parsed.
func corpusFlags(flags *flag.FlagSet) func() (corpus.Corpus, error) {
	tier := flags.String("tier", "medium", "small, medium or large")
	objects := flags.Int("objects", 300, "`files`")
	seed := flags.Uint64("seed", 42, "seed of the corpus")
	return func() (corpus.Corpus, error) {
		chosen, err := corpus.TierNamed(*tier)
		if err == nil && *objects < 1 {
			err = fmt.Errorf("--objects: got %d, want at least 1", *objects)
		}
		return corpus.Corpus{Seed: *seed, Tier: chosen, Objects: *objects}, err
	}
}

// seed fills a store with a corpus.
func seed(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("seed", flag.ContinueOnError)
	chosen := corpusFlags(flags)
	endpoint := flags.String("endpoint", "http://127.0.0.1:7070", "`URL` of the store")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	c, err := chosen()
	if err != nil {
		return err
	}
	client, err := store.NewClient(*endpoint, store.StudyKeys(), 0)
	if err != nil {
		return err
	}
	defer client.Close()
	seeding, err := store.Seed(ctx, client, c)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(seeding)
}

// serve is a store until it is told to end.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("store", flag.ContinueOnError)
	kind := flags.String("kind", "versitygw", "versitygw (over a folder) or gofakes3 (in memory)")
	listen := flags.String("listen", "127.0.0.1:7070", "`address` to serve at")
	folder := flags.String("folder", "", "`folder` to serve, for versitygw")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	switch *kind {
	case "versitygw":
		if *folder == "" {
			return errors.New("--folder: want the folder to serve")
		}
		return store.BecomeGateway(*listen, *folder)
	case "gofakes3":
		listener, err := net.Listen("tcp", *listen)
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, "serving at", listener.Addr())
		return store.ServeMemory(ctx, listener)
	}
	return fmt.Errorf("--kind: got %q, want versitygw or gofakes3", *kind)
}

// install builds the store's program into the user's cache.
func install(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if err := parse(flag.NewFlagSet("install", flag.ContinueOnError), args, stderr); err != nil {
		return err
	}
	path, err := store.InstallGateway(ctx, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, path)
	return nil
}

// read is the reader.
func read(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("read", flag.ContinueOnError)
	var setting reader.Setting
	setting.Flags(flags)
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	return reader.Read(ctx, &setting, stdout, stderr)
}

// oracle prints the hash that every right reader of a corpus arrives at.
func oracle(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("oracle", flag.ContinueOnError)
	chosen := corpusFlags(flags)
	schema := flags.String("schema", string(corpus.Scalar), "scalar or full")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	c, err := chosen()
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, c.Oracle(corpus.Schema(*schema), c.Objects))
	return nil
}
