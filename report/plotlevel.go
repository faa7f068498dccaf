package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// mostDots is how many trials a page draws one by one, over all plots; beyond, they are binned.
const mostDots = 6000

// bins is the number of bins of a cell's distribution where dots would be too many.
const bins = 64

// A plotter draws one measure.
type plotter struct {
	f      *Findings
	m      *grade.Figures
	s      columnScale
	by     map[string][]int // trials by cell
	binned bool
}

// A plot is a drawing with what stands around it.
type plot struct {
	Title string
	SVG   string
}

// levelPlots draws the measure by level, a panel for each combination of the other factors.
func (p *plotter) levelPlots(g grouping) []plot {
	width, height := 720.0, 320.0
	if len(g.facets) > 1 {
		width, height = 360, 260
	}
	rows := map[string][]grade.CellFigures{}
	var shown []float64
	for _, c := range p.m.Cells {
		facet := c.Cell.Without(g.along.Name, g.colour).Key()
		rows[facet] = append(rows[facet], c)
		shown = append(shown, c.Median, c.Low, c.High)
	}
	for i := range p.f.Trials {
		if i < len(p.m.Values) && p.good(i) {
			shown = append(shown, p.m.Values[i])
		}
	}
	var plots []plot
	for _, facet := range g.facets {
		c := &canvas{width: width, height: height}
		y := valueAxis(shown, height-60, 20)
		p.frame(c, y, p.m.Ref.String())
		x := newLevelAxis(g.along, p.gutter(y), width-8-p.labelRoom(g))
		p.levelTicks(c, x, g.along)
		p.series(c, g, x, y, rows[facet.Key()])
		title := p.f.facetTitle(facet)
		label := p.m.Ref.String() + " by " + g.along.Name
		if title != "" {
			label += ", " + title
		}
		class := "plot"
		if len(g.facets) > 1 {
			class = "plot panel"
		}
		plots = append(plots, plot{title, c.svg(class, label)})
	}
	return plots
}

// gutter is the room for the labels of the value axis, which stand inside the plot.
func (p *plotter) gutter(y axis) float64 {
	longest := length("log scale")
	for i, text := range tickTexts(y.ticks(5), p.s.Scale) {
		longest = max(longest, length(text))
		if i == len(y.ticks(5))-1 {
			longest = max(longest, length(text+p.s.Suffix()))
		}
	}
	return min(10+6.6*float64(longest), 130)
}

// frame draws the value axis: grid lines with their numbers above them, the unit at the topmost.
func (p *plotter) frame(c *canvas, y axis, name string) {
	ticks := y.ticks(5)
	texts := tickTexts(ticks, p.s.Scale)
	for i, t := range ticks {
		class := "grid"
		if t == 0 {
			class = "zero"
		}
		c.line(class, 0, y.at(t), c.width, y.at(t))
		text := texts[i]
		if i == len(ticks)-1 {
			text += p.s.Suffix()
		}
		c.text("tick", "start", 0, y.at(t)-3, 0, text)
	}
	if y.log {
		c.text("tick", "end", c.width, y.to-4, 0, "log scale")
	}
}

// levelTicks names the levels under the plot and, below them, the factor.
func (p *plotter) levelTicks(c *canvas, x levelAxis, along assay.Factor) {
	y := c.height - 60
	free := math.Inf(-1)
	for _, level := range x.order {
		at := x.x[level]
		c.line("axis", at, y, at, y+4)
		half := 4 + 3.6*float64(length(level))
		if at-half > free {
			c.text("tick", "middle", at, y+6, 1, level)
			free = at + half
		}
	}
	name := along.Name
	if along.Unit != "" {
		name += ", " + along.Unit
	}
	if x.kind == "log" {
		name += " (log scale)"
	}
	c.text("name", "middle", (x.x[x.order[0]]+x.x[x.order[len(x.order)-1]])/2, y+6, 2.3, name)
}

