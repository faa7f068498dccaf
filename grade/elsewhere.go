package grade

import (
	"fmt"
	"math"
	"strings"

	"github.com/assaybench/assay"
)

// elsewhere holds a comparison that the hypothesis restricts to some cells against all other cells in
// which it could be made, by medians: a claim that holds where it was tested and nowhere else is a
// claim about that place. It is a note and no verdict, since those cells were not registered for it.
func (j *judge) elsewhere(h *assay.Hypothesis) string {
	if len(h.At) == 0 || h.Kind != assay.Ratio && h.Kind != assay.Difference {
		return ""
	}
	f, err := j.field(h.Measure)
	if err != nil {
		return ""
	}
	cells := 0
	var against []string
	for of, cell := range f.cells {
		if !cell.Matches(h.Of) || cell.Matches(h.At) {
			continue
		}
		to := f.find(cell.With(h.To))
		if to < 0 || to == of {
			continue
		}
		a, b := j.figuresAt(f, of).Median, j.figuresAt(f, to).Median
		x, unit := a/b, assay.Unit{Scale: 1}
		if h.Kind == assay.Difference {
			x, unit = (a-b)*f.Unit.Scale, f.Unit
		}
		if math.IsNaN(x) {
			continue
		}
		cells++
		if !h.Expect.Allows(x, unit) {
			out := newFinding(cell, f.cells[to])
			against = append(against, fmt.Sprintf("%s: %s", out.name(), figure(x/unit.Scale, unit.Name)))
		}
	}
	if len(against) == 0 {
		return ""
	}
	const most = 6
	more := ""
	if len(against) > most {
		against, more = against[:most], fmt.Sprintf("; and %d more", len(against)-most)
	}
	return fmt.Sprintf("elsewhere: by medians the claim is contradicted in %d of %d other comparable cells: %s%s", len(against), cells, strings.Join(against, "; "), more)
}
