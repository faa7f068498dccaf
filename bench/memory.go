//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

// memory compares the peak of a generator that sends a million requests with that of one that sends a
// thousand. The loops are closed, so that both have as many in flight however busy the machine is.
func memory(ctx context.Context, b *bench) (string, error) {
	var few, many, least, most figures
	for range (b.rounds + 1) / 2 {
		for _, m := range []struct {
			length time.Duration
			to, of *figures
		}{{15 * time.Millisecond, &few, &least}, {18 * time.Second, &many, &most}} {
			u, truth, err := loaded(ctx, assayPeer(), want{clients: closedClients, length: m.length})
			if err != nil {
				return "", err
			}
			*m.to, *m.of = append(*m.to, float64(u.rss)), append(*m.of, float64(truth.Arrived))
		}
	}
	grown := make(figures, len(few))
	for i := range grown {
		grown[i] = many[i] - few[i]
	}
	t := &table{}
	t.add(fmt.Sprintf("assay load --clients %d: operations", closedClients), "peak RSS, MB")
	t.add(least.text("%.0f", 1), few.text("%.1f", 1e6))
	t.add(most.text("%.0f", 1), many.text("%.1f", 1e6))
	holds := newBars()
	holds.judge("a million operations against a thousand: grows by no more than 5 MB", grown.text("%.1f MB", 1e6), grown.median() <= 5e6)
	return t.String() + "\n" + holds.String(), nil
}
