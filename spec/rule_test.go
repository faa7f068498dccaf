package spec

import "testing"

func TestRules(t *testing.T) {
	want := map[string]string{
		"H1":           "ratio of throughput, reader=readfile to reader=stream, at inflight=4, expected > 1.05, where load1 < 4",
		"H2":           "difference of wall, version=V3 to version=V2m, expected -5ms..5ms",
		"H3[readfile]": "wall, at reader=readfile, expected < 5s",
		"H3[stream]":   "wall, at reader=stream, expected < 5s",
		"H4":           "op the same, version=V2m and version=old, margin 3%, unattributed",
		"H5":           "knee of throughput along inflight, margin 5%, expected <= 4",
		"H6":           "trend of op along inflight, expected none",
		"H7":           "line of rss_peak along inflight, slope expected 1MiB..2MiB, intercept expected < 1GiB",
		"H8":           "output identical in every trial",
		"H9":           "ladder up of throughput, largest rung inflight=2",
		"it-holds":     "highest inflight that meets wall < 5s and exit == 0, expected >= 2",
	}
	e := readGood(t, "every-command-key")
	for _, h := range e.Hypotheses {
		if got := Rule(h); got != want[h.ID] {
			t.Errorf("Rule(%s) = %q, want %q", h.ID, got, want[h.ID])
		}
		if h.Claim == "" {
			t.Errorf("%s has no claim; want its rule where the file has none", h.ID)
		}
		delete(want, h.ID)
	}
	for id := range want {
		t.Errorf("no hypothesis %s", id)
	}
}
