package stat

import (
	"math"
	"testing"
)

// walk carries a search out against answers until it is done, and is its bracket and number of probes.
func walk(t *testing.T, s Search, answer func(at float64, probe int) Decision) (Bracket, int) {
	t.Helper()
	var probes []Probe
	for range 500 {
		b := s.Next(probes)
		if b.Done {
			return b, len(probes)
		}
		if !(b.Next > 0) {
			t.Fatalf("after %v the search wants level %v", probes, b.Next)
		}
		probes = append(probes, Probe{b.Next, answer(b.Next, len(probes))})
	}
	t.Fatalf("search not done after %d probes: %+v", len(probes), s.Next(probes))
	return Bracket{}, 0
}

// upTo answers truly for conditions met up to a level.
func upTo(limit float64) func(float64, int) Decision {
	return func(at float64, _ int) Decision {
		if at <= limit {
			return Confirmed
		}
		return Refuted
	}
}

func TestSearchBracketsTheTruth(t *testing.T) {
	for _, limit := range []float64{0.3, 7, 99, 100, 1234, 1e6} {
		b, probes := walk(t, Search{Start: 100}, upTo(limit))
		if !(b.Low <= limit && limit < b.High && b.High <= b.Low*1.05) {
			t.Errorf("limit %v: bracket %v..%v after %d probes", limit, b.Low, b.High, probes)
		}
	}
}

// TestSearchForgivesOneWrongProbe turns each probe's answer in turn: wherever the wrong one falls, the
// bracket ends up around the truth. A bisection by sign fails at most of them.
func TestSearchForgivesOneWrongProbe(t *testing.T) {
	const limit = 777
	truth := upTo(limit)
	_, clean := walk(t, Search{Start: 100}, truth)
	for wrong := range clean {
		b, probes := walk(t, Search{Start: 100}, func(at float64, probe int) Decision {
			d := truth(at, probe)
			if probe == wrong {
				return map[Decision]Decision{Confirmed: Refuted, Refuted: Confirmed}[d]
			}
			return d
		})
		if !(b.Low <= limit && limit < b.High) {
			t.Errorf("probe %d wrong: bracket %v..%v after %d probes", wrong, b.Low, b.High, probes)
		}
	}
}

func TestSearchWorksAroundOpenLevels(t *testing.T) {
	b, _ := walk(t, Search{Start: 100}, func(at float64, _ int) Decision {
		switch {
		case at < 450:
			return Confirmed
		case at > 550:
			return Refuted
		}
		return Undecided
	})
	if !(b.Low <= 450 && b.Low > 400 && b.High >= 550 && b.High < 600) {
		t.Errorf("levels 450 to 550 open: bracket %v..%v", b.Low, b.High)
	}
}

func TestSearchStopsAtItsLimits(t *testing.T) {
	s := Search{Start: 100, Least: 10, Most: 1000}
	if b, _ := walk(t, s, upTo(1e9)); b.Low != 1000 || !math.IsInf(b.High, 1) {
		t.Errorf("met everywhere: %+v", b)
	}
	if b, _ := walk(t, s, upTo(0)); b.Low != 0 || b.High != 10 {
		t.Errorf("missed everywhere: %+v", b)
	}
	if b, _ := walk(t, s, func(float64, int) Decision { return Undecided }); b.Low != 0 || !math.IsInf(b.High, 1) {
		t.Errorf("undecided everywhere: %+v", b)
	}
}
