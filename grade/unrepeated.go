package grade

import "github.com/assaybench/assay"

// Unrepeated reports whether some planned block ended with a void or refused trial in its last
// execution: its retries were spent, or the run stopped before the repeat.
func Unrepeated(p assay.Plan, seed uint64, trials []assay.Trial) bool {
	s := NewSchedule(p, seed)
	for i := range trials {
		s.Add(&trials[i])
	}
	for _, slot := range s.slots {
		if n := len(slot.blocks); n > 0 && s.blocks[slot.blocks[n-1]].spoilt {
			return true
		}
	}
	return false
}
