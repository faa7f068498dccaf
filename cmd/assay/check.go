package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/spec"
	"github.com/assaybench/assay/store"
	"github.com/assaybench/assay/telemetry"
)

func newCheck() *cobra.Command {
	var asJSON, pilot bool
	var out string
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Everything that can be known beforehand",
		Long: `Check reads the file and reports every mistake with its place; then the plan, the order of execution,
what each hypothesis compares, how long it may take, the smallest effect that so many blocks can
decide, what moves together, and which gates hold right now. A plan that cannot decide is refused.`,
		Example: `  assay check experiment.yaml
  assay check experiment.yaml --pilot     executes one block for the duration`,
		Args: one("FILE", "experiment.yaml"),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := readExperiment(args[0])
			if err != nil {
				return err
			}
			up, err := checkUp(c, file, out, pilot)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c, up)
			}
			up.print(c.OutOrStdout())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	c.Flags().BoolVar(&pilot, "pilot", false, "execute one block, uncounted, for the duration")
	c.Flags().StringVar(&out, "out", "", "results `folder` whose earlier trials give duration and spread")
	return c
}

// A checkup is what check found.
type checkup struct {
	Experiment string         `json:"experiment"`
	Question   string         `json:"question"`
	Cells      int            `json:"cells"`
	Absent     []absentCell   `json:"absent"`
	Blocks     int            `json:"blocks"`
	Looks      []int          `json:"looks"`
	Warmup     int            `json:"warmup"`
	Trials     int            `json:"trials"`
	Seed       uint64         `json:"seed"`
	FirstBlock []assay.Cell   `json:"first_block"` // in order of execution
	Hypotheses []checkedClaim `json:"hypotheses"`
	Claims     int            `json:"claims"`
	Confidence float64        `json:"confidence"`
	Fewest     int            `json:"fewest_blocks"`
	Smallest   []grade.Effect `json:"smallest_effects"`
	Spreads    []spread       `json:"spreads"` // of earlier trials
	DurationNS int64          `json:"duration_ns"`
	From       string         `json:"duration_from"`
	Confounded [][2]string    `json:"confounded"`
	Gates      []gateNow      `json:"gates"`
	Notes      []string       `json:"notes"`
}

type absentCell struct {
	Cell assay.Cell `json:"cell"`
	Why  string     `json:"why"`
}

type checkedClaim struct {
	ID    string `json:"id"`
	Claim string `json:"claim"`
	Rule  string `json:"rule"`
	Note  string `json:"note,omitempty"`
}

type spread struct {
	Measure  string  `json:"measure"`
	CV       float64 `json:"cv"`
	Smallest float64 `json:"smallest_ratio"`
}

type gateNow struct {
	Condition string `json:"condition"`
	Reading   string `json:"reading"`
	Holds     bool   `json:"holds"`
}

