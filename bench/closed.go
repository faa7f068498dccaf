//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/assaybench/assay/load"
)

const closedClients = 64

// assayAccount is what `assay load --json` printed.
func assayAccount(u use) (a load.Account, err error) {
	if err := json.Unmarshal(u.out, &a); err != nil {
		return a, fmt.Errorf("read the account of assay load: %s: %w", u.said, err)
	}
	return a, nil
}

// closedLoop compares what generators can send with one processor: requests that arrived, by the
// server's count, for each second of the generator's processor time.
func closedLoop(ctx context.Context, b *bench) (string, error) {
	tools := []peer{assayPeer(), wrkPeer(), heyPeer(), h2loadPeer(), vegetaPeer(), fortioPeer()}
	perCPU, rate, rss := map[string]figures{}, map[string]figures{}, map[string]figures{}
	for range b.rounds {
		for _, p := range tools {
			u, truth, err := loaded(ctx, p, want{clients: closedClients, length: b.length})
			if err != nil {
				return "", err
			}
			perCPU[p.name] = append(perCPU[p.name], float64(truth.Arrived)/u.cpu.Seconds())
			rate[p.name] = append(rate[p.name], float64(truth.Arrived)/b.length.Seconds())
			rss[p.name] = append(rss[p.name], float64(u.rss))
		}
	}
	own := tools[0].name
	t := &table{}
	t.add(fmt.Sprintf("%d connections, %s a round", closedClients, b.length), "requests per generator-CPU-second", "assay's over it", "requests per second", "peak RSS, MB")
	for _, p := range tools {
		t.add(p.name, perCPU[p.name].text("%.0f", 1), perCPU[own].over(perCPU[p.name]).text("%.2f", 1), rate[p.name].text("%.0f", 1), rss[p.name].text("%.1f", 1e6))
	}
	holds := newBars()
	for _, bar := range []struct {
		name  string
		least float64
	}{{"wrk", 0.9}, {"fortio", 1}, {"vegeta", 2}, {"hey", 2}} {
		ratio := perCPU[own].over(perCPU[bar.name])
		holds.judge(fmt.Sprintf("per CPU-second at least %.1f times %s's", bar.least, bar.name), ratio.text("%.2f", 1), ratio.median() >= bar.least)
	}
	holds.judge("RSS under 30 MB", rss[own].text("%.1f MB", 1e6), rss[own].median() < 30e6)
	return t.String() + "\n" + holds.String(), nil
}
