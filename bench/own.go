//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/assaybench/assay/store"
)

// ownNote explains the table to its reader.
const ownNote = "`hyperfine -N` starts its commands back to back, with warm caches and a processor that has not yet gone to sleep; Assay records and fsyncs in\nbetween, and starts a guardian for every trial. The row with a pause shows what that alone costs.\n"

const ownTrials = 200

var ownExperiment = fmt.Sprintf(`experiment: own
blocks: %d
command: "true"
hypotheses:
  H1: {claim: It ends., value: wall, expect: "< 1s"}
`, ownTrials)

// A costs holds what executing a command that does nothing takes, in nanoseconds: from spawn to
// reap, and that less the processor time of the command.
type costs struct{ wall, own figures }

func (c *costs) add(wall figures, cpu float64) {
	c.wall = append(c.wall, wall.median())
	c.own = append(c.own, wall.median()-cpu)
}

// ownCost compares the time around a command: `true` by assay run, by hyperfine, and by a hyperfine
// that pauses before every command as assay must, because it records and fsyncs in between.
func ownCost(ctx context.Context, b *bench) (string, error) {
	var assay, hot, paused costs
	for range b.rounds {
		if err := assay.byAssay(ctx); err != nil {
			return "", err
		}
		if err := hot.byHyperfine(ctx); err != nil {
			return "", err
		}
		if err := paused.byHyperfine(ctx, "--prepare", "sleep 0.005"); err != nil {
			return "", err
		}
	}
	t := &table{}
	t.add("`true`, "+fmt.Sprint(ownTrials)+" times a round", "wall, us", "wall less the child's CPU, us", "wall, assay's over it")
	for _, row := range []struct {
		name string
		c    costs
	}{{"assay run", assay}, {"hyperfine -N", hot}, {"hyperfine -N --prepare 'sleep 0.005'", paused}} {
		t.add(row.name, row.c.wall.text("%.0f", 1e3), row.c.own.text("%.0f", 1e3), assay.wall.over(row.c.wall).text("%.2f", 1))
	}
	rounds, err := roundTrip(ctx, b.rounds)
	if err != nil {
		return "", err
	}
	holds := newBars()
	holds.judge("spawn to reap less the child's, beside hyperfine -N: no greater", fmt.Sprintf("%s us against %s us", assay.own.text("%.0f", 1e3), hot.own.text("%.0f", 1e3)), assay.own.median() <= hot.own.median())
	return t.String() + "\n" + ownNote + "\n" + rounds + "\n" + holds.String(), nil
}

// byAssay executes one round through an experiment and its results folder.
func (c *costs) byAssay(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bench-own-*")
	if err != nil {
		return fmt.Errorf("measure own cost: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, store.ExperimentFile)
	if err := os.WriteFile(file, []byte(ownExperiment), 0o666); err != nil {
		return fmt.Errorf("measure own cost: %w", err)
	}
	u, err := execute(ctx, false, "assay", "run", "--quiet", file)
	if err != nil {
		return err
	}
	if u.code != 0 && u.code != 3 { // a trial may be void on a busy machine; its times are recorded
		return fmt.Errorf("assay run: status %d: %s", u.code, u.said)
	}
	contents, err := store.Read(filepath.Join(dir, "own.results"))
	if err != nil {
		return err
	}
	var wall figures
	cpu := 0.0
	for _, t := range contents.Trials {
		wall = append(wall, t.Measures["wall_ns"].Number)
		cpu += t.Measures["user_ns"].Number + t.Measures["system_ns"].Number
	}
	c.add(wall, cpu/float64(len(wall)))
	return nil
}

func (c *costs) byHyperfine(ctx context.Context, flags ...string) error {
	args := append([]string{"hyperfine", "-N", "--warmup", "3", "--runs", fmt.Sprint(ownTrials), "--export-json", "/dev/stdout", "--style", "none"}, flags...)
	u, err := execute(ctx, false, append(args, "true")...)
	if err != nil {
		return err
	}
	var said struct {
		Results []struct {
			Times        figures
			User, System float64
		}
	}
	if err := json.Unmarshal(u.out[max(0, bytes.IndexByte(u.out, '{')):], &said); err != nil || len(said.Results) != 1 {
		return fmt.Errorf("read hyperfine's results: %s: %w", u.said, err)
	}
	r := said.Results[0]
	for i := range r.Times {
		r.Times[i] *= 1e9
	}
	c.add(r.Times, (r.User+r.System)*1e9)
	return nil
}

// roundTrip is what a trial takes in all, by the benchmark of package target.
func roundTrip(ctx context.Context, rounds int) (string, error) {
	u, err := execute(ctx, false, "go", "test", "./target", "-run", "^$", "-bench", "True", "-benchtime", fmt.Sprintf("%dx", ownTrials), "-count", fmt.Sprint(rounds))
	if err != nil {
		return "", err
	}
	if u.code != 0 {
		return "", fmt.Errorf("go test ./target -bench True: %s %s", u.out, u.said)
	}
	by := map[string]figures{}
	for _, m := range regexp.MustCompile(`([\d.]+) (own-ns|round-ns|wall-ns)`).FindAllStringSubmatch(string(u.out), -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		by[m[2]] = append(by[m[2]], x)
	}
	return fmt.Sprintf("`go test ./target -bench True`, medians: spawn to reap %s us; everything about a trial, its guardian's start and end\nincluded, %s us.\n",
		by["wall-ns"].text("%.0f", 1e3), by["round-ns"].text("%.0f", 1e3)), nil
}