// labelRoom is the room at the right for the names of the series.
func (p *plotter) labelRoom(g grouping) float64 {
	if !p.direct(g) {
		return 0
	}
	longest := 0
	for _, s := range g.series {
		longest = max(longest, length(s))
	}
	return 8 + 9.5*float64(longest)
}

// direct reports whether the names of the series stand at their lines' ends instead of in a legend.
func (p *plotter) direct(g grouping) bool {
	if len(g.facets) > 1 || len(g.series) < 2 || len(g.series) > 4 {
		return false
	}
	for _, s := range g.series {
		if length(s) > 12 {
			return false
		}
	}
	return true
}

// mostMarks is how many cells of one panel have their trials and intervals drawn; beyond, only the
// line through the medians can be seen anyway.
const mostMarks = 600

// series draws the cells of one panel: trials, then lines between medians, then intervals.
func (p *plotter) series(c *canvas, g grouping, x levelAxis, y axis, cells []grade.CellFigures) {
	slot := min(x.gap*0.8, 46*float64(len(g.series))) / float64(len(g.series))
	place := func(cell assay.Cell) float64 {
		shift := float64(g.seriesOf(cell)) - float64(len(g.series)-1)/2
		return x.x[cell[g.along.Name]] + shift*slot
	}
	marked := cells
	if len(cells) > mostMarks {
		marked = nil
	}
	for _, cell := range marked {
		class := seriesClass(g.seriesOf(cell.Cell))
		if p.binned {
			p.bin(c, class, place(cell.Cell), slot*0.86, y, cell)
		} else {
			p.dots(c, class, place(cell.Cell), slot*0.62, y, cell.Cell)
		}
	}
	p.medians(c, g, x, y, cells, place)
	for _, cell := range marked {
		p.interval(c, seriesClass(g.seriesOf(cell.Cell)), place(cell.Cell), min(slot*0.42, 11), y, cell)
	}
}

// medians joins the medians of each series along the axis and names the series at the end.
func (p *plotter) medians(c *canvas, g grouping, x levelAxis, y axis, cells []grade.CellFigures, place func(assay.Cell) float64) {
	ends := map[int]float64{}
	type spot struct {
		series int
		level  string
	}
	by := map[spot]grade.CellFigures{}
	for _, cell := range cells {
		by[spot{g.seriesOf(cell.Cell), cell.Cell[g.along.Name]}] = cell
	}
	for i := range g.series {
		var xs, ys []float64
		for _, level := range x.order {
			if cell, ok := by[spot{i, level}]; ok && finite(cell.Median) {
				xs, ys = append(xs, place(cell.Cell)), append(ys, y.at(cell.Median))
			}
		}
		c.polyline("join "+seriesClass(i), xs, ys)
		if len(ys) > 0 {
			ends[i] = ys[len(ys)-1]
		}
	}
	if !p.direct(g) {
		return
	}
	for i, at := range apart(ends, len(g.series), 17) {
		if !math.IsNaN(at) {
			c.text("label "+seriesClass(i), "start", c.width-p.labelRoom(g), at, 0.35, g.series[i])
		}
	}
}

// apart moves label positions so that no two are nearer than least, keeping their order; series
// without a position are NaN.
func apart(ends map[int]float64, n int, least float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
		if y, ok := ends[i]; ok {
			out[i] = y
		}
	}
	for range 20 {
		moved := false
		for i := range out {
			for j := range out {
				d := out[j] - out[i]
				if i != j && d >= 0 && d < least && (d > 0 || i < j) {
					shift := (least - d) / 2
					out[i], out[j], moved = out[i]-shift, out[j]+shift, true
				}
			}
		}
		if !moved {
			break
		}
	}
	return out
}

