//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

const (
	matrixRepeats = 3
	matrixLength  = 5 * time.Second
)

// matrixNote explains the table to its reader.
const matrixNote = `A tool's own count over what arrived is 1 where it says what it did. Response times are the tool's own words. vegeta opens a
connection for every request that is late, and does not recover from the first delay at high rates.
`

// A matrixRow is what one generator did at one rate, repeat by repeat.
type matrixRow struct {
	arrived, said, cpu, p50, p99 figures
	exact                        int
}

// matrix puts open-loop generators side by side: three rates, three repeats, in turn.
func matrix(ctx context.Context, _ *bench) (string, error) {
	tools := []peer{assayPeer(), vegetaPeer(), fortioPeer()}
	t, holds := &table{}, newBars()
	t.add(fmt.Sprintf("%d repeats of %s", matrixRepeats, matrixLength), "tool", "arrived over planned", "own count over arrived", "CPU of the generator, us a request", "assay's over it", "response time, us: p50", "p99")
	for _, rate := range openRates() {
		rows := make([]matrixRow, len(tools))
		for range matrixRepeats {
			for i, p := range tools {
				if err := rows[i].measure(ctx, p, rate); err != nil {
					return "", err
				}
			}
		}
		for i, p := range tools {
			r := rows[i]
			t.add(fmt.Sprintf("%d/s", rate), p.name, r.arrived.text("%.3f", float64(planned(rate, matrixLength))), r.said.over(r.arrived).text("%.3f", 1),
				r.cpu.text("%.1f", 1e3), rows[0].cpu.over(r.cpu).text("%.2f", 1), r.p50.text("%.0f", 1e3), r.p99.text("%.0f", 1e3))
		}
		holds.judge(fmt.Sprintf("at %d/s: planned = sent = arrived, in every repeat", rate), fmt.Sprintf("%d of %d", rows[0].exact, matrixRepeats), rows[0].exact == matrixRepeats)
	}
	return t.String() + "\n" + matrixNote + "\n" + holds.String(), nil
}

func (r *matrixRow) measure(ctx context.Context, p peer, rate int) error {
	u, truth, err := loaded(ctx, p, want{clients: closedClients, rate: rate, length: matrixLength})
	if err != nil {
		return err
	}
	a, err := p.heard(u)
	if err != nil {
		return err
	}
	r.arrived, r.said = append(r.arrived, float64(truth.Arrived)), append(r.said, float64(a.sent))
	r.cpu = append(r.cpu, float64(u.cpu)/float64(max(1, truth.Arrived)))
	r.p50, r.p99 = append(r.p50, float64(a.times["p50"])), append(r.p99, float64(a.times["p99"]))
	if want := planned(rate, matrixLength); a.sent == want && truth.Arrived == want {
		r.exact++
	}
	return nil
}
