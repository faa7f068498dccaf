//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A bench is how thoroughly everything is measured.
type bench struct {
	rounds  int
	length  time.Duration // of a load in the closed and open loops
	compare []string      // arguments of scripts/bench-compare, one call each
	self    string
}

// A part is a section of the page and what measures it.
type part struct {
	name, heading string
	measure       func(context.Context, *bench) (string, error)
}

func parts() []part {
	return []part{
		{"machine", "Machine and tools", machineAndTools},
		{"own", "Own cost of a trial", ownCost},
		{"compare", "compare beside hyperfine", compared},
		{"grading", "Grading", grading},
		{"closed", "Closed loop", closedLoop},
		{"open", "Open loop", openLoop},
		{"matrix", "Open loops side by side", matrix},
		{"stall", "A server that freezes", stalls},
		{"overload", "A server that is overloaded", overload},
		{"memory", "Memory", memory},
	}
}

func runVerb(args []string) error {
	b := &bench{}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.IntVar(&b.rounds, "rounds", 5, "times that everything is measured")
	flags.DurationVar(&b.length, "for", 3*time.Second, "length of a load in the closed and open loops")
	out := flags.String("out", "BENCHMARKS.md", "page to be written")
	calls := flags.String("compare", "cost,quiet 20,null 40", "calls of scripts/bench-compare, with commas between")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b.compare = strings.Split(*calls, ",")
	chosen := flags.Args()
	var err error
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	for _, name := range chosen {
		if !slices.ContainsFunc(parts(), func(p part) bool { return p.name == name }) {
			return fmt.Errorf("run: got part %q", name)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return b.run(ctx, *out, chosen)
}

// run measures the chosen parts, all if none are named, and writes the page after each.
func (b *bench) run(ctx context.Context, out string, chosen []string) error {
	p, err := readPage(out)
	if err != nil {
		return err
	}
	for _, part := range parts() {
		if len(chosen) > 0 && !slices.Contains(chosen, part.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", part.name)
		load, began := loadAverage(), time.Now()
		text, err := part.measure(ctx, b)
		if err != nil {
			return fmt.Errorf("measure %s: %w", part.name, err)
		}
		if part.name != "machine" {
			text += "\n" + conditions(fmt.Sprintf("scripts/bench -rounds %d -for %s %s", b.rounds, b.length, part.name), time.Since(began), load)
		}
		p.put(part.heading, text)
		if err := p.write(out); err != nil {
			return err
		}
	}
	return nil
}

// loadAverage is that of the last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}
