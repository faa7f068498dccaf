//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Figures are one figure of every round.
type figures []float64

// at is the figure at a share of the way from the smallest to the greatest; NaN-free by the caller.
func (f figures) at(share float64) float64 {
	if len(f) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f))
	return sorted[int(share*float64(len(sorted)-1)+0.5)]
}

func (f figures) median() float64 { return f.at(0.5) }

// over divides round by round.
func (f figures) over(g figures) figures {
	ratio := make(figures, min(len(f), len(g)))
	for i := range ratio {
		ratio[i] = f[i] / g[i]
	}
	return ratio
}

// text is the median with the smallest and the greatest.
func (f figures) text(format string, scale float64) string {
	if len(f) == 0 {
		return "–"
	}
	one := func(x float64) string { return fmt.Sprintf(format, x/scale) }
	if len(f) == 1 {
		return one(f[0])
	}
	return fmt.Sprintf("%s (%s to %s)", one(f.median()), one(f.at(0)), one(f.at(1)))
}

// A table is a Markdown table.
type table struct{ rows [][]string }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
	var b strings.Builder
	for i, row := range t.rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

// Bars are the promises of a section, each with what was measured.
type bars struct{ table }

func newBars() *bars {
	b := &bars{}
	b.add("bar", "measured", "holds")
	return b
}

// notShown stands where there is no measurement to judge by.
const notShown = "not shown"

func (b *bars) judge(bar, measured string, holds bool) {
	word := "**no**"
	if holds {
		word = "yes"
	}
	b.add(bar, measured, word)
}

// quantiles of times in nanoseconds, by the smallest rank that has the share below it.
func quantile(sorted []int64, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(q*float64(len(sorted))+0.999999) - 1
	return time.Duration(sorted[min(max(i, 0), len(sorted)-1)])
}

func ms(d time.Duration) string {
	switch v := d.Seconds() * 1000; {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}
