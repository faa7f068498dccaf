//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestHeadsAreFoundHoweverTheyAreCut(t *testing.T) {
	for text, want := range map[string]int{
		"GET / HTTP/1.1\r\n\r\n":                           1,
		"GET / HTTP/1.1\r\nA: b\r\n\r\nGET / HTTP/1.1\r\n": 1,
		"a\r\n\r\nb\r\n\r\n":                               2,
		"a\r\r\n\r\n":                                      1,
		"a\r\n\n\r\n":                                      0,
		"a\n\n":                                            0,
	} {
		seen, heads := byte(0), 0
		for _, b := range []byte(text) {
			if seen = headState(seen, b); seen == 4 {
				seen, heads = 0, heads+1
			}
		}
		if heads != want {
			t.Errorf("%q has %d heads, want %d", text, heads, want)
		}
	}
}

// A schedule that is late as a whole is not off; one request that is late by 3 ms is, by that much.
func TestDeviationsAreFromTheScheduleAsItWasBegun(t *testing.T) {
	log := make([]event, 100)
	for k := range log {
		log[k].Arrived = 123456 + int64(k)*1e6
	}
	if p50, p99 := deviations(log, 1000); p50 != 0 || p99 != 0 {
		t.Errorf("an even schedule is off by %v and %v ns, want 0", p50, p99)
	}
	log[0].Arrived -= 9_000_000 // in the quarter that does not count
	log[98].Arrived += 400_000
	log[99].Arrived += 3_000_000
	if p50, p99 := deviations(log, 1000); p50 != 0 || p99 != 3_000_000 {
		t.Errorf("the last of 75 is 3 ms late: off by %v and %v ns, want 0 and 3000000", p50, p99)
	}
}

// A floor that was held up judges nobody, and half of the pairs are needed for a statement.
func TestPairsWithAFloorThatWasHeldUpDoNotCount(t *testing.T) {
	good, slow, held := [2]float64{1e3, 50e3}, [2]float64{2e3, 150e3}, [2]float64{1e3, 30e6}
	for name, c := range map[string]struct {
		pairs [][2][2]float64 // assay, floor
		p99   string
	}{
		"all count":            {[][2][2]float64{{slow, good}, {slow, good}, {slow, good}}, "yes"},
		"too far off":          {[][2][2]float64{{held, good}, {held, good}, {slow, good}}, "**no**"},
		"one floor held up":    {[][2][2]float64{{held, held}, {held, good}, {held, good}}, "**no**"},
		"most floors held up":  {[][2][2]float64{{slow, held}, {slow, held}, {slow, good}}, notShown},
		"requests are missing": {[][2][2]float64{{{math.Inf(1), math.Inf(1)}, good}}, "**no**"},
		"nothing":              {nil, notShown},
	} {
		p, holds := &pairing{}, newBars()
		for _, pair := range c.pairs {
			p.add(pair[0], pair[1])
		}
		p.judge(holds, 1000)
		if got := holds.rows[2][2]; got != c.p99 {
			t.Errorf("%s: got %s (%s), want %s", name, got, holds.rows[2][1], c.p99)
		}
	}
}

// Requests that wait for one connection arrive late, and their response time counts from the schedule.
func TestResponseTimesCountFromTheSchedule(t *testing.T) {
	log := []event{{Arrived: 0, Written: 5e6}, {Arrived: 5e6, Written: 6e6}, {Arrived: 6e6, Written: 7e6}, {Arrived: 7e6}}
	if got := fromSchedule(log, 1000); len(got) != 3 || got[0] != 5e6 || got[1] != 5e6 || got[2] != 5e6 {
		t.Errorf("got %v, want 5 ms for each of the three that were answered", got)
	}
}

// What the generator sent late is part of the response time, and answers need not come in order.
func TestALateArrivalCountsFromItsPlaceInTheSchedule(t *testing.T) {
	log := []event{{Arrived: 100e6, Written: 101e6}, {Arrived: 109e6, Written: 110e6}, {Arrived: 102e6, Written: 120e6}}
	if got := fromSchedule(log, 1000); len(got) != 3 || got[0] != 1e6 || got[1] != 19e6 || got[2] != 8e6 {
		t.Errorf("got %v, want 1, 19 and 8 ms", got)
	}
	if log[1].Arrived != 109e6 {
		t.Error("the log itself was sorted")
	}
}

func TestMeanInFlightCountsWhatIsNeverAnswered(t *testing.T) {
	log := []event{{Arrived: 0, Written: 5e8}, {Arrived: 5e8}}
	if got := meanInFlight(log, time.Second); got != 1 {
		t.Errorf("got %v, want 1: half a second each", got)
	}
}

func TestTheTruthIsReadBack(t *testing.T) {
	var b bytes.Buffer
	truth := Truth{Arrived: 2, Answered: 1, Log: []event{{Arrived: 10, Written: 13}, {Arrived: 11}}}
	log := truth.Log
	if err := truth.write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := parseTruth(b.Bytes())
	if err != nil || got.Arrived != 2 || len(got.Log) != 2 || got.Log[0] != log[0] || got.Log[1] != log[1] {
		t.Errorf("got %+v, %v, want what was written", got, err)
	}
	if size := binary.Size(event{}); size != 16 {
		t.Errorf("an event takes %d bytes, want 16", size)
	}
}

// Measuring one part again leaves the other sections of the page as they are.
func TestAPageKeepsItsOtherSections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	for _, section := range [][2]string{{"Memory", "one"}, {"Grading", "two"}, {"Memory", "three"}} {
		p, err := readPage(path)
		if err != nil {
			t.Fatal(err)
		}
		p.put(section[0], section[1])
		if err := p.write(path); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, sections, _ := strings.Cut(string(b), "\n## ")
	if want := "Grading\n\ntwo\n\n## Memory\n\nthree\n"; sections != want {
		t.Errorf("got %q, want %q", sections, want)
	}
}

func TestFiguresAreMedians(t *testing.T) {
	f := figures{5, 1, 9, 3, 2}
	if got, want := f.text("%.0f", 1), "3 (1 to 9)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := f.over(figures{5, 1, 3, 3, 2}).median(); got != 1 {
		t.Errorf("the median of the ratios is %v, want 1", got)
	}
}
