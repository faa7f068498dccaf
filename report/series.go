package report

import (
	"slices"
	"strings"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// mostSeries is how many colours can be told apart, also by the colour-blind.
const mostSeries = 6

// mostFacets is how many panels one measure gets at most.
const mostFacets = 24

// A grouping says how the cells of a measure are drawn: one factor along the x axis, one by
// colour, the others a panel a combination.
type grouping struct {
	along  assay.Factor
	colour string // factor name; empty: one series
	series []string
	facets []assay.Cell // in design order
	left   int          // panels beyond mostFacets
}

// group chooses the grouping; ok is false where no factor makes a good axis, and then each cell
// has a row of its own.
func (f *Findings) group(cells []grade.CellFigures) (g grouping, ok bool) {
	factors := f.factors()
	at := -1
	for i, factor := range factors {
		_, numeric := levelValues(factor.Order())
		if numeric && len(factor.Levels) > 2 && (at < 0 || len(factor.Levels) > len(factors[at].Levels)) {
			at = i
		}
	}
	if at < 0 {
		return g, false
	}
	g.along = factors[at]
	for i, factor := range factors {
		if n := len(factor.Levels); i != at && n > len(g.series) && n <= mostSeries {
			g.colour, g.series = factor.Name, factor.Order()
		}
	}
	rows := map[string]bool{}
	for _, c := range cells {
		rest := c.Cell.Without(g.along.Name)
		rows[rest.Key()] = true
		facet := rest.Without(g.colour)
		if !slices.ContainsFunc(g.facets, func(k assay.Cell) bool { return k.Key() == facet.Key() }) {
			if len(g.facets) == mostFacets {
				g.left++
				continue
			}
			g.facets = append(g.facets, facet)
		}
	}
	if len(g.series) == 0 {
		g.series = []string{""}
	}
	// In a design that varies one factor at a time most rows would hold a single cell.
	return g, len(cells) >= 2*len(rows)
}

// seriesOf is the index of the cell's series.
func (g grouping) seriesOf(c assay.Cell) int {
	return max(slices.Index(g.series, c[g.colour]), 0)
}

// seriesClass is the style class of a series.
func seriesClass(i int) string { return "s" + string(rune('0'+i%mostSeries)) }

// facetTitle names a panel; empty if it is the only one.
func (f *Findings) facetTitle(c assay.Cell) string {
	if len(c) == 0 {
		return ""
	}
	return strings.ReplaceAll(f.cellText(c), "=", " = ")
}

// matching is the trials of each cell, by the cell's key: indexes into Findings.Trials.
func (f *Findings) matching() map[string][]int {
	by := map[string][]int{}
	for i := range f.Trials {
		if t := &f.Trials[i]; !t.Warmup {
			by[t.Cell.Key()] = append(by[t.Cell.Key()], i)
		}
	}
	return by
}
