//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// stretch is the length of a measurement of punctuality. It is less than the 0.95 s after which the
	// kernel takes a processor away from a program of real-time priority, which the floor would lose.
	stretch = 800 * time.Millisecond
	// pairsPerRound stretches of the floor, each followed by one of assay.
	pairsPerRound = 3
	// heldUp is the p99 beyond which a floor was held up itself: ten times what the machine of the page
	// allows when it is quiet. A ratio to such a floor says nothing, and would be to assay's favour.
	heldUp = 500 * time.Microsecond
	// enoughPairs is the share of the pairs that must be left for a statement.
	enoughPairs = 0.5
)

const punctualNote = `Off the schedule: by the kernel's stamps of when the server's sockets received the requests. The floor is a thread that does nothing
but look at the clock and send. The first quarter of each stretch is left out: connections are opened then. Every stretch of assay
follows one of the floor; a pair whose floor has a p99 beyond %s counts for nothing, because the machine held that up, and if less
than half of the pairs are left, nothing is said.
`

// floorPeer is the thread of floor.go.
func floorPeer(self string) peer {
	return peer{"busy wait (floor)", func(url string, w want) []string {
		return []string{self, "floor", "-rate", fmt.Sprint(w.rate), "-for", w.length.String(), "-connections", fmt.Sprint(w.clients), url}
	}, nil}
}

// A pairing holds the deviations of the pairs of a rate that count, in nanoseconds.
type pairing struct {
	own50, own99, floor50, floor99 figures
	tried                          int
}

// add takes a pair in, unless its floor was held up.
func (p *pairing) add(own, floor [2]float64) {
	p.tried++
	if floor[1] > float64(heldUp) {
		return
	}
	p.own50, p.own99 = append(p.own50, own[0]), append(p.own99, own[1])
	p.floor50, p.floor99 = append(p.floor50, floor[0]), append(p.floor99, floor[1])
}

// shown reports whether enough pairs are left, and says how many.
func (p *pairing) shown() (bool, string) {
	return len(p.own99) > 0 && float64(len(p.own99)) >= enoughPairs*float64(p.tried), fmt.Sprintf("%d of %d", len(p.own99), p.tried)
}

// judge says whether assay is as near to the floor as it is to be.
func (p *pairing) judge(holds *bars, rate int) {
	at := fmt.Sprintf("at %d/s: ", rate)
	near, within := at+"p50 off the schedule within 20 us of the floor's", at+"p99 off the schedule within 4 times the floor's"
	ok, pairs := p.shown()
	if !ok {
		why := fmt.Sprintf("the floor was not held up in %s pairs only", pairs)
		holds.add(near, why, notShown)
		holds.add(within, why, notShown)
		return
	}
	more := make(figures, len(p.own50))
	for i := range more {
		more[i] = p.own50[i] - p.floor50[i]
	}
	holds.judge(near, more.text("%.1f us", 1e3)+" more", more.median() <= 20e3)
	ratio := p.own99.over(p.floor99)
	holds.judge(within, ratio.text("%.2f", 1), ratio.median() <= 4)
}

// punctuality compares arrivals with the schedule that was asked for, in pairs with the floor.
func punctuality(ctx context.Context, b *bench, holds *bars) (string, error) {
	t := &table{}
	t.add("off the schedule, "+stretch.String()+" each", "floor, us: p50", "p99", "assay, us: p50", "p99", "p99, assay's over the floor's", "pairs that count")
	for _, rate := range openRates() {
		p := &pairing{}
		for range b.rounds * pairsPerRound {
			floor, err := offSchedule(ctx, floorPeer(b.self), rate)
			if err != nil {
				return "", err
			}
			own, err := offSchedule(ctx, assayPeer(), rate)
			if err != nil {
				return "", err
			}
			p.add(own, floor)
		}
		_, pairs := p.shown()
		t.add(fmt.Sprintf("%d/s", rate), p.floor50.text("%.1f", 1e3), p.floor99.text("%.0f", 1e3), p.own50.text("%.1f", 1e3), p.own99.text("%.0f", 1e3), p.own99.over(p.floor99).text("%.2f", 1), pairs)
		p.judge(holds, rate)
	}
	return t.String() + "\n" + fmt.Sprintf(punctualNote, heldUp), nil
}

// breather is left between stretches: where other programs are held up for 0.95 s on end, the kernel
// takes the processor away for them.
const breather = 100 * time.Millisecond

// offSchedule is p50 and p99 of one generator's deviations at a rate; infinite where requests are missing.
func offSchedule(ctx context.Context, p peer, rate int) ([2]float64, error) {
	time.Sleep(breather)
	_, truth, err := loaded(ctx, p, want{clients: closedClients, rate: rate, length: stretch}, "-log")
	if err != nil {
		return [2]float64{}, err
	}
	if truth.Arrived != planned(rate, stretch) {
		return [2]float64{math.Inf(1), math.Inf(1)}, nil
	}
	p50, p99 := deviations(truth.Log, rate)
	return [2]float64{p50, p99}, nil
}

// deviations are quantiles of how far arrivals are from an evenly spaced schedule, in nanoseconds,
// the schedule being put where half of them are early. The first quarter, in which generators open
// their connections, is left out.
func deviations(log []event, rate int) (p50, p99 float64) {
	off := make([]int64, len(log))
	for i, e := range log {
		off[i] = e.Arrived
	}
	slices.Sort(off)
	off = off[len(off)/4:]
	for k := range off {
		off[k] -= int64(k) * int64(time.Second) / int64(rate)
	}
	sorted := slices.Sorted(slices.Values(off))
	middle := int64(quantile(sorted, 0.5))
	for k := range off {
		off[k] = max(off[k]-middle, middle-off[k])
	}
	slices.Sort(off)
	return float64(quantile(off, 0.5)), float64(quantile(off, 0.99))
}
