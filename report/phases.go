package report

// A LoadPhase is the time of one phase of the operations that ended ok and had it, in ns.
type LoadPhase struct {
	Operations int64  `json:"operations"`
	Mean       int64  `json:"mean_ns"`
	P50        *int64 `json:"p50_ns"` // nil: too few operations to say
	P99        *int64 `json:"p99_ns"`
}

// phaseNames are the phases in the order in which an operation passes through them.
var phaseNames = []string{"resolve", "connect", "tls", "write", "wait", "read"}

// phases writes a line a phase, if phases were timed.
func (a LoadAccount) phases(p *pen) {
	if len(a.Phases) == 0 {
		return
	}
	p.heading("Phases")
	rows := [][]string{{"", "operations", "mean", "p50", "p99"}}
	for _, name := range phaseNames {
		t, ok := a.Phases[name]
		if !ok {
			continue
		}
		row := []string{name, group(float64(t.Operations), 0), three(float64(t.Mean), nsUnit)}
		for _, q := range []*int64{t.P50, t.P99} {
			text := "-"
			if q != nil {
				text = three(float64(*q), nsUnit)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	p.table(2, rows, func(column int) bool { return column > 0 })
	p.line("")
	p.para(2, dim, "of the operations that ended ok and had the phase; means, not quantiles, add up to the service time.")
}
