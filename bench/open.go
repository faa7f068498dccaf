//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// openNote explains the table to its reader.
const openNote = `Cores are the generator's whole processor time, its start and end included, over the length of the load. Where the tools have
real-time priority, one that uses a whole core is most likely held up by the kernel, which keeps a twentieth of it for other programs: the
floor's p99 is then no measure of the machine, and a ratio to it says little.
`

// floorPeer is the thread of floor.go.
func floorPeer(self string) peer {
	return peer{"busy wait (floor)", func(url string, w want) []string {
		return []string{self, "floor", "-rate", fmt.Sprint(w.rate), "-for", w.length.String(), "-connections", fmt.Sprint(w.clients), url}
	}, nil}
}

// An openRow is what one generator did at one rate.
type openRow struct {
	arrived, said, p50, p99, cores figures
	exact                          int // rounds in which planned = sent = arrived
}

// openLoop compares arrivals with the schedule that was asked for, by the kernel's stamps of when the
// server's sockets received the requests.
func openLoop(ctx context.Context, b *bench) (string, error) {
	tools := []peer{assayPeer(), floorPeer(b.self), vegetaPeer(), fortioPeer()}
	t, holds := &table{}, newBars()
	t.add("asked for", "tool", "arrived", "tool's own count", "off the schedule, us: p50", "p99", "generator's cores")
	for _, rate := range []int{1_000, 10_000, 40_000} {
		rows := map[string]*openRow{}
		for range b.rounds {
			for _, p := range tools {
				row := rows[p.name]
				if row == nil {
					row = &openRow{}
					rows[p.name] = row
				}
				if err := row.measure(ctx, p, rate, b.length); err != nil {
					return "", err
				}
			}
		}
		planned := rate * int(b.length) / int(time.Second)
		for _, p := range tools {
			r := rows[p.name]
			t.add(fmt.Sprintf("%d/s, %d in all", rate, planned), p.name, r.arrived.text("%.0f", 1), r.said.text("%.0f", 1), r.p50.text("%.1f", 1e3), r.p99.text("%.0f", 1e3), r.cores.text("%.2f", 1))
		}
		judgeOpen(holds, rows[tools[0].name], rows[tools[1].name], rate, b.rounds)
	}
	return t.String() + "\n" + openNote + "\n" + holds.String(), nil
}

func judgeOpen(holds *bars, own, floor *openRow, rate, rounds int) {
	at := fmt.Sprintf("at %d/s: ", rate)
	holds.judge(at+"planned = sent = arrived, in every round", fmt.Sprintf("%d of %d", own.exact, rounds), own.exact == rounds)
	if rate <= 10_000 {
		holds.judge(at+"p50 within 20 us of the floor's", own.p50.text("%.1f us", 1e3)+" against "+floor.p50.text("%.1f us", 1e3), own.p50.median() <= floor.p50.median()+20e3)
		ratio := own.p99.over(floor.p99)
		holds.judge(at+"p99 within 4 times the floor's", ratio.text("%.1f", 1), ratio.median() <= 4)
		return
	}
	holds.judge(at+"at most 0.8 of a core", own.cores.text("%.2f", 1), own.cores.median() <= 0.8)
}

func (r *openRow) measure(ctx context.Context, p peer, rate int, length time.Duration) error {
	u, truth, err := loaded(ctx, p, want{clients: closedClients, rate: rate, length: length}, "-log")
	if err != nil {
		return err
	}
	planned := int64(rate) * int64(length) / int64(time.Second)
	r.arrived = append(r.arrived, float64(truth.Arrived))
	r.cores = append(r.cores, u.cpu.Seconds()/length.Seconds())
	if p.heard != nil {
		a, err := p.heard(u)
		if err != nil {
			return err
		}
		r.said = append(r.said, float64(a.sent))
		if a.sent == planned && truth.Arrived == planned {
			r.exact++
		}
	}
	if math.Abs(float64(truth.Arrived-planned)) <= 0.01*float64(planned) {
		p50, p99 := deviations(truth.Log, rate)
		r.p50, r.p99 = append(r.p50, p50), append(r.p99, p99)
	}
	return nil
}

// deviations are quantiles of how far arrivals are from an evenly spaced schedule, in nanoseconds,
// the schedule being put where half of them are early.
func deviations(log []event, rate int) (p50, p99 float64) {
	off := make([]int64, len(log))
	for i, e := range log {
		off[i] = e.Arrived
	}
	slices.Sort(off)
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
