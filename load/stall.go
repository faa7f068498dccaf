package load

import "time"

const (
	// stallFloor is the shortest silence that is called a stall; shorter ones are the machine's as
	// often as the target's.
	stallFloor = 200 * time.Millisecond
	// stallResponses and stallGaps are how much longer a stall is than the median response and than
	// the mean time between answers.
	stallResponses, stallGaps = 5, 12
	// stallDue is how many operations must have waited or arrived meanwhile.
	stallDue = 5
)

// findStall looks for a stretch within which nothing at all was answered, although operations were
// due. In an open loop their response times contain it; in a closed one nobody asked meanwhile, so
// that the quantiles and the mean hardly show it (the coordinated omission of Tene 2013).
func findStall(a *Account, p Plan, s *sums) {
	var answers int64
	for _, n := range s.answered {
		answers += n
	}
	if answers == 0 || a.Interrupted {
		return
	}
	from, length := silence(&s.answered)
	start, silent := p.For*time.Duration(from)/parts, p.For*time.Duration(length)/parts
	limit := max(stallFloor, 3*p.For/parts, stallGaps*p.For/time.Duration(answers))
	if a.Response.P50 != nil {
		limit = max(limit, stallResponses*time.Duration(*a.Response.P50))
	}
	if silent < limit || a.Generator.Hiccups.Max != nil && 2*time.Duration(*a.Generator.Hiccups.Max) > silent {
		return // or the whole machine stood still
	}
	start, silent = start.Round(10*time.Millisecond), silent.Round(10*time.Millisecond)
	if p.Closed() {
		missing := float64(answers) / (p.For - silent).Seconds() * silent.Seconds()
		a.note("stall: nothing was answered for %s from %s on; all %d clients waited, so that some %.0f operations were never sent and stand in no quantile", silent, start, p.Clients, missing)
		return
	}
	due := int64(0)
	for _, n := range s.arrived[from : from+length] {
		due += n
	}
	if due >= stallDue {
		a.note("stall: nothing was answered for %s from %s on, while %d operations were due; their response times contain the wait", silent, start, due)
	}
}

// silence is the longest stretch of parts without an answer.
func silence(answered *[parts]int64) (from, length int) {
	run := 0
	for i, n := range answered {
		if n > 0 {
			run = 0
			continue
		}
		if run++; run > length {
			from, length = i+1-run, run
		}
	}
	return from, length
}
