//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"time"
)

const (
	overloadRate   = 150
	overloadLength = 20 * time.Second
	slots          = 10
	slotWork       = 100 * time.Millisecond
)

// overload asks what generators say of a server that is offered half as much again as it can do.
func overload(ctx context.Context, _ *bench) (string, error) {
	server := []string{"-slots", fmt.Sprint(slots), "-work", slotWork.String()}
	w := want{clients: 50, rate: overloadRate, length: overloadLength, timeout: 30 * time.Second}
	many := &episode{peer: assayPeer(), want: w, paced: true, server: server}
	others := []*episode{{peer: vegetaPeer(), want: w, server: server}, {peer: heyPeer(), want: w, server: server}, {peer: fortioPeer(), want: w, server: server}}
	if err := together(ctx, append(others, many)...); err != nil {
		return "", err
	}
	t := &table{}
	t.add(append([]string{fmt.Sprintf("%d/s for %s, capacity 100/s", overloadRate, overloadLength), "tool's own count", "arrived"}, quantileNames()...)...)
	t.add(append([]string{"truth: the server's log"}, many.row(true)...)...)
	t.add(append([]string{"assay load"}, many.row(false)...)...)
	for _, e := range others {
		t.add(append([]string{e.peer.name}, e.row(false)...)...)
	}
	a, err := assayAccount(many.use)
	if err != nil {
		return "", err
	}
	planned := int64(overloadRate * overloadLength / time.Second)
	holds := newBars()
	holds.judge("planned = sent = arrived = 3,000", fmt.Sprintf("%d, %d, %d", a.Planned, a.Sent, many.arrived.Arrived), a.Planned == planned && a.Sent == planned && many.arrived.Arrived == planned)
	for _, known := range []struct {
		name string
		at   time.Duration
	}{{"p50", 5100 * time.Millisecond}, {"p99", 10 * time.Second}} {
		got := many.heard.times[known.name]
		holds.judge(fmt.Sprintf("%s within 3%% of %s", known.name, known.at), ms(got)+" ms", math.Abs(float64(got-known.at)) <= 0.03*float64(known.at))
	}
	many.judge(holds, "3,000 operations")
	truth := meanInFlight(many.arrived.Log, overloadLength)
	holds.judge("mean in flight within 1% of the log's integral", fmt.Sprintf("%.1f against %.1f", a.InFlightMean, truth), math.Abs(a.InFlightMean-truth) <= 0.01*truth)
	return t.String() + "\n" + holds.String(), nil
}

// meanInFlight integrates the requests under way over the window that the first arrival begins.
func meanInFlight(log []event, window time.Duration) float64 {
	if len(log) == 0 {
		return 0
	}
	end := log[0].Arrived + int64(window)
	sum := 0.0
	for _, e := range log {
		until := e.Written
		if until == 0 {
			until = end
		}
		sum += float64(max(0, min(until, end)-e.Arrived))
	}
	return sum / float64(window)
}
