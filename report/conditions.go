package report

import (
	"slices"
	"strconv"

	"github.com/assaybench/assay"
)

// A gateRow is what one gate read before all trials.
type gateRow struct {
	Condition, Reading, Waited string
	Refused                    int
}

// gates sums up the recorded gate readings, a row a condition, in order of appearance.
func (f *Findings) gates() []gateRow {
	type seen struct {
		readings []float64
		texts    []string
		waited   []float64
		refused  int
	}
	by := map[string]*seen{}
	var order []string
	for i := range f.Trials {
		t := &f.Trials[i]
		for _, g := range t.Gates {
			s := by[g.Condition]
			if s == nil {
				s = &seen{}
				by[g.Condition] = s
				order = append(order, g.Condition)
			}
			switch {
			case g.Reading.IsText && !slices.Contains(s.texts, g.Reading.Text):
				s.texts = append(s.texts, g.Reading.Text)
			case !g.Reading.IsText && finite(g.Reading.Number):
				s.readings = append(s.readings, g.Reading.Number)
			}
			if g.WaitedNS > 0 {
				s.waited = append(s.waited, float64(g.WaitedNS))
			}
			for _, reason := range t.RefusedBy {
				if by, ok := refusingGate(t, reason); ok && by.Condition == g.Condition {
					s.refused++
				}
			}
		}
	}
	var rows []gateRow
	for _, condition := range order[:min(len(order), mostTableRows)] {
		s := by[condition]
		row := gateRow{Condition: condition, Reading: list(s.texts), Refused: s.refused, Waited: "never"}
		if c, err := assay.ParseCondition(condition); err == nil && len(s.readings) > 0 {
			row.Reading = span(s.readings, f.unit(c.Measure), isShare(c.Measure))
		}
		if len(s.waited) > 0 {
			row.Waited = count(len(s.waited), "time") + ", " + Duration(slices.Max(s.waited)) + " at most"
		}
		rows = append(rows, row)
	}
	return rows
}

// A guardRow is a guard and how many trials it voided.
type guardRow struct {
	Name, Condition string
	Voided          int
}

// guardRows are the declared guards and those default guards that voided a trial.
func (f *Findings) guardRows() []guardRow {
	voided := map[string]int{}
	for i := range f.Trials {
		for _, by := range f.Trials[i].VoidBy {
			voided[by]++
		}
	}
	var rows []guardRow
	if f.Experiment != nil {
		for _, g := range f.Experiment.Guards {
			by := assay.GuardVoid(g.Name)
			rows = append(rows, guardRow{g.Name, g.Condition.String(), voided[by]})
			delete(voided, by)
		}
	}
	for _, by := range sortedKeys(voided) {
		name, ok := guardName(by)
		text := guards[name]
		if !ok {
			name = by
		}
		rows = append(rows, guardRow{name, text, voided[by]})
	}
	return rows
}

// A pair is a row of a table of names and texts.
type pair struct{ Name, Text string }

// A sessionTable is the fingerprints of all sessions side by side; Same says that they are equal.
type sessionTable struct {
	IDs  []string
	Rows []sessionRow
}

type sessionRow struct {
	Name    string
	Texts   []string
	Differs bool
}

// mostSessions is how many sessions stand side by side in a page.
const mostSessions = 6

func (f *Findings) sessions() sessionTable {
	var t sessionTable
	shown := f.Host.Sessions[:min(len(f.Host.Sessions), mostSessions)]
	keys := map[string]bool{}
	started := sessionRow{Name: "started"}
	for _, s := range shown {
		t.IDs = append(t.IDs, s.ID)
		started.Texts = append(started.Texts, stamp(s.Started))
		for key := range s.Fingerprint {
			keys[key] = true
		}
	}
	if len(shown) > 0 {
		t.Rows = append(t.Rows, started)
	}
	for _, key := range sortedKeys(keys) {
		row := sessionRow{Name: key}
		for _, s := range shown {
			row.Texts = append(row.Texts, s.Fingerprint[key])
			row.Differs = row.Differs || s.Fingerprint[key] != shown[0].Fingerprint[key]
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ceilings are the limits that were measured on this host.
func (f *Findings) ceilings() []pair {
	var rows []pair
	for _, c := range f.Host.Ceilings {
		u, err := assay.ParseUnit(c.Unit)
		if err != nil {
			u = assay.Unit{Name: c.Unit, Dim: assay.Dimension{Base: c.Unit}, Scale: 1}
		}
		s := ScaleOf(u, false, c.Value)
		decimals := Decimals(c.Low*s.Factor, c.High*s.Factor)
		text := s.Phrase(c.Value, decimals) + " (" + s.Format(c.Low, decimals) + " to " + s.Format(c.High, decimals) + ")"
		rows = append(rows, pair{c.Name, joined(text, c.Method)})
	}
	return rows
}

// planned says what the plan is, in rows.
func (f *Findings) planned() []pair {
	r := f.Registration
	if r == nil {
		return nil
	}
	plan := r.CurrentPlan()
	rows := []pair{
		{"cells", count(len(plan.Cells), "cell") + " a block"},
		{"blocks", group(float64(plan.Blocks), 0) + ", each with every cell once, in the order of a shuffled Williams square"},
		{"retries", "a spoilt block is repeated at the end, " + count(plan.Retries, "time") + " at most"},
	}
	if plan.Warmup > 0 {
		rows = append(rows, pair{"warm-up", count(plan.Warmup, "trial") + " a cell, recorded and not counted"})
	}
	if len(plan.Looks) > 0 {
		var looks []string
		for _, n := range plan.Looks {
			looks = append(looks, strconv.Itoa(n))
		}
		rows = append(rows, pair{"looks", "verdicts are formed after " + list(looks) + " blocks"})
	}
	return rows
}

// registered is the registration in rows.
func (f *Findings) registered() []pair {
	r := f.Registration
	if r == nil {
		return nil
	}
	rows := []pair{{"registered", stamp(r.Time)}, {"digest", r.Digest}}
	for _, e := range r.Earlier {
		rows = append(rows, pair{"asked before", stamp(e.Time) + ", digest " + e.Digest[:min(12, len(e.Digest))]})
	}
	if r.Commit != "" {
		commit := r.Commit
		if r.Dirty {
			commit += " with uncommitted changes"
		}
		rows = append(rows, pair{"commit", commit})
	}
	rows = append(rows, pair{"seed", strconv.FormatUint(r.Seed, 10)})
	if r.Version != "" {
		rows = append(rows, pair{"assay", r.Version})
	}
	return rows
}
