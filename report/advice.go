package report

import (
	"strings"

	"github.com/assaybench/assay/grade"
)

// An advised row is what the verdicts suggest for one factor: the measured cell, today's default, the
// suggested level and the condition that flips it.
type advised struct {
	Factor, Suggested, Default, Measured, By, Flip string
}

// undecidedLevel stands where the verdicts suggest no level.
const undecidedLevel = "no change"

// advised are the rows of the recommendation map, in the order of the file's factors.
func (f *Findings) advised() []advised {
	var rows []advised
	for _, a := range f.Advice {
		rows = append(rows, advised{a.Factor, orWord(a.Suggested, undecidedLevel), orWord(a.Default, "not stated"), a.Measured, a.By, a.Flip})
	}
	return rows
}

// adviceText is a factor's row in words.
func adviceText(a grade.Advice) string {
	if a.Suggested == "" {
		text := undecidedLevel
		if a.Default != "" {
			text += " from " + a.Default
		}
		return sentence(text + " (" + a.By + "): " + a.Flip)
	}
	text := a.Suggested
	switch a.Default {
	case "":
		text += ", the file states no default"
	case a.Suggested:
		text += ", today's default"
	default:
		text += " instead of today's default " + a.Default
	}
	if a.Measured != "" {
		text += "; measured at " + a.Measured
	}
	return sentence(text+" ("+a.By+")") + " Flips: " + sentence(a.Flip)
}

// adviceHeading and remarkHeading are the same in every format.
const (
	adviceHeading = "What to set"
	remarkHeading = "What else the records say"
)

// adviceIndent is where advice begins: behind factor names of usual length.
const adviceIndent = 15

func (f *Findings) adviceText(p *pen) {
	if len(f.Advice) > 0 {
		p.heading(adviceHeading)
	}
	for _, a := range f.Advice {
		p.item(plain(a.Factor), bold, adviceIndent, adviceText(a))
	}
	if len(f.Remarks) > 0 {
		p.heading(remarkHeading)
	}
	for _, r := range f.Remarks {
		p.item("-", "", 4, sentence(r))
	}
}

func (f *Findings) markdownAdvice(b *strings.Builder) {
	if len(f.Advice) > 0 {
		b.WriteString("\n**" + adviceHeading + "**\n\n| factor | suggested | today's default | measured at | by | what flips it |\n|---|---|---|---|---|---|\n")
		for _, a := range f.advised() {
			row := []string{md(a.Factor), md(a.Suggested), md(a.Default), md(a.Measured), md(a.By), md(a.Flip)}
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
	}
	if len(f.Remarks) > 0 {
		b.WriteString("\n**" + remarkHeading + "**\n\n")
		for _, r := range f.Remarks {
			b.WriteString("- " + md(sentence(r)) + "\n")
		}
	}
}
