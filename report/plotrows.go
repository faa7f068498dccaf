package report

import (
	"math"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// mostPlotRows is how many cells a plot of rows shows.
const mostPlotRows = 60

// rowHeight is the height of one cell's row: its name above, its trials below.
const rowHeight = 46.0

// rowPlot draws each cell as a row of its own, for experiments without an axis.
func (p *plotter) rowPlot() plot {
	cells := p.m.Cells[:min(len(p.m.Cells), mostPlotRows)]
	c := &canvas{width: 720, height: float64(len(cells))*rowHeight + 34}
	var shown []float64
	for _, cell := range cells {
		shown = append(shown, cell.Median, cell.Low, cell.High)
		for _, i := range p.by[cell.Cell.Key()] {
			if i < len(p.m.Values) && p.good(i) {
				shown = append(shown, p.m.Values[i])
			}
		}
	}
	x := valueAxis(shown, 12, c.width-12)
	bottom := c.height - 30
	ticks := x.ticks(6)
	for i, text := range tickTexts(ticks, p.s.Scale) {
		c.line("grid", x.at(ticks[i]), 0, x.at(ticks[i]), bottom)
		if i == len(ticks)-1 {
			text += p.s.Suffix()
		}
		c.text("tick", anchorAt(x.at(ticks[i]), c.width), x.at(ticks[i]), bottom+4, 1, text)
	}
	for i, cell := range cells {
		p.row(c, x, float64(i)*rowHeight, cell)
	}
	return plot{"", c.svg("plot", p.m.Ref.String()+" by cell")}
}

func anchorAt(x, width float64) string {
	switch {
	case x < 30:
		return "start"
	case x > width-60:
		return "end"
	}
	return "middle"
}

func (p *plotter) row(c *canvas, x axis, top float64, cell grade.CellFigures) {
	c.text("name", "start", 0, top, 1.1, p.f.cellText(cell.Cell))
	if finite(cell.Median) {
		c.text("value", "end", c.width, top, 1.1, p.s.median(cell)+p.s.Suffix())
	}
	mid := top + rowHeight*0.68
	c.line("rule", 0, mid, c.width, mid)
	trials := p.by[cell.Cell.Key()]
	if p.binned {
		p.rowBin(c, x, mid, trials)
	} else {
		for k, i := range trials {
			// Three heights keep dots apart without claiming anything.
			p.rowDot(c, x, mid+float64(k%3-1)*5, i)
		}
	}
	if !finite(cell.Median) {
		return
	}
	if finite(cell.Low) && finite(cell.High) {
		title := Confidence(cell.Confidence) + " interval " + p.s.interval(cell) + ", " + count(cell.N, "trial")
		c.rect("bar s0", x.at(cell.Low), mid-1.3, x.at(cell.High)-x.at(cell.Low), 2.6, title)
	}
	c.path("mid s0", "M"+attr(x.at(cell.Median))+" "+attr(mid-9)+"v18", "median "+p.s.Phrase(cell.Median, p.s.decimals))
}

func (p *plotter) rowDot(c *canvas, x axis, y float64, i int) {
	t, v := &p.f.Trials[i], math.NaN()
	if i < len(p.m.Values) {
		v = p.m.Values[i]
	}
	title := p.trialTitle(t, v)
	switch {
	case t.Outcome == assay.Refused || t.Outcome == assay.Interrupted || !t.Valid && !finite(v):
	case !t.Valid:
		c.cross("void", x.at(v), y, 3.2, title)
	case !finite(v) || t.Outcome.CellsDoing() || t.Outcome == assay.Killed:
		at := x.from
		if p.m.Better == assay.Lower {
			at = x.to
		}
		c.path("bad", "M"+attr(at-4)+" "+attr(y-4)+"h8l-4 8z", title)
	default:
		c.circle("dot s0", x.at(v), y, 2.4, title)
	}
}

// rowBin draws the counted trials of a row as bars whose height is their number.
func (p *plotter) rowBin(c *canvas, x axis, mid float64, trials []int) {
	counts := make([]int, 120)
	for _, i := range trials {
		if v := p.m.Values[i]; p.good(i) && finite(v) {
			b := int((x.at(v) - x.from) / (x.to - x.from) * float64(len(counts)))
			counts[clamp(b, 0, len(counts)-1)]++
		}
	}
	most := slices.Max(counts)
	width := (x.to - x.from) / float64(len(counts))
	for b, n := range counts {
		if n > 0 {
			h := max(22*float64(n)/float64(most), 1)
			c.rect("bin s0", x.from+float64(b)*width, mid-h/2, width-0.5, h, "")
		}
	}
}
