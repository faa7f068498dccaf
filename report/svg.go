package report

import (
	"html"
	"math"
	"strconv"
	"strings"
)

// A canvas collects the elements of one SVG. Everything drawn is styled by class in the page's
// style sheet, so that light, dark and print need no second drawing.
type canvas struct {
	b             strings.Builder
	width, height float64
}

// attr is a coordinate with one decimal at most: a tenth of a unit is finer than any screen.
func attr(x float64) string {
	text := strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
	if text == "-0" {
		return "0"
	}
	return text
}

func escape(text string) string { return html.EscapeString(plain(text)) }

// open writes an element's start with its class and numeric attributes, given as name and value
// in turns.
func (c *canvas) open(name, class string, attrs ...any) {
	c.b.WriteString("<" + name)
	if class != "" {
		c.b.WriteString(` class="` + class + `"`)
	}
	for i := 0; i+1 < len(attrs); i += 2 {
		c.b.WriteString(" " + attrs[i].(string) + `="`)
		switch v := attrs[i+1].(type) {
		case float64:
			c.b.WriteString(attr(v))
		case string:
			c.b.WriteString(v)
		}
		c.b.WriteByte('"')
	}
}

// end closes an element, with a title that is shown on hover if there is one.
func (c *canvas) end(name, title string) {
	if title == "" {
		c.b.WriteString("/>")
		return
	}
	c.b.WriteString("><title>" + escape(title) + "</title></" + name + ">")
}

func (c *canvas) rect(class string, x, y, w, h float64, title string) {
	c.open("rect", class, "x", x, "y", y, "width", max(w, 0), "height", max(h, 0))
	c.end("rect", title)
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.open("line", class, "x1", x1, "y1", y1, "x2", x2, "y2", y2)
	c.end("line", "")
}

func (c *canvas) circle(class string, x, y, r float64, title string) {
	c.open("circle", class, "cx", x, "cy", y, "r", r)
	c.end("circle", title)
}

// path draws what d, in SVG's path notation, says.
func (c *canvas) path(class, d, title string) {
	c.open("path", class, "d", d)
	c.end("path", title)
}

// cross is the mark of a trial that was not counted.
func (c *canvas) cross(class string, x, y, r float64, title string) {
	c.path(class, "M"+attr(x-r)+" "+attr(y-r)+"L"+attr(x+r)+" "+attr(y+r)+"M"+attr(x-r)+" "+attr(y+r)+"L"+attr(x+r)+" "+attr(y-r), title)
}

// text writes text whose baseline lies down times the font size below y; anchor is start, middle
// or end.
func (c *canvas) text(class, anchor string, x, y, down float64, text string) {
	c.open("text", class, "x", x, "y", y)
	if down != 0 {
		c.b.WriteString(` dy="` + strconv.FormatFloat(down, 'f', -1, 64) + `em"`)
	}
	if anchor != "start" {
		c.b.WriteString(` text-anchor="` + anchor + `"`)
	}
	c.b.WriteString(">" + escape(text) + "</text>")
}

// polyline joins the points in order.
func (c *canvas) polyline(class string, xs, ys []float64) {
	var d strings.Builder
	for i := range xs {
		if i == 0 {
			d.WriteByte('M')
		} else {
			d.WriteByte('L')
		}
		d.WriteString(attr(xs[i]) + " " + attr(ys[i]))
	}
	if len(xs) > 1 {
		c.path(class, d.String(), "")
	}
}

// svg is the whole drawing; label is its description for those who cannot see it.
func (c *canvas) svg(class, label string) string {
	return `<svg class="` + class + `" viewBox="0 0 ` + attr(c.width) + " " + attr(c.height) +
		`" role="img" aria-label="` + escape(label) + `">` + c.b.String() + "</svg>"
}
