package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func ns(x int64) *int64 { return &x }

func overloaded() LoadAccount {
	return LoadAccount{
		Planned: 3000, Sent: 2800, Dropped: 200, OK: 2000, TimedOut: 500, InFlightAtEnd: 0,
		Errors: map[string]int64{"shed": 290, "reset": 10}, OfferedPerS: 100, SentPerS: 93.333333, CompletedPerS: 66.6666667,
		Response:    LoadQuantiles{P50: ns(12_345_678), P90: ns(55_111_000), P95: ns(101_999_000), P99: ns(1_000_000_000), Max: ns(2_345_678_901)},
		ResponseAll: LoadQuantiles{P50: ns(17_000_000)},
		Service:     LoadQuantiles{P50: ns(2_345_678), P90: ns(5_111_000), P95: ns(10_999_000), P99: ns(99_900_000), Max: ns(345_678_901)},
		Lag:         LoadQuantiles{P50: ns(45_678), P90: ns(91_000), P95: ns(101_999), P99: ns(240_000), Max: ns(678_901)},
		Connections: 120, InFlightMean: 41.72, Generator: LoadGenerator{CPURatio: 0.123, RSS: 41_000_000},
		Valid: true, VoidBy: []string{}, Notes: []string{"overload: the target completed 67% of what was offered while the generator was healthy"},
	}
}

func loadText(t *testing.T, a LoadAccount, quiet bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := LoadText(&b, a, 80, quiet, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLoadGolden(t *testing.T) {
	golden(t, "load.txt", []byte(loadText(t, overloaded(), false)))
	void := overloaded()
	void.Valid, void.VoidBy = false, []string{"guard:generator"}
	golden(t, "load-void.txt", []byte(loadText(t, void, true)))
}

// Beneath the quantiles stand their intervals, and how many independent operations they rest on.
func TestLoadIntervals(t *testing.T) {
	a := overloaded()
	a.Within = []LoadInterval{{"p50", 12_000_000, 12_700_000, 2000, 1480.5, true}, {"p90", 0, 61_000_000, 2000, 35.2, true},
		{"p95", 88_000_000, math.Inf(1), 2000, 71.9, true}, {"p99", 900_000_000, 1_200_000_000, 2000, 2000, true}}
	golden(t, "load-within.txt", []byte(loadText(t, a, false)))
	for i := range a.Within {
		a.Within[i].Asked = false
	}
	text := strings.Join(strings.Fields(loadText(t, a, false)), " ")
	if !strings.Contains(text, "take the operations as independent") || !strings.Contains(text, "effective n - - - -") {
		t.Errorf("a short load does not say what its intervals take for granted:\n%s", text)
	}
}

// Phases stand in the order in which operations pass through them, those that there were.
func TestLoadPhases(t *testing.T) {
	a := overloaded()
	a.Phases = map[string]LoadPhase{
		"wait":    {Operations: 2000, Mean: 2_100_000, P50: ns(2_000_000), P99: ns(90_000_000)},
		"connect": {Operations: 120, Mean: 81_000, P50: ns(75_000)},
		"write":   {Operations: 2000, Mean: 21_000, P50: ns(19_000), P99: ns(61_000)},
	}
	golden(t, "load-phases.txt", []byte(loadText(t, a, false)))
}

// A quantile that the count does not support is absent, and the text says so.
func TestLoadPrintsNoUnsupportedQuantile(t *testing.T) {
	few := overloaded()
	few.OK = 71
	got := loadText(t, few, false)
	if !strings.Contains(got, "p90") || strings.Contains(strings.Split(got, "not printed")[0], "p95") {
		t.Errorf("71 ok operations support p90 and not p95:\n%s", got)
	}
	if !strings.Contains(strings.Join(strings.Fields(got), " "), "p95 needs 72") {
		t.Errorf("the text does not say what p95 needs:\n%s", got)
	}
	few.OK = 5 // only the maximum is left
	if got := loadText(t, few, false); strings.Contains(strings.Split(got, "not printed")[0], "p90") || !strings.Contains(got, "p50 needs 6") {
		t.Errorf("5 ok operations support no quantile:\n%s", got)
	}
}

func TestLoadShare(t *testing.T) {
	for _, test := range []struct {
		part, whole int64
		want        string
	}{{0, 100, "0%"}, {100, 100, "100%"}, {1, 3, "33%"}, {999, 1000, "99.9%"}, {99999, 100000, "99.999%"}, {1, 100000, "0.001%"}, {1, 0, "none"}} {
		if got := share(test.part, test.whole); got != test.want {
			t.Errorf("share(%d, %d) = %s, want %s", test.part, test.whole, got, test.want)
		}
	}
}

// A void load must not open with a figure.
func TestLoadVoidNeverReadsAsGood(t *testing.T) {
	got := loadText(t, LoadAccount{OK: 10, Planned: 10}, true)
	if !strings.HasPrefix(got, "VOID") || strings.Contains(got, "100%") {
		t.Errorf("the zero account is not valid, but the text says: %s", got)
	}
}

// The names are those of assay load --json.
func TestLoadReadsTheJSON(t *testing.T) {
	d := json.NewDecoder(strings.NewReader(`{"planned":1,"sent":1,"dropped":0,"cancelled":0,"ok":1,"timed_out":0,"in_flight_at_end":0,
		"errors":{"reset":1},"offered_per_s":1,"sent_per_s":1,"completed_per_s":1,"response":{"p50_ns":1,"p90_ns":null,"p95_ns":null,"p99_ns":null,"p999_ns":null,"max_ns":1},
		"response_all":{},"service":{},"lag":{},"connections":1,"in_flight_mean":1,"generator":{"cpu_ratio":0.1,"rss_bytes":1},"valid":true,"void_by":[],"notes":[]}`))
	d.DisallowUnknownFields()
	var a LoadAccount
	if err := d.Decode(&a); err != nil {
		t.Fatal(err)
	}
	if a.Errors["reset"] != 1 || *a.Response.Max != 1 || !a.Valid {
		t.Errorf("account = %+v", a)
	}
}
