package grade

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
)

// identical judges the claim that every counted trial of every matching cell gave the same text or
// number. It is exact: there is no interval, and one trial that differs contradicts it, and so does
// one that failed, since it gave nothing.
func (j *judge) identical(h *assay.Hypothesis, f *field) []Finding {
	out := newFinding(h.At, nil)
	var all []entry
	var of tally
	lost, open := 0, 0
	for cell := range f.cells {
		if !f.cells[cell].Matches(h.At) {
			continue
		}
		p := j.single(f, cell)
		lost, open = lost+p.lost, open+p.open
		of = of.plus(p.of)
		own := make([]entry, len(p.pairs))
		for i, pair := range p.pairs {
			own[i] = pair.of
		}
		all = append(all, own...)
		out.Blocks = max(out.Blocks, len(p.pairs))
		if out.Status == "" && !anyEntry(own, func(e entry) bool { return e.state == text || e.exact() }) {
			status, reason := assay.Untested, assay.Vacuous
			if p.lost > 0 && len(own) == 0 {
				status, reason = assay.Void, chief(p.of)
			}
			out.say(status, reason, fmt.Sprintf("%s has not one ok trial with %s", f.cells[cell], f.Ref))
		}
	}
	j.agree(&out, f, all)
	return []Finding{out}
}

// agree says whether all entries are one value. Two that differ contradict the claim whatever else is
// missing; where a cell without any was found before, that stands.
func (j *judge) agree(out *Finding, f *field, all []entry) {
	cells := map[string][]int32{} // by value: the cells that gave it
	var order []string
	failed, killed, missing := 0, 0, 0
	for _, e := range all {
		switch {
		case e.failed:
			failed++
			continue
		case e.killed:
			killed++
			continue
		case !e.exact() && e.state != text:
			missing++
			continue
		}
		value := e.text
		if e.state == number {
			value = strconv.FormatFloat(e.low, 'g', -1, 64) // every digit counts
		}
		if cells[value] == nil {
			order = append(order, value)
		}
		if cell := j.schedule.cell[e.trial-1]; !slices.Contains(cells[value], cell) {
			cells[value] = append(cells[value], cell)
		}
	}
	switch {
	case len(order) <= 1 && out.Status != "":
	case len(all) < 2:
		out.say(assay.Untested, assay.Vacuous, "one trial alone is identical to nothing")
	case len(order) > 1:
		out.say(assay.Fail, assay.Contradicted, j.differing(f, order, cells))
	case failed > 0:
		out.say(assay.Fail, assay.Contradicted, fmt.Sprintf("%d trials failed and gave no %s", failed, f.Ref))
	case killed > 0 || missing > 0:
		out.say(assay.Untested, assay.Censored, fmt.Sprintf("%d trials were killed and %d lack %s", killed, missing, f.Ref))
	default:
		out.say(assay.Pass, assay.Holds, fmt.Sprintf("%d trials gave %s", len(all), order[0]))
	}
}

func (j *judge) differing(f *field, order []string, cells map[string][]int32) string {
	const most = 4
	var b strings.Builder
	fmt.Fprintf(&b, "%d different values of %s", len(order), f.Ref)
	for i, value := range order {
		if i == most {
			fmt.Fprintf(&b, "; and %d more", len(order)-most)
			break
		}
		in := cells[value]
		fmt.Fprintf(&b, "; %s in %s", value, j.plan.Cells[in[0]].Cell)
		if len(in) > 1 {
			fmt.Fprintf(&b, " and %d more cells", len(in)-1)
		}
	}
	return b.String()
}

func (t tally) plus(u tally) tally {
	sum := tally{trials: t.trials + u.trials, void: t.void + u.void, refused: t.refused + u.refused, ok: t.ok + u.ok, by: map[string]int{}}
	for _, x := range []tally{t, u} {
		for name, n := range x.by {
			sum.by[name] += n
		}
	}
	return sum
}
