//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// stallNote explains the table to its reader.
const stallNote = `A tenth of the time is frozen, so that p90 lies at the edge: there 40 operations of 20,000, more or
less, move it by 10 ms. The truth counts from the time at which a request was due, as the tool's response times do.
`

const (
	stallRate   = 1000
	stallLength = 20 * time.Second
	frozen      = 500 * time.Millisecond
)

func quantileNames() []string     { return []string{"p50", "p90", "p95", "p99", "p99.9"} }
func quantileShares() [5]float64  { return [5]float64{0.5, 0.9, 0.95, 0.99, 0.999} }
func tolerance(truth int64) int64 { return max(truth*3/100, int64(time.Millisecond)) }

// A trueTimes holds the quantiles of response times by a server's log.
type trueTimes [5]time.Duration

func timesOf(responses []int64) (t trueTimes) {
	slices.Sort(responses)
	for i, q := range quantileShares() {
		t[i] = quantile(responses, q)
	}
	return t
}

// fromSchedule are response times by the server's log: from the time at which a request was due to its
// answer. Requests are sent in the order in which they are due, so that the k-th to arrive is the k-th
// of the schedule, whose beginning is given by the arrival that was earliest for its place. The time
// from arrival to answer would leave out how late a request was sent, which its user waited as well.
func fromSchedule(log []event, rate int) []int64 {
	log = slices.Clone(log)
	slices.SortFunc(log, func(a, b event) int { return cmp.Compare(a.Arrived, b.Arrived) })
	due := func(k int) int64 { return int64(k) * int64(time.Second) / int64(rate) }
	begun := int64(math.MaxInt64)
	for k, e := range log {
		begun = min(begun, e.Arrived-due(k))
	}
	var all []int64
	for k, e := range log {
		if e.Written != 0 {
			all = append(all, e.Written-begun-due(k))
		}
	}
	return all
}

// An episode is one generator's use of a server that does not answer at once.
type episode struct {
	peer   peer
	want   want
	paced  bool // it sends by a schedule, so that the server's log gives the truth
	server []string

	use     use
	arrived Truth
	heard   account
	times   trueTimes
}

func (e *episode) run(ctx context.Context) error {
	var err error
	if e.use, e.arrived, err = loaded(ctx, e.peer, e.want, append(e.server, "-log")...); err != nil {
		return err
	}
	if e.paced {
		e.times = timesOf(fromSchedule(e.arrived.Log, e.want.rate))
	}
	e.heard, err = e.peer.heard(e.use)
	return err
}

// together runs episodes at the same time, each against a server of its own.
func together(ctx context.Context, all ...*episode) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, e := range all {
		wg.Go(func() { errs[i] = e.run(ctx) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// row is what was heard, or the truth, quantile by quantile in milliseconds.
func (e *episode) row(truth bool) []string {
	cells := []string{fmt.Sprint(e.heard.sent), fmt.Sprint(e.arrived.Arrived)}
	for i, name := range quantileNames() {
		d, ok := e.heard.times[name]
		if truth {
			d, ok = e.times[i], true
		}
		if !ok {
			cells = append(cells, "–")
			continue
		}
		cells = append(cells, ms(d))
	}
	if truth {
		cells[0] = "–"
	}
	return cells
}

// right counts the quantiles that are given, and those of them that are within the greater of 3% and
// 1 ms of the truth.
func (e *episode) right() (right, given int) {
	for i, name := range quantileNames() {
		got, ok := e.heard.times[name]
		if !ok {
			continue // too few requests to say
		}
		given++
		if truth := int64(e.times[i]); max(int64(got)-truth, truth-int64(got)) <= tolerance(truth) {
			right++
		}
	}
	return right, given
}

// judge holds an episode against its server's log.
func (e *episode) judge(holds *bars, which string) {
	right, given := e.right()
	holds.judge(which+": every quantile within max(3%, 1 ms) of the server's log", fmt.Sprintf("%d of %d", right, given), given > 3 && right == given)
}

// stalls asks what generators say of a server that freezes: 500 ms every 5 s, a tenth of the time.
func stalls(ctx context.Context, b *bench) (string, error) {
	server := []string{"-freeze", frozen.String()}
	w := want{clients: closedClients, rate: stallRate, length: stallLength, timeout: 10 * time.Second}
	one := w
	one.flags = []string{"--connections", "1"}
	t, holds := &table{}, newBars()
	t.add(append([]string{fmt.Sprintf("%d/s for %s", stallRate, stallLength), "tool's own count", "arrived"}, quantileNames()...)...)
	rounds := (b.rounds + 1) / 2
	for round := range rounds {
		many := &episode{peer: assayPeer(), want: w, paced: true, server: server}
		single := &episode{peer: assayPeer(), want: one, paced: true, server: server}
		for _, e := range []*episode{many, single} { // on the same processor they would hold each other up
			if err := e.run(ctx); err != nil {
				return "", err
			}
		}
		many.judge(holds, fmt.Sprintf("round %d, many connections", round+1))
		single.judge(holds, fmt.Sprintf("round %d, one connection", round+1))
		if round == 0 {
			t.add(append([]string{"truth: the server's log, many connections"}, many.row(true)...)...)
			t.add(append([]string{"assay load, many connections"}, many.row(false)...)...)
			t.add(append([]string{"truth: the server's log, one connection"}, single.row(true)...)...)
			t.add(append([]string{"assay load, one connection"}, single.row(false)...)...)
		}
	}
	closed := w
	closed.rate = 0
	vegeta, hey := &episode{peer: vegetaPeer(), want: w, server: server}, &episode{peer: heyPeer(), want: w, server: server}
	wrk := &episode{peer: wrkPeer(), want: closed, server: server}
	if err := together(ctx, vegeta, hey); err != nil {
		return "", err
	}
	if err := wrk.run(ctx); err != nil {
		return "", err
	}
	t.add(append([]string{"vegeta"}, vegeta.row(false)...)...)
	t.add(append([]string{"hey, 64 workers"}, hey.row(false)...)...)
	t.add(append([]string{"wrk, 64 connections, knows no rate"}, wrk.row(false)...)...)
	return t.String() + "\n" + stallNote + "\n" + holds.String(), nil
}
