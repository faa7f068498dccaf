//go:build linux

// Command bench measures Assay beside its peers, all in one run and as ratios, and writes what it
// found into BENCHMARKS.md. The test servers are part of it and keep a truth of their own: no tool's
// word is taken for what arrived. Linux only.
//
//	bench run [flags] [part…]   measure, and replace the parts' sections of the page
//	bench serve [flags]         a server with its own truth; it ends when its standard input does
//	bench floor [flags]         requests sent by a thread that does nothing but wait for the time
//	bench folder DIR            a results folder of 100,000 trials
package main

import (
	"fmt"
	"os"

	"github.com/assaybench/assay/target"
)

func main() {
	if code, inner := target.Keep(); !inner {
		os.Exit(code)
	}
	if err := carryOut(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
}

func carryOut(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("got no verb, want run, serve, floor or folder")
	}
	switch verb, rest := args[0], args[1:]; verb {
	case "run":
		return runVerb(rest)
	case "serve":
		return serveVerb(rest)
	case "floor":
		return floorVerb(rest)
	case "folder":
		return folderVerb(rest)
	default:
		return fmt.Errorf("got verb %q, want run, serve, floor or folder", verb)
	}
}
