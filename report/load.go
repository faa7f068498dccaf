package report

import (
	"io"
	"math"
	"slices"
	"strings"
)

// A LoadAccount is what assay load found, in the form that its --json prints; counts are operations
// of the window, times nanoseconds.
type LoadAccount struct {
	Planned       int64            `json:"planned"`
	Sent          int64            `json:"sent"`
	Dropped       int64            `json:"dropped"`
	Cancelled     int64            `json:"cancelled"`
	OK            int64            `json:"ok"`
	TimedOut      int64            `json:"timed_out"`
	InFlightAtEnd int64            `json:"in_flight_at_end"`
	Errors        map[string]int64 `json:"errors"` // by class
	OfferedPerS   float64          `json:"offered_per_s"`
	SentPerS      float64          `json:"sent_per_s"`
	CompletedPerS float64          `json:"completed_per_s"`
	Response      LoadQuantiles    `json:"response"`
	ResponseAll   LoadQuantiles    `json:"response_all"`
	Service       LoadQuantiles    `json:"service"`
	Lag           LoadQuantiles    `json:"lag"`
	Connections   int              `json:"connections"`
	InFlightMean  float64          `json:"in_flight_mean"`
	Generator     LoadGenerator    `json:"generator"`
	Valid         bool             `json:"valid"`
	VoidBy        []string         `json:"void_by"`
	Notes         []string         `json:"notes"`
	// Phases are the phases of operations by name, if they were asked for.
	Phases map[string]LoadPhase `json:"phases,omitempty"`
	// Within are the intervals on quantiles of Response, for people: by [LoadInterval.Quantile].
	Within []LoadInterval `json:"-"`
}

// A LoadInterval says where a quantile of the response time of operations that ended ok lies, by the
// operations of this one load.
type LoadInterval struct {
	Quantile  string  // p50, p99.9
	Low, High float64 // 95%, in ns; 0 and +Inf where an end is open
	N         int64
	Effective float64 // how many independent operations they are worth, at most N
	Asked     bool    // the load was long enough to ask that
}

// LoadQuantiles are nil where the operations are too few to say, or where the quantile is infinite
// because so many operations failed.
type LoadQuantiles struct {
	P50  *int64 `json:"p50_ns"`
	P90  *int64 `json:"p90_ns"`
	P95  *int64 `json:"p95_ns"`
	P99  *int64 `json:"p99_ns"`
	P999 *int64 `json:"p999_ns"`
	Max  *int64 `json:"max_ns"`
}

// A LoadGenerator is what the generator itself used.
type LoadGenerator struct {
	CPURatio float64 `json:"cpu_ratio"` // of the cores it may use, 0 to 1
	RSS      int64   `json:"rss_bytes"`
}

