//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

func openRates() []int { return []int{1_000, 10_000, 40_000} }

// openNote explains the tables to their reader.
const openNote = `Cores are the generator's whole processor time, its start and end included, over the length of the load. From 17,000/s on there is no
room for a sleep before each operation: naps take their place, as short as 0.79 of a core allows (25 to 120 us), and what has become
due meanwhile is sent together.
`

// An openRow is what one generator did at one rate.
type openRow struct {
	arrived, said, cores figures
	exact                int // rounds in which planned = sent = arrived
}

// openLoop asks whether everything that was asked for arrives, by the server's count, what that costs,
// and how punctual it is.
func openLoop(ctx context.Context, b *bench) (string, error) {
	t, holds := &table{}, newBars()
	t.add("asked for", "arrived", "assay's own count", "generator's cores")
	for _, rate := range openRates() {
		row := &openRow{}
		for range b.rounds {
			if err := row.measure(ctx, assayPeer(), rate, b.length); err != nil {
				return "", err
			}
		}
		t.add(fmt.Sprintf("%d/s, %d in all", rate, planned(rate, b.length)), row.arrived.text("%.0f", 1), row.said.text("%.0f", 1), row.cores.text("%.2f", 1))
		at := fmt.Sprintf("at %d/s: ", rate)
		holds.judge(at+"planned = sent = arrived, in every round", fmt.Sprintf("%d of %d", row.exact, b.rounds), row.exact == b.rounds)
		if rate == 40_000 {
			holds.judge(at+"at most 0.8 of a core", row.cores.text("%.2f", 1), row.cores.median() <= 0.8)
		}
	}
	p, err := punctuality(ctx, b, holds)
	if err != nil {
		return "", err
	}
	return t.String() + "\n" + p + "\n" + openNote + "\n" + holds.String(), nil
}

func planned(rate int, length time.Duration) int64 {
	return int64(rate) * int64(length) / int64(time.Second)
}

// measure lets a generator send at a rate once, and gives what the server saw.
func (r *openRow) measure(ctx context.Context, p peer, rate int, length time.Duration) error {
	u, truth, err := loaded(ctx, p, want{clients: closedClients, rate: rate, length: length})
	if err != nil {
		return err
	}
	r.arrived = append(r.arrived, float64(truth.Arrived))
	r.cores = append(r.cores, u.cpu.Seconds()/length.Seconds())
	a, err := p.heard(u)
	if err != nil {
		return err
	}
	r.said = append(r.said, float64(a.sent))
	if want := planned(rate, length); a.sent == want && truth.Arrived == want {
		r.exact++
	}
	return nil
}
