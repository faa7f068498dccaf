//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

// memory compares the peak of a generator that sends a million requests with that of one that sends a
// thousand at the same rate.
func memory(ctx context.Context, b *bench) (string, error) {
	const rate = 40_000
	var few, many figures
	for range (b.rounds + 1) / 2 {
		for _, m := range []struct {
			length time.Duration
			to     *figures
		}{{25 * time.Millisecond, &few}, {25 * time.Second, &many}} {
			u, _, err := loaded(ctx, assayPeer(), want{rate: rate, length: m.length})
			if err != nil {
				return "", err
			}
			*m.to = append(*m.to, float64(u.rss))
		}
	}
	grown := make(figures, len(few))
	for i := range grown {
		grown[i] = many[i] - few[i]
	}
	t := &table{}
	t.add(fmt.Sprintf("assay load --rate %d/s", rate), "peak RSS, MB")
	t.add("1,000 operations", few.text("%.1f", 1e6))
	t.add("1,000,000 operations", many.text("%.1f", 1e6))
	holds := newBars()
	holds.judge("grows by no more than 5 MB", grown.text("%.1f MB", 1e6), grown.median() <= 5e6)
	return t.String() + "\n" + holds.String(), nil
}
