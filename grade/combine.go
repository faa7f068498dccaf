package grade

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/assaybench/assay"
)

// severity orders statuses: a claim about many cells takes the first of these that any cell has.
var severity = []assay.Status{assay.Fail, assay.Void, assay.Untested, assay.Undecided, assay.Pass}

// combined is the status of a claim that must hold in every finding, its reason, and the finding
// that it rests on: of those with that status and reason, the one least favourable to the claim.
// Without findings nothing is claimed.
func combined(h *assay.Hypothesis, findings []Finding) (assay.Status, assay.Reason, *Finding) {
	for _, status := range severity {
		var chosen *Finding
		for i := range findings {
			f := &findings[i]
			if f.Status != status || chosen != nil && !lessFavourable(h, f, chosen) {
				continue
			}
			chosen = f
		}
		if chosen != nil {
			return status, chosen.Reason, chosen
		}
	}
	return assay.Untested, assay.Vacuous, nil
}

// lessFavourable reports whether a is worse for the claim than b; a missing estimate is the worst.
func lessFavourable(h *assay.Hypothesis, a, b *Finding) bool {
	if math.IsNaN(a.Estimate) || math.IsNaN(b.Estimate) {
		return math.IsNaN(a.Estimate) && !math.IsNaN(b.Estimate)
	}
	return disfavour(h, a.Estimate) > disfavour(h, b.Estimate)
}

// disfavour grows as the estimate moves out of the claim.
func disfavour(h *assay.Hypothesis, x float64) float64 {
	switch {
	case h.Kind == assay.Same:
		return math.Abs(math.Log(x))
	case h.Expect.IsRange:
		return math.Abs(x - (h.Expect.Bound.Number+h.Expect.High.Number)/2)
	case h.Expect.Op == assay.Greater || h.Expect.Op == assay.GreaterEq:
		return -x
	case h.Expect.Op == assay.Equal:
		return math.Abs(x - h.Expect.Bound.Number)
	}
	return x
}

// finite is x where it can stand in JSON, else nil.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func sortedUnion(a, b map[string]string) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func list(names []string) string { return strings.Join(names, ", ") }

func sortedSet(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
