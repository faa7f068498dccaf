//go:build linux

package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/spec"
	"github.com/assaybench/assay/store"
)

// largeBlocks of ten cells are 100,000 trials.
const largeBlocks = 10_000

// large is an experiment whose cells, measures and hypotheses are those of a usual one; only the
// number of its blocks is not.
var large = fmt.Sprintf(`experiment: large
factors:
  reader:   [readfile, stream]
  inflight: [1, 2, 4, 8, 16]
blocks: %d
command: /bin/true {reader} {inflight}
measures:
  throughput: {json: files_per_s, unit: files/s, better: more}
  output:     {json: sha256}
hypotheses:
  H1: {claim: Whole files are faster., ratio: throughput, of: {reader: readfile}, to: {reader: stream}, at: {inflight: 4}, expect: "> 1.05"}
  H2: {claim: The knee is at 4 or below., knee: throughput, along: inflight, at: {reader: readfile}, margin: 5%%, expect: "<= 4"}
  H3: {claim: Both need the same memory., same: rss_peak, of: {reader: stream}, to: {reader: readfile}, at: {inflight: 16}, margin: 2%%}
  H4: {claim: Nobody waits for two seconds., value: wall, at: {inflight: 4}, expect: "< 2s"}
  H5: {claim: More in flight is more., trend: throughput, along: inflight, at: {reader: readfile}, expect: up}
  H6: {claim: All read the same bytes., identical: output}
`, largeBlocks)

// folderVerb makes a results folder of 100,000 trials, as a run would have left it. Nothing is
// executed: the trials' figures are drawn from a seed.
func folderVerb(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("folder: got %d arguments, want the folder", len(args))
	}
	e, err := spec.Read("experiment.yaml", []byte(large), spec.Host{})
	if err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	digest, err := spec.Digest([]byte(large))
	if err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	folder, err := store.Open(args[0], 0)
	if err != nil {
		return err
	}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	registration := assay.Registration{Digest: digest, Time: began, Seed: 1, Plan: assay.NewPlan(e, 1), Amendments: []assay.Amendment{}}
	for _, h := range e.Hypotheses {
		registration.Hypotheses = append(registration.Hypotheses, assay.Registered{ID: h.ID, Claim: h.Claim, Rule: spec.Rule(h)})
	}
	if err := folder.Register([]byte(large), registration); err != nil {
		return err
	}
	session := assay.Session{ID: "0123456789abcdef", Started: began, Fingerprint: map[string]string{"kernel": "6.1", "cpu": "one"}}
	if err := folder.SetHost(assay.Host{Sessions: []assay.Session{session}, Ceilings: []assay.Measured{}}); err != nil {
		return err
	}
	if err := folder.Close(); err != nil {
		return err
	}
	return writeTrials(filepath.Join(args[0], store.TrialsFile), &registration, session.ID)
}

// writeTrials writes the lines in one go: an fsync after each, as a run has it, would take minutes.
func writeTrials(path string, r *assay.Registration, session string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write trials: %w", err)
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	rng, prev, n := rand.New(rand.NewPCG(1, 2)), "", 0
	for block, order := range r.Plan.Order {
		for position, cell := range order {
			n++
			t := drawTrial(rng, r.Plan.Cells[cell].Cell)
			t.Trial, t.Block, t.Position, t.Session, t.Registration, t.Prev = n, block+1, position+1, session, r.Digest, prev
			t.StartedAt = r.Time.Add(time.Duration(n) * 1234567890 * time.Nanosecond)
			line, err := json.Marshal(t)
			if err != nil {
				return fmt.Errorf("write trial %d: %w", n, err)
			}
			sum := sha256.Sum256(line)
			prev = hex.EncodeToString(sum[:])
			out.Write(append(line, '\n')) // a bufio.Writer keeps the first error for Flush
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write trials: %w", err)
	}
	return f.Close()
}

// drawTrial is a trial that went well: log-normal noise of 3% about figures that saturate.
func drawTrial(rng *rand.Rand, cell assay.Cell) assay.Trial {
	const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	inFlight, _ := assay.ParseQuantity(cell["inflight"])
	speed := 1000 * min(inFlight.Base(), 4) * math.Exp(0.03*rng.NormFloat64())
	if cell["reader"] == "readfile" {
		speed *= 1.1
	}
	number := func(x float64) assay.Value { return assay.Value{Number: x} }
	wall := math.Round(1e12 / speed)
	return assay.Trial{
		Cell: cell, Outcome: assay.OK, Valid: true, VoidBy: []string{}, RefusedBy: []string{},
		Measures: map[string]assay.Value{
			"wall_ns": number(wall), "span_ns": number(wall), "clock_tick_ns": number(50),
			"user_ns": number(math.Round(wall * 0.4)), "system_ns": number(math.Round(wall * 0.3)),
			"rss_peak_bytes": number(float64(8<<20 + rng.IntN(1<<16))), "ctx_switches": number(float64(rng.IntN(900))),
			"page_faults": number(float64(2000 + rng.IntN(900))), "exit": number(0),
			"throughput": number(speed), "output": {IsText: true, Text: digest},
			"cpu_steal_ratio": number(0), "cpu_idle_ratio": number(rng.Float64()),
		},
		Achieved: map[string]assay.Value{}, OutputSHA256: digest, ExecutableSHA256: digest,
		Gates: []assay.GateReading{}, Notes: []string{},
	}
}
