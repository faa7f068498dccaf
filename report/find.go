package report

import (
	"io"
	"strings"

	"github.com/assaybench/assay"
)

// A FoundRate is what assay find found, in the form that its --json prints.
type FoundRate struct {
	Low      *float64    `json:"low_per_s"`      // highest rate that met the conditions; nil: none did
	High     *float64    `json:"high_per_s"`     // lowest above it that missed one; nil: none did
	Estimate *float64    `json:"estimate_per_s"` // between the two, by the probes together
	Meets    []string    `json:"meets"`          // the conditions
	Probes   []RateProbe `json:"probes"`         // in the order in which they were carried out
	Binds    []string    `json:"binds"`          // what stood against a higher rate
	Valid    bool        `json:"valid"`          // both ends are shown, and the confirmation did not deny them
	VoidBy   []string    `json:"void_by"`        // else why not
	Notes    []string    `json:"notes"`
}

// A RateProbe is one open-loop load at one rate.
type RateProbe struct {
	Rate      float64          `json:"rate_per_s"` // asked for
	Phase     string           `json:"phase"`      // climb, search, confirm, endure or descend
	For       float64          `json:"for_s"`
	Planned   int64            `json:"planned"`
	Sent      int64            `json:"sent"`
	OK        int64            `json:"ok"`
	Offered   float64          `json:"offered_per_s"`
	SentPerS  float64          `json:"sent_per_s"`
	Completed float64          `json:"completed_per_s"`
	Errors    map[string]int64 `json:"errors"` // by class, timeouts and drops among them
	Values    []RateValue      `json:"values"` // one a condition
	Overload  bool             `json:"overload"`
	Says      string           `json:"says"` // met, missed, undecided or void
	Why       string           `json:"why"`
	VoidBy    []string         `json:"void_by"`
}

// A RateValue is what one condition's measure was.
type RateValue struct {
	Measure string   `json:"measure"`
	Value   *float64 `json:"value"` // nil: infinite, or too few operations to say
	// Infinite says that so many operations failed that the measure has no finite value.
	Infinite bool   `json:"infinite"`
	Unit     string `json:"unit"`
	Says     string `json:"says"`
}

// FindText writes the bracket, the probes behind it and what binds, for a terminal of that width (0:
// 80). With quiet the first sentence, what binds and the notes stand alone.
func FindText(w io.Writer, f FoundRate, width int, quiet, colour bool) error {
	p := newPen(width, colour)
	style := bold
	if !f.Valid {
		style = statusStyle("")
	}
	p.para(0, style, f.answer())
	for _, text := range f.Binds {
		p.para(0, "", sentence(text))
	}
	if !quiet {
		f.table(p)
	}
	p.notes(f.Notes)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// answer is the bracket in one sentence. It never names a rate as the highest of which only one side
// was seen.
func (f FoundRate) answer() string {
	meets := list(f.Meets)
	switch {
	case f.Low != nil && f.High != nil:
		text := "the highest rate that meets " + meets + " lies between " + rate(*f.Low) + ", which met, and " + rate(*f.High) + ", which missed"
		if f.Estimate != nil {
			text += "; estimate " + rate(*f.Estimate)
		}
		if !f.Valid {
			text += "; not settled (" + list(f.VoidBy) + ")"
		}
		return sentence(text)
	case f.Low != nil:
		return sentence(rate(*f.Low) + " meets " + meets + "; the highest rate that does was not reached (" + list(f.VoidBy) + ")")
	case f.High != nil:
		return sentence(rate(*f.High) + " already misses " + meets + "; no rate below it was shown to meet (" + list(f.VoidBy) + ")")
	}
	return sentence("no rate was shown to meet or to miss " + meets + " (" + orWord(list(f.VoidBy), "no probe") + ")")
}

// table writes a row a probe.
func (f FoundRate) table(p *pen) {
	if len(f.Probes) == 0 {
		return
	}
	p.heading("Probes")
	head := []string{"phase", "rate", "sent", "completed"}
	for _, v := range f.Probes[0].Values {
		head = append(head, v.Measure)
	}
	rows := [][]string{append(head, "says", "")}
	for _, r := range f.Probes {
		row := []string{r.Phase, rate(r.Rate), group(float64(r.Sent), 0), rate(r.Completed)}
		for _, v := range r.Values {
			row = append(row, v.Text())
		}
		rows = append(rows, append(row, r.Says, clipped(r.Why, 48)))
	}
	last := len(head)
	p.table(2, rows, func(column int) bool { return column > 0 && column < last })
}

// clipped is text of at most that many runes.
func clipped(text string, most int) string {
	text = plain(text)
	if runes := []rune(text); len(runes) > most {
		return strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	return text
}

// Text is the value for people.
func (v RateValue) Text() string {
	switch {
	case v.Infinite:
		return "never"
	case v.Value == nil:
		return "too few"
	}
	unit, err := assay.ParseUnit(v.Unit)
	if err != nil {
		unit = assay.Unit{Name: v.Unit, Scale: 1}
	}
	ref, err := assay.ParseMeasureRef(v.Measure)
	return One(*v.Value, unit, err == nil && (isShare(ref) || ref.Name == "errors" || ref.Name == "delivered"))
}
