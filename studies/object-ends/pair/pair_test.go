package pair

import (
	"math"
	"testing"
	"time"

	"github.com/assaybench/assay/studies/object-ends/reader"
)

// At the flip, both ways cost the same; a link with less delay favours fewer bytes.
func TestFlips(t *testing.T) {
	const requests, moreRequests, bytes, fewerBytes = 2, 0.9, 1.11e6, 1.048e6
	gain := func(m Model) float64 {
		return float64(m.PerFile(requests, bytes)) / float64(m.PerFile(requests+moreRequests, bytes-fewerBytes))
	}
	rtt := FlipRTT(moreRequests, fewerBytes, 125e6, time.Millisecond)
	if rtt < 8*time.Millisecond || rtt > 9*time.Millisecond {
		t.Errorf("the flip is at %v at 1 Gbit/s; 1.048 MB take 8.4 ms there, and 0.9 requests as long", rtt)
	}
	at := Model{RTT: rtt, Service: time.Millisecond, BytesPerSecond: 125e6}
	if g := gain(at); math.Abs(g-1) > 1e-6 {
		t.Errorf("gain %v at the flip, want 1", g)
	}
	at.RTT /= 2
	if gain(at) <= 1 {
		t.Errorf("gain %v at half the round trip, want above 1", gain(at))
	}
	at.RTT = 10 * time.Millisecond
	at.BytesPerSecond = FlipBandwidth(moreRequests, fewerBytes, at)
	if g := gain(at); math.Abs(g-1) > 1e-6 {
		t.Errorf("gain %v at the flip along bandwidth, want 1", g)
	}
}

func TestCompareRefusesOtherRows(t *testing.T) {
	a := reader.Tally{Files: 2, Wall: 10, SHA256: "a", Get: 2, Head: 2, BytesBody: 100}
	b := a
	b.SHA256 = "b"
	if _, err := compare(a, b, Model{Service: 1}); err == nil {
		t.Error("two readers that arrive at different rows were compared")
	}
	got, err := compare(a, a, Model{Service: 1})
	if err != nil || got.Gain != 1 || got.Model != 1 || got.WholeRequests != 2 || got.WholeBytes != 50 {
		t.Errorf("compare = %+v, %v", got, err)
	}
}