// dots draws every trial of a cell, those of early blocks at the left of the column.
func (p *plotter) dots(c *canvas, class string, x, width float64, y axis, cell assay.Cell) {
	trials := p.by[cell.Key()]
	last := 1
	for _, i := range trials {
		last = max(last, p.f.Trials[i].Block)
	}
	for _, i := range trials {
		t := &p.f.Trials[i]
		shift := (float64(t.Block)-0.5)/float64(last) - 0.5
		p.dot(c, class, x+shift*width, y, i)
	}
}

// dot draws one trial: a dot if it counts and ended ok, a cross if it does not count, a mark at
// the worse edge if its number is worse than any.
func (p *plotter) dot(c *canvas, class string, x float64, y axis, i int) {
	t := &p.f.Trials[i]
	v := math.NaN()
	if i < len(p.m.Values) {
		v = p.m.Values[i]
	}
	title := p.trialTitle(t, v)
	switch {
	case t.Outcome == assay.Refused || t.Outcome == assay.Interrupted || !t.Valid && !finite(v):
		return // there is no number to draw; the list below the plots names the trial
	case !t.Valid:
		c.cross("void", x, y.at(v), 3.2, title)
	case !finite(v) || t.Outcome.CellsDoing() || t.Outcome == assay.Killed:
		at := y.from - 4
		if p.m.Better == assay.Lower {
			at = y.to + 4
		}
		c.path("bad", "M"+attr(x-4)+" "+attr(at-4)+"h8l-4 8z", title)
	default:
		c.circle("dot "+class, x, y.at(v), 2.4, title)
	}
}

func (p *plotter) trialTitle(t *assay.Trial, v float64) string {
	text := "trial " + strconv.Itoa(t.Trial) + ", block " + strconv.Itoa(t.Block) + ": "
	if finite(v) {
		text += p.s.Phrase(v, p.s.decimals)
	} else {
		text += "no number"
	}
	if t.Outcome != assay.OK {
		text += ", " + string(t.Outcome)
	}
	if !t.Valid {
		text += ", void by " + strings.Join(t.VoidBy, ", ")
	}
	return text
}

// interval draws a cell's interval as a bar and its median as a stroke across.
func (p *plotter) interval(c *canvas, class string, x, half float64, y axis, cell grade.CellFigures) {
	if !finite(cell.Median) {
		return
	}
	title := p.f.cellText(cell.Cell) + ": median " + p.s.Phrase(cell.Median, p.s.decimals) +
		", " + Confidence(cell.Confidence) + " interval " + p.s.interval(cell) + ", " + count(cell.N, "trial")
	if finite(cell.Low) && finite(cell.High) {
		c.rect("bar "+class, x-1.3, y.at(cell.High), 2.6, y.at(cell.Low)-y.at(cell.High), title)
	}
	c.path("mid "+class, "M"+attr(x-half)+" "+attr(y.at(cell.Median))+"h"+attr(2*half), title)
}

// good reports whether the trial at i counts and ended ok.
func (p *plotter) good(i int) bool {
	t := &p.f.Trials[i]
	return t.Counts() && t.Outcome == assay.OK
}

// bin draws the distribution of a cell's counted trials as a column of centred bars.
func (p *plotter) bin(c *canvas, class string, x, width float64, y axis, cell grade.CellFigures) {
	var counts [bins]int
	most := 0
	height := (y.from - y.to) / bins
	for _, i := range p.by[cell.Cell.Key()] {
		if v := p.m.Values[i]; p.good(i) && finite(v) {
			b := clamp(int((y.from-y.at(v))/height), 0, bins-1)
			counts[b]++
			most = max(most, counts[b])
		}
	}
	var d strings.Builder
	for b, n := range counts {
		if n > 0 {
			w := max(width*float64(n)/float64(most), 1)
			d.WriteString("M" + attr(x-w/2) + " " + attr(y.from-float64(b+1)*height) + "h" + attr(w) + "v" + attr(height-0.3) + "h" + attr(-w) + "z")
		}
	}
	if d.Len() > 0 {
		c.path("bin "+class, d.String(), "")
	}
}