// checkUp says what can be known of the experiment; a plan that cannot decide is an error.
func checkUp(c *cobra.Command, file *experimentFile, out string, pilot bool) (*checkup, error) {
	e := file.experiment
	plan := assay.NewPlan(e, e.Seed)
	f := grade.Foresee(e, plan)
	if !f.Decidable {
		return nil, advise(fmt.Errorf("%s: %d blocks cannot decide %s at 95%% confidence; %d can", file.path, f.Blocks, claims(f.Claims), f.Fewest),
			"blocks: %d", f.Fewest)
	}
	up := &checkup{Experiment: e.Name, Question: e.Question, Cells: len(plan.Cells), Blocks: plan.Blocks, Looks: plan.Looks,
		Warmup: plan.Warmup, Trials: len(plan.Cells) * (plan.Blocks + plan.Warmup), Seed: e.Seed, Claims: f.Claims,
		Confidence: f.Confidence, Fewest: f.Fewest, Smallest: f.Smallest, Confounded: f.Confounded}
	for _, a := range plan.Absent {
		up.Absent = append(up.Absent, absentCell{a.Cell, a.Why})
	}
	for _, i := range plan.Order[0] {
		up.FirstBlock = append(up.FirstBlock, plan.Cells[i].Cell)
	}
	for _, h := range e.Hypotheses {
		claim := checkedClaim{ID: h.ID, Claim: h.Claim, Rule: spec.Rule(h)}
		if h.Unattributed {
			claim.Note = "the compared levels are opaque bundles: what moved the figure stays unattributed"
		}
		up.Hypotheses = append(up.Hypotheses, claim)
	}
	if len(e.Hypotheses) == 0 {
		up.Notes = append(up.Notes, "no hypothesis: figures will be recorded, nothing will be claimed")
	}
	if looks := plan.Looks; len(looks) > 0 && f.Claims > 0 && looks[0] < f.Fewest {
		up.Notes = append(up.Notes, fmt.Sprintf("the look after %d blocks cannot decide a claim; one after %d can", looks[0], f.Fewest))
	}
	if dir, err := filepath.Abs(file.resultsDir(out)); err == nil {
		if text := mentionEarlier(earlierRegistrations(e, dir)); text != "" {
			up.Notes = append(up.Notes, text)
		}
	}
	up.gates(c.Context(), file)
	return up, up.duration(c, file, out, pilot)
}

func claims(n int) string {
	if n == 1 {
		return "one claim"
	}
	return fmt.Sprintf("%d claims", n)
}

// gates reads every gate once, for the first cell that it is for.
func (up *checkup) gates(ctx context.Context, file *experimentFile) {
	for _, g := range file.experiment.Gates {
		for _, s := range file.experiment.Settings {
			if !s.Cell.Matches(g.At) {
				continue
			}
			up.Gates = append(up.Gates, readGate(ctx, g, &s))
			break
		}
	}
}

func readGate(ctx context.Context, g assay.Gate, s *assay.Setting) gateNow {
	condition := g.Condition
	if object, err := g.Object.Expand(s.Values); err == nil && object != "" {
		condition.Measure.Object = object
	}
	now := gateNow{Condition: condition.String()}
	gauge := telemetry.Gauge{Probers: map[string]telemetry.Prober{}, Probes: s.Workload.Probes}
	for _, p := range s.Workload.Probes {
		if prober, err := telemetry.NewProber(p); err == nil {
			defer prober.Close()
			gauge.Probers[p.Name] = prober
		}
	}
	v, err := gauge.Read(ctx, condition.Measure)
	if err != nil {
		now.Reading = err.Error()
		return now
	}
	builtin, _ := assay.BuiltinMeasure(condition.Measure.Name)
	now.Reading, now.Holds = report.One(v.Number, builtin.Unit, false), condition.HoldsFor(v, builtin.Unit, 0)
	return now
}

// duration estimates how long the plan takes: from a pilot block, from earlier trials of the same
// cells, or from what the file says of its load.
func (up *checkup) duration(c *cobra.Command, file *experimentFile, out string, pilot bool) error {
	if pilot {
		took, err := pilotBlock(c, file)
		up.DurationNS, up.From = int64(took)*int64(up.Blocks+up.Warmup), "one pilot block"
		return err
	}
	dir := file.resultsDir(out)
	if recs, err := store.Read(dir); err == nil && recs.Registered && len(recs.Trials) > 1 {
		first, last := recs.Trials[0].StartedAt, recs.Trials[len(recs.Trials)-1].StartedAt
		up.DurationNS = int64(last.Sub(first)) / int64(len(recs.Trials)-1) * int64(up.Trials)
		up.From = fmt.Sprintf("%d earlier trials in %s", len(recs.Trials), dir)
		up.spreads(dir, &recs)
		return nil
	}
	for _, s := range file.experiment.Settings {
		if l := s.Workload.Load; l != nil {
			up.DurationNS += int64(l.Warmup+l.For) * int64(up.Blocks+up.Warmup)
			up.From = "warmup and for of the load; starting targets and draining come on top"
		}
	}
	return nil
}

