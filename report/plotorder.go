package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
)

// orderColumns is the number of columns into which trials are drawn together where dots would be
// too many.
const orderColumns = 360

// orderPlot draws the trials in the order in which they were executed: the measure above, and
// below each trial relative to the median of its cell, where drifts and steps of the machine show.
func (p *plotter) orderPlot(g grouping) plot {
	c := &canvas{width: 720, height: 440}
	trials := p.order()
	if len(trials) == 0 {
		return plot{}
	}
	values := p.m.Values
	y := valueAxis(p.finite(trials, values), 206, 20)
	x := axis{low: 0, high: float64(len(trials)), from: p.gutter(y), to: c.width - 8}
	p.shade(c, x, trials)
	p.frame(c, y, p.m.Ref.String())
	relative := p.relative()
	r := axis{from: 396, to: 240}
	r.low, r.high = around(p.finite(trials, relative))
	p.relativeFrame(c, r)
	if p.binned {
		p.columns(c, x, y, trials, values)
		p.columns(c, x, r, trials, relative)
	} else {
		for k, i := range trials {
			class := seriesClass(g.seriesOf(p.f.Trials[i].Cell))
			at := x.at(float64(k) + 0.5)
			p.dot(c, class, at, y, i)
			p.relativeDot(c, class, at, r, i, relative[i])
		}
	}
	p.orderTicks(c, x, trials)
	return plot{"", c.svg("plot", p.m.Ref.String()+" in order of execution")}
}

// order is the trials that the plot has, warm-ups apart, as they were executed.
func (p *plotter) order() []int {
	var trials []int
	for i := range p.f.Trials {
		if !p.f.Trials[i].Warmup && i < len(p.m.Values) {
			trials = append(trials, i)
		}
	}
	return trials
}

// finite are the numbers of the counted trials that ended ok, which decide the axis.
func (p *plotter) finite(trials []int, values []float64) []float64 {
	var xs []float64
	for _, i := range trials {
		if p.good(i) && finite(values[i]) {
			xs = append(xs, values[i])
		}
	}
	return xs
}

// relative is each trial's number over the median of its cell.
func (p *plotter) relative() []float64 {
	medians := map[string]float64{}
	for _, c := range p.m.Cells {
		medians[c.Cell.Key()] = c.Median
	}
	out := make([]float64, len(p.f.Trials))
	for i := range out {
		out[i] = math.NaN()
		if median, ok := medians[p.f.Trials[i].Cell.Key()]; ok && i < len(p.m.Values) && median != 0 {
			out[i] = p.m.Values[i] / median
		}
	}
	return out
}

// around is a range that holds the numbers and 1, at least 2% to either side.
func around(xs []float64) (low, high float64) {
	low, high = 0.98, 1.02
	for _, x := range xs {
		low, high = min(low, x), max(high, x)
	}
	pad := (high - low) * 0.08
	return low - pad, high + pad
}

// shade marks every other block.
func (p *plotter) shade(c *canvas, x axis, trials []int) {
	for start, k := 0, 1; k <= len(trials); k++ {
		if k < len(trials) && p.f.Trials[trials[k]].Block == p.f.Trials[trials[start]].Block {
			continue
		}
		block := p.f.Trials[trials[start]].Block
		if w := x.at(float64(k)) - x.at(float64(start)); block%2 == 1 && w > 1.5 {
			c.rect("block", x.at(float64(start)), 12, w, 386, "block "+strconv.Itoa(block))
		}
		start = k
	}
}

func (p *plotter) relativeFrame(c *canvas, r axis) {
	ticks := r.ticks(4)
	texts := tickTexts(ticks, Scale{Factor: 100, Unit: "%"})
	for i, t := range ticks {
		class := "grid"
		if math.Abs(t-1) < 1e-9 {
			class = "zero"
		}
		c.line(class, 0, r.at(t), c.width, r.at(t))
		text := texts[i] + "%"
		c.text("tick", "start", 0, r.at(t)-3, 0, text)
	}
	c.text("tick", "end", c.width, r.to-8, 0, "of the cell's median")
}

func (p *plotter) relativeDot(c *canvas, class string, x float64, r axis, i int, v float64) {
	t := &p.f.Trials[i]
	switch {
	case !finite(v) || t.Outcome != assay.OK:
	case !t.Valid:
		c.cross("void", x, r.at(v), 3.2, "")
	default:
		c.circle("dot "+class, x, r.at(v), 2.4, "")
	}
}

func (p *plotter) orderTicks(c *canvas, x axis, trials []int) {
	y := c.height - 42
	step := max(niceStep(float64(len(trials))/8), 1)
	for k := step; k <= float64(len(trials)); k += step {
		at := x.at(k - 0.5)
		c.line("axis", at, y, at, y+4)
		c.text("tick", "middle", at, y+5, 1, group(float64(p.f.Trials[trials[int(k)-1]].Trial), 0))
	}
	c.text("tick", "start", 0, y+5, 1, "trial")
}

// columns draws, for each column of trials, the range of their numbers, the middle half of them
// and the median; voids are ticks at the foot.
func (p *plotter) columns(c *canvas, x, y axis, trials []int, values []float64) {
	per := (len(trials) + orderColumns - 1) / orderColumns
	var whole, half, voids strings.Builder
	var xs, ys []float64
	for start := 0; start < len(trials); start += per {
		part := trials[start:min(start+per, len(trials))]
		at := x.at(float64(start) + float64(len(part))/2)
		if slices.ContainsFunc(part, func(i int) bool { return !p.f.Trials[i].Valid }) {
			voids.WriteString("M" + attr(at) + " " + attr(y.from) + "v-6")
		}
		numbers := p.finite(part, values)
		if len(numbers) == 0 {
			continue
		}
		slices.Sort(numbers)
		n := len(numbers)
		stroke := func(b *strings.Builder, low, high float64) {
			b.WriteString("M" + attr(at) + " " + attr(y.at(low)) + "V" + attr(y.at(high)-0.5))
		}
		stroke(&whole, numbers[0], numbers[n-1])
		stroke(&half, numbers[n/4], numbers[n-1-n/4])
		xs, ys = append(xs, at), append(ys, y.at(numbers[n/2]))
	}
	c.path("whole", whole.String(), "")
	c.path("half", half.String(), "")
	c.path("void", voids.String(), "")
	c.polyline("join s1", xs, ys)
}
