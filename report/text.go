package report

import (
	"io"
	"strings"

	"github.com/assaybench/assay"
)

// Text writes the scorecard as a person reads it in a terminal of that width (0: 80): what was
// answered, one verdict a hypothesis with its reason in words, every trial that was not counted,
// and what must not be quoted. Without quiet the figures of each cell and the conditions follow.
// It is plain ASCII but for the words of the experiment's author.
func Text(w io.Writer, f Findings, width int, quiet, colour bool) error {
	p := newPen(width, colour)
	f.head(p)
	for _, c := range f.claims() {
		p.line("")
		c.card(p)
	}
	f.excludedText(p)
	f.cautionText(p)
	if !quiet {
		f.adviceText(p)
		f.settleText(p)
		f.cellsText(p)
		f.conditionText(p)
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (f *Findings) head(p *pen) {
	p.para(0, bold, f.Verdicts.Experiment+": "+f.answer())
	if f.Experiment != nil && f.Experiment.Question != "" {
		p.para(0, "", f.Experiment.Question)
	}
	p.para(0, dim, f.tally())
}

// statusStyle is the colour of a verdict; the word beside it says the same.
func statusStyle(s assay.Status) string {
	switch s {
	case assay.Pass:
		return bold + ";" + green
	case assay.Fail:
		return bold + ";" + red
	case assay.Undecided:
		return bold + ";" + yellow
	case assay.Untested:
		return bold + ";" + blue
	}
	return bold + ";" + magenta
}

// cardIndent is where claims begin: behind the longest verdict and two blanks.
const cardIndent = len(assay.Undecided) + 2

// mostNotes is how many notes of one verdict a terminal shows.
const mostNotes = 6

// card writes one hypothesis: verdict, id, claim and figure on one line where they fit, then the
// reason.
func (c claim) card(p *pen) {
	status := string(c.v.Verdict)
	lead := p.paint(statusStyle(c.v.Verdict), status) + strings.Repeat(" ", max(cardIndent-len(status), 1))
	body, figure := p.width-cardIndent, c.figure()
	lines := hang(plain(c.v.ID), c.marked(), body)
	last := len(lines) - 1
	// The figure stands at the right end of the claim's last line if there is room.
	if room := body - length(lines[last]) - length(figure); figure != "" && room >= 2 {
		lines[last] += strings.Repeat(" ", room) + p.paint(bold, figure)
		figure = ""
	}
	for i, line := range lines {
		if i > 0 {
			lead = strings.Repeat(" ", cardIndent)
		}
		p.line(lead + line)
	}
	if figure != "" {
		p.para(max(cardIndent, p.width-length(figure)), bold, figure)
	}
	p.para(cardIndent, dim, string(c.v.Reason)+": "+c.sentence())
	if c.v.Exploratory {
		p.para(cardIndent, dim, "Exploratory: the claim or what it rests on was amended after data were seen.")
	}
	for _, note := range c.v.Notes[:min(len(c.v.Notes), mostNotes)] {
		p.para(cardIndent, dim, "note: "+note)
	}
	if more := len(c.v.Notes) - mostNotes; more > 0 {
		p.para(cardIndent, dim, "and "+count(more, "more note")+" in report.html")
	}
}

func (f *Findings) excludedText(p *pen) {
	groups := f.excluded()
	if len(groups) == 0 {
		return
	}
	p.heading("Shown but not counted as good")
	for _, e := range groups {
		text := e.where() + ", " + e.cell + ": " + e.reason
		if e.detail != "" {
			text += " (" + e.detail + ")"
		}
		p.item(e.kind, bold, 2+len(assay.Interrupted)+1, text)
	}
}

func (f *Findings) cautionText(p *pen) {
	if len(f.Verdicts.DoNotQuote) == 0 {
		return
	}
	p.heading("Do not quote")
	for _, c := range f.Verdicts.DoNotQuote {
		p.item("-", "", 4, cautionText(c))
	}
}

// cautionText is a figure that must not be quoted, in one line.
func cautionText(c assay.Caution) string {
	text := c.What
	if c.Why != "" {
		text += ": " + c.Why
	}
	if c.Instead != "" {
		text = strings.TrimSuffix(text, ".") + ". Instead: " + c.Instead
	}
	return sentence(text)
}

func (f *Findings) settleText(p *pen) {
	rows := f.settlements()
	if len(rows) > 0 {
		p.heading("What would settle the rest")
	}
	for _, row := range rows {
		p.item(plain(row.Name), "", cardIndent, row.Text)
	}
}

// mostRows is how many cells a measure's table in a terminal has; the page has more and the CSV all.
const mostRows = 40

func (f *Findings) cellsText(p *pen) {
	for i := range f.Measures {
		m := &f.Measures[i]
		if len(m.Cells) == 0 {
			continue
		}
		s := scaleOf(m)
		title := m.Ref.String()
		if s.Unit != "" {
			title += ", " + s.Unit
		}
		if text := f.constant(m); text != "" {
			p.heading(plain(m.Ref.String()))
			p.para(2, "", text)
			continue
		}
		p.heading(plain(title) + direction(m.Better))
		rows := [][]string{append(f.factorNames(), "median", Confidence(confidence(m))+" interval", "trials")}
		for _, c := range m.Cells[:min(len(m.Cells), mostRows)] {
			rows = append(rows, append(f.levels(c.Cell), s.median(c), s.interval(c), group(float64(c.N), 0)))
		}
		figures := len(rows[0]) - 3
		p.table(2, rows, func(column int) bool { return column >= figures })
		if len(m.Cells) > mostRows {
			p.para(2, dim, "and "+count(len(m.Cells)-mostRows, "more cell")+": see report.html or the CSV export")
		}
	}
}

// conditionText writes what was held, where it was executed and what had been registered.
func (f *Findings) conditionText(p *pen) {
	p.heading("Conditions")
	if f.Experiment != nil {
		for _, n := range f.Experiment.Fixed {
			p.item(plain(n.Name), "", conditionIndent, n.Text)
		}
	}
	for _, s := range f.Host.Sessions {
		p.item("session", "", conditionIndent, fingerprintLine(s))
	}
	r := f.Registration
	if r == nil {
		return
	}
	p.item("registered", "", conditionIndent, f.registeredLine())
	for _, a := range r.Amendments {
		p.item("amended", "", conditionIndent, stamp(a.Time)+" after "+count(a.Trials, "trial")+": "+a.Reason+changes(a))
	}
}

const conditionIndent = 15

func changes(a assay.Amendment) string {
	if len(a.Changes) == 0 {
		return ""
	}
	return " (" + strings.Join(a.Changes, ", ") + ")"
}
