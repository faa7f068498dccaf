package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A pen writes lines that fit a width. Colour is applied after measuring, so that it never counts.
type pen struct {
	b      strings.Builder
	width  int
	colour bool
}

// The few styles that text uses, as SGR parameters.
const (
	bold    = "1"
	dim     = "2"
	red     = "31"
	green   = "32"
	yellow  = "33"
	blue    = "34"
	magenta = "35"
)

// minWidth is the least width that text is laid out for.
const minWidth = 40

func newPen(width int, colour bool) *pen {
	if width <= 0 {
		width = 80
	}
	return &pen{width: max(width, minWidth), colour: colour}
}

// paint is text in the style, or as it is without colour.
func (p *pen) paint(style, text string) string {
	if !p.colour || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// line writes one line as it is.
func (p *pen) line(text string) {
	p.b.WriteString(strings.TrimRight(text, " "))
	p.b.WriteByte('\n')
}

// para writes text wrapped to the width, each line behind indent blanks, in one style.
func (p *pen) para(indent int, style, text string) {
	for _, line := range wrap(text, p.width-indent) {
		p.line(strings.Repeat(" ", indent) + p.paint(style, line))
	}
}

// item writes a label and a wrapped text that hangs behind it at column indent.
func (p *pen) item(label string, style string, indent int, text string) {
	head := "  " + label
	if length(head) >= indent {
		p.line(p.paint(style, head))
		p.para(indent, "", text)
		return
	}
	lines := wrap(text, p.width-indent)
	p.line(p.paint(style, head) + strings.Repeat(" ", indent-length(head)) + lines[0])
	for _, line := range lines[1:] {
		p.line(strings.Repeat(" ", indent) + line)
	}
}

// heading writes an empty line and the heading of a section.
func (p *pen) heading(text string) {
	p.line("")
	p.line(p.paint(bold, text))
}

// wrap breaks text at blanks into lines of at most width runes; a longer word is cut. It gives at
// least one line.
func wrap(text string, width int) []string {
	width = max(width, 10)
	var lines []string
	line := ""
	for _, word := range strings.Fields(plain(text)) {
		for length(word) > width {
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			runes := []rune(word)
			lines = append(lines, string(runes[:width]))
			word = string(runes[width:])
		}
		switch {
		case line == "":
			line = word
		case length(line)+1+length(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// hang wraps text behind a label and two blanks; a label that would leave no room has its own line.
func hang(label, text string, width int) []string {
	if length(label)+2 > width/2 {
		return append(wrap(label, width), wrap(text, width)...)
	}
	standIn := strings.Repeat("x", length(label)+1) // wrap would draw the two blanks together
	lines := wrap(standIn+" "+text, width)
	lines[0] = label + "  " + strings.TrimPrefix(lines[0][len(standIn):], " ")
	return lines
}

// plain is text without control and formatting characters: names come from files and programs,
// and a terminal would obey them.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError:
			return '?'
		}
		return r
	}, text)
}

// visible is plain for text of several lines.
func visible(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = plain(line)
	}
	return strings.Join(lines, "\n")
}

func length(text string) int { return utf8.RuneCountInString(text) }

// table writes rows with their columns aligned: the first left, those named in right to the right.
// Columns are separated by two blanks; rows that exceed the width are cut by nobody.
func (p *pen) table(indent int, rows [][]string, right func(column int) bool) {
	widths := []int{}
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], length(plain(cell)))
		}
	}
	for r, row := range rows {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", indent))
		for i, cell := range row {
			cell = plain(cell)
			pad := strings.Repeat(" ", widths[i]-length(cell))
			if i > 0 {
				b.WriteString("  ")
			}
			if right(i) {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
		}
		text := strings.TrimRight(b.String(), " ")
		if r == 0 {
			text = p.paint(dim, text)
		}
		p.line(text)
	}
}