// LoadText writes the account for a terminal of that width (0: 80): whether it is valid, the
// delivery ledger, the times, and what the generator itself needed. With quiet the first sentence
// and the notes stand alone.
func LoadText(w io.Writer, a LoadAccount, width int, quiet, colour bool) error {
	p := newPen(width, colour)
	style := bold
	if !a.Valid {
		style = statusStyle("")
	}
	p.para(0, style, a.answer())
	if !quiet {
		a.ledger(p)
		a.times(p)
		a.phases(p)
		a.generator(p)
	}
	p.notes(a.Notes)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// notes are remarks in sentences under their heading; without any there is no heading.
func (p *pen) notes(notes []string) {
	if len(notes) == 0 {
		return
	}
	p.heading("Notes")
	for _, note := range notes {
		p.item("-", "", 4, sentence(note))
	}
}

// answer is the account in one sentence.
func (a LoadAccount) answer() string {
	if !a.Valid {
		why := make([]string, 0, len(a.VoidBy))
		for _, by := range a.VoidBy {
			name, ok := guardName(by)
			if text := guards[name]; ok && text != "" {
				why = append(why, by+", "+text)
				continue
			}
			why = append(why, by)
		}
		return sentence("VOID: no figure of this load is to be quoted (" + orWord(strings.Join(why, "; "), "no reason recorded") + ")")
	}
	if a.Planned == 0 {
		return "Nothing was planned, so nothing was measured."
	}
	return sentence(rate(a.CompletedPerS) + " of " + rate(a.OfferedPerS) + " offered were completed: " +
		share(a.OK, a.Planned) + " of " + group(float64(a.Planned), 0) + " planned operations ended ok")
}

func rate(perSecond float64) string {
	return group(perSecond, significant(math.Round(perSecond*1e6)/1e6, 3)) + "/s"
}

// share is part of whole in per cent, never rounded to a whole that it is not.
func share(part, whole int64) string {
	if whole == 0 {
		return "none"
	}
	percent := 100 * float64(part) / float64(whole)
	for decimals := range 6 {
		text := group(percent, decimals)
		if text != "0" && text != "100" && strings.Trim(text, "0.") != "" && !strings.HasPrefix(text, "100") || part == 0 || part == whole {
			return text + "%"
		}
	}
	return group(percent, 6) + "%"
}

// ledger writes where every planned operation went; its sums are those of the account.
func (a LoadAccount) ledger(p *pen) {
	p.heading("Delivery")
	rows := [][]string{{"operations", "count", "of planned"}}
	add := func(indent int, name string, n int64, always bool) {
		if n != 0 || always {
			rows = append(rows, []string{strings.Repeat(" ", indent) + name, group(float64(n), 0), share(n, a.Planned)})
		}
	}
	add(0, "planned", a.Planned, true)
	add(2, "sent", a.Sent, true)
	add(4, "ok", a.OK, true)
	classes := sortedKeys(a.Errors)
	slices.SortStableFunc(classes, func(x, y string) int { return int(a.Errors[y] - a.Errors[x]) })
	for _, class := range classes {
		add(4, "error "+class, a.Errors[class], false)
	}
	add(4, "timed out", a.TimedOut, true)
	add(4, "in flight at the end", a.InFlightAtEnd, false)
	add(2, "dropped, no slot when due", a.Dropped, true)
	add(2, "cancelled, stopped before due", a.Cancelled, false)
	p.table(2, rows, func(column int) bool { return column > 0 })
	p.line("")
	p.para(2, "", "offered "+rate(a.OfferedPerS)+", sent "+rate(a.SentPerS)+", completed "+rate(a.CompletedPerS))
}

// quantileNames with the least number of ok operations that a quantile needs.
var quantileNames = []struct {
	name  string
	least int64
	of    func(q LoadQuantiles) *int64
}{
	{"p50", 6, func(q LoadQuantiles) *int64 { return q.P50 }},
	{"p90", 36, func(q LoadQuantiles) *int64 { return q.P90 }},
	{"p95", 72, func(q LoadQuantiles) *int64 { return q.P95 }},
	{"p99", 368, func(q LoadQuantiles) *int64 { return q.P99 }},
	{"p99.9", 3688, func(q LoadQuantiles) *int64 { return q.P999 }},
	{"max", 1, func(q LoadQuantiles) *int64 { return q.Max }},
}

// times writes a row a kind of time and a column a quantile that the count of operations supports.
func (a LoadAccount) times(p *pen) {
	p.heading("Times")
	head := []string{""}
	var lacking []string
	for _, q := range quantileNames {
		if a.OK >= q.least {
			head = append(head, q.name)
		} else if q.name != "max" {
			lacking = append(lacking, q.name+" needs "+group(float64(q.least), 0))
		}
	}
	if len(head) == 1 {
		p.para(2, "", "no quantile: "+count(int(a.OK), "operation")+" ended ok, and p50 needs 6")
		return
	}
	rows := [][]string{head}
	for _, r := range []struct {
		name string
		q    LoadQuantiles
		all  bool
	}{{"response time, ok", a.Response, false}, {"response time, all", a.ResponseAll, true}, {"service time, ok", a.Service, false}, {"lag", a.Lag, false}} {
		row := []string{r.name}
		for _, q := range quantileNames {
			if a.OK < q.least {
				continue
			}
			text := "-"
			if v := q.of(r.q); v != nil {
				text = three(float64(*v), nsUnit)
			} else if r.all {
				text = "never"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
		if len(rows) == 2 {
			rows = append(rows, a.intervals(head)...)
		}
	}
	p.table(2, rows, func(column int) bool { return column > 0 })
	p.line("")
	a.effective(p)
	if slices.ContainsFunc(rows, func(row []string) bool { return slices.Contains(row, "never") }) {
		p.para(2, dim, "never: that many of the planned operations did not end ok; they count as infinite.")
	}
	if len(lacking) > 0 {
		p.para(2, dim, "not printed, for too few operations ended ok ("+group(float64(a.OK), 0)+"): "+list(lacking)+".")
	}
	p.para(2, dim, "response time = done - intended; service time = done - sent; lag = sent - intended.")
}

// intervals are the rows of the ends of the intervals beneath the quantiles of head.
func (a LoadAccount) intervals(head []string) [][]string {
	if len(a.Within) == 0 {
		return nil
	}
	rows := [][]string{{"  at least, 95%"}, {"  at most, 95%"}, {"  effective n"}}
	for _, name := range head[1:] {
		cells := [3]string{"", "", ""}
		for _, w := range a.Within {
			if w.Quantile == name {
				cells = [3]string{open(w.Low, w.Low > 0), open(w.High, finite(w.High)), "-"}
				if w.Asked {
					cells[2] = group(math.Floor(w.Effective), 0)
				}
			}
		}
		for i := range rows {
			rows[i] = append(rows[i], cells[i])
		}
	}
	return rows
}

// open is the end of an interval, or that it has none.
func open(ns float64, has bool) string {
	if !has {
		return "open"
	}
	return three(ns, nsUnit)
}

// effective says by what the intervals are wider than those of as many independent operations.
func (a LoadAccount) effective(p *pen) {
	least := -1
	for i, w := range a.Within {
		if !w.Asked {
			p.para(2, dim, "the intervals take the operations as independent of one another; whether they are takes ten seconds of them.")
			return
		}
		if w.Effective < float64(w.N) && (least < 0 || w.Effective < a.Within[least].Effective) {
			least = i
		}
	}
	if least >= 0 {
		w := a.Within[least]
		p.para(2, dim, "effective n: as many independent operations as the "+group(float64(w.N), 0)+" are worth, which depend on those near them in time; "+
			"at "+w.Quantile+" the interval is that of "+group(math.Floor(w.Effective), 0)+".")
	}
}

func (a LoadAccount) generator(p *pen) {
	p.heading("Generator")
	p.item("connections", "", 16, group(float64(a.Connections), 0)+" at most; "+group(a.InFlightMean, 1)+" operations in flight on average")
	p.item("cpu", "", 16, group(100*a.Generator.CPURatio, 0)+"% of the cores it may use")
	p.item("memory", "", 16, three(float64(a.Generator.RSS), bytesUnit)+" resident")
}
