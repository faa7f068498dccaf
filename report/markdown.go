package report

import (
	"io"
	"strings"
)

// Markdown writes the scorecard for a pull request: a table of verdicts, what was not counted, and
// what must not be quoted.
func Markdown(w io.Writer, f Findings) error {
	var b strings.Builder
	b.WriteString("### " + md(f.Verdicts.Experiment) + ": " + md(f.answer()) + "\n\n")
	if f.Experiment != nil && f.Experiment.Question != "" {
		b.WriteString(md(f.Experiment.Question) + "  \n")
	}
	b.WriteString(md(f.tally()) + "\n")
	if claims := f.claims(); len(claims) > 0 {
		b.WriteString("\n| verdict | | claim | estimate | interval | reason |\n|---|---|---|--:|--:|---|\n")
		for _, c := range claims {
			row := []string{"**" + md(string(c.v.Verdict)) + "**", md(c.v.ID), md(c.marked()), md(c.estimate()), md(c.interval()),
				md(string(c.v.Reason) + ": " + c.sentence())}
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
	}
	f.markdownExcluded(&b)
	if len(f.Verdicts.DoNotQuote) > 0 {
		b.WriteString("\n**Do not quote**\n\n")
		for _, c := range f.Verdicts.DoNotQuote {
			b.WriteString("- " + md(cautionText(c)) + "\n")
		}
	}
	f.markdownAdvice(&b)
	if f.Registration != nil {
		b.WriteString("\nRegistered " + md(f.registeredLine()) + ".")
		if machine := f.machine(); machine != "" {
			b.WriteString(" Measured on " + md(machine) + ".")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (f *Findings) markdownExcluded(b *strings.Builder) {
	groups := f.excluded()
	if len(groups) == 0 {
		return
	}
	b.WriteString("\n**Shown but not counted as good**\n\n")
	for _, e := range groups[:min(len(groups), mostExcluded)] {
		text := e.where() + ", " + e.cell + ": " + e.reason
		if e.detail != "" {
			text += " (" + e.detail + ")"
		}
		b.WriteString("- " + md(e.kind) + " " + md(text) + "\n")
	}
	if n := len(groups) - mostExcluded; n > 0 {
		b.WriteString("- and " + count(n, "more group") + "\n")
	}
}

// md is text that Markdown shows as it is: marks are escaped, and nobody is mentioned by an @.
func md(text string) string {
	return mdEscapes.Replace(oneLine(text))
}

var mdEscapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`,
	"~", `\~`, "#", `\#`, "&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;")
