package report

import (
	"strings"

	"github.com/assaybench/assay"
)

// statuses in the order in which they are counted out.
var statuses = []struct {
	status    assay.Status
	one, many string
}{
	{assay.Pass, "holds", "hold"},
	{assay.Fail, "is contradicted", "are contradicted"},
	{assay.Undecided, "is undecided", "are undecided"},
	{assay.Untested, "is untested", "are untested"},
	{assay.Void, "is void", "are void"},
}

// answer is the whole in one sentence: "2 of 3 claims hold, 1 is contradicted."
func (f *Findings) answer() string {
	counts := map[assay.Status]int{}
	for _, v := range f.Verdicts.Hypotheses {
		counts[v.Verdict]++
	}
	all := len(f.Verdicts.Hypotheses)
	switch {
	case all == 0:
		return "Nothing was claimed; the figures stand for themselves."
	case all == 1:
		for _, s := range statuses {
			if counts[s.status] == 1 {
				return "The one claim " + s.one + "."
			}
		}
	case counts[assay.Pass] == all:
		return "All " + group(float64(all), 0) + " claims hold."
	}
	var parts []string
	for _, s := range statuses {
		n := counts[s.status]
		if n == 0 && s.status != assay.Pass {
			continue
		}
		verb := s.many
		if n == 1 {
			verb = s.one
		}
		number := group(float64(n), 0)
		if n == 0 {
			number, verb = "none", s.one
		}
		if len(parts) == 0 {
			number += " of " + count(all, "claim")
			number = strings.ToUpper(number[:1]) + number[1:]
		}
		parts = append(parts, number+" "+verb)
	}
	return list(parts) + "."
}

// tally says what became of the planned trials: "144 trials planned: 142 ok, 2 void."
func (f *Findings) tally() string {
	t := f.Verdicts.Trials
	parts := []string{group(float64(t.OK), 0) + " ok"}
	for _, p := range []struct {
		n    int
		word string
	}{{t.Void, "void"}, {t.Failed, "failed"}, {t.Killed, "killed"}, {t.Refused, "refused"}} {
		if p.n > 0 {
			parts = append(parts, group(float64(p.n), 0)+" "+p.word)
		}
	}
	return count(t.Planned, "trial") + " planned: " + strings.Join(parts, ", ") + "."
}