// spreads are how much earlier trials of a cell differ, and what that leaves to be decided.
func (up *checkup) spreads(dir string, recs *store.Contents) {
	e, err := folderExperiment(dir, recs)
	if err != nil {
		return
	}
	f := findings(dir, e, recs)
	for _, m := range f.Measures {
		if cv, ok := grade.Spread(m, f.Trials); ok {
			up.Spreads = append(up.Spreads, spread{m.Ref.String(), cv, grade.SmallestRatio(up.Blocks, up.Confidence, cv)})
		}
	}
}

func (up *checkup) print(w io.Writer) {
	fmt.Fprintf(w, "%s: no mistakes\n", up.Experiment)
	if up.Question != "" {
		fmt.Fprintf(w, "%s\n", up.Question)
	}
	fmt.Fprintf(w, "\nPlan\n  %d cells x %d blocks", up.Cells, up.Blocks)
	if up.Warmup > 0 {
		fmt.Fprintf(w, " + %d warm-up trials a cell", up.Warmup)
	}
	fmt.Fprintf(w, " = %d trials, seed %d\n", up.Trials, up.Seed)
	if up.DurationNS > 0 {
		fmt.Fprintf(w, "  about %s (from %s)\n", clock(time.Duration(up.DurationNS)), up.From)
	} else {
		fmt.Fprintf(w, "  duration unknown; try: assay check --pilot\n")
	}
	fmt.Fprintf(w, "  first block: %s\n", firstCells(up.FirstBlock))
	for _, a := range up.Absent {
		fmt.Fprintf(w, "  absent here: %s (%s)\n", a.Cell, a.Why)
	}
	for _, p := range up.Confounded {
		fmt.Fprintf(w, "  confounded: %s and %s move together in every cell; no claim can tell them apart\n", p[0], p[1])
	}
	up.printClaims(w)
	for i, g := range up.Gates {
		if i == 0 {
			fmt.Fprintf(w, "\nGates right now\n")
		}
		state := "does not hold"
		if g.Holds {
			state = "holds"
		}
		fmt.Fprintf(w, "  %s: %s (%s)\n", g.Condition, state, g.Reading)
	}
	for _, n := range up.Notes {
		fmt.Fprintf(w, "\nnote: %s\n", n)
	}
}

func (up *checkup) printClaims(w io.Writer) {
	if up.Claims > 0 {
		fmt.Fprintf(w, "\nDecision\n  %s: each interval at %s; %d blocks are the fewest that can decide\n",
			claims(up.Claims), report.Confidence(up.Confidence), up.Fewest)
	}
	for _, s := range up.Spreads {
		fmt.Fprintf(w, "  %s spread %.1f%% within a cell so far: a ratio of %.3f is the smallest that %d blocks decide (in 8 of 10 runs)\n",
			s.Measure, 100*s.CV, s.Smallest, up.Blocks)
	}
	if len(up.Spreads) == 0 {
		for _, s := range up.Smallest {
			fmt.Fprintf(w, "  if block ratios spread %2.0f%%, a ratio of %.3f is the smallest they decide (in 8 of 10 runs)\n", 100*s.CV, s.Ratio)
		}
	}
	for i, h := range up.Hypotheses {
		if i == 0 {
			fmt.Fprintf(w, "\nHypotheses\n")
		}
		fmt.Fprintf(w, "  %-4s %s\n       %s\n", h.ID, h.Claim, h.Rule)
		if h.Note != "" {
			fmt.Fprintf(w, "       note: %s\n", h.Note)
		}
	}
}

// firstCells is the first few cells of a block.
func firstCells(cells []assay.Cell) string {
	const most = 4
	var parts []string
	for _, c := range cells[:int(math.Min(most, float64(len(cells))))] {
		parts = append(parts, c.String())
	}
	text := strings.Join(parts, ", ")
	if len(cells) > most {
		text += fmt.Sprintf(", … (%d more)", len(cells)-most)
	}
	return text
}
