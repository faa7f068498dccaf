package measure

import (
	"testing"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/hist"
)

// beatsOf are beats of a tenth of a second, each with so many operations that ended ok, in 20 ms.
func beatsOf(ok ...int64) []Beat {
	var beats []Beat
	for i, n := range ok {
		h := &hist.Histogram{}
		h.RecordN(int64(20*time.Millisecond), n)
		beats = append(beats, Beat{At: time.Duration(i+1) * 100 * time.Millisecond, Length: 100 * time.Millisecond,
			OK: n, Failed: n / 10, InFlight: int(n)}.Timed("response_time", h))
	}
	return beats
}

// A window that moves by tenths of a second gives what seconds give: a statistic of the rate is one of
// whole seconds, however unequal their parts are.
func TestWindowOfLoad(t *testing.T) {
	uneven := []int64{30, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0}
	for _, c := range []struct {
		when  string
		beats []Beat
		want  float64
		known bool
	}{
		{"rate < 1/s over 2s", beatsOf(uneven...), 30, true},
		{"min(rate) < 1/s over 2s", beatsOf(uneven...), 20, true},
		{"max(rate) < 1/s over 2s", beatsOf(uneven...), 40, true},
		{"rate < 1/s over 1s", beatsOf(uneven...), 20, true},
		{"rate < 1/s", beatsOf(uneven...), 20, true},
		{"rate < 1/s over 3s", beatsOf(uneven...), 0, false},
		{"rate < 1/s", beatsOf(uneven[:9]...), 0, false},
		{"min(rate) < 1/s over 1500ms", beatsOf(uneven...), 20, true},
		{"errors > 1% over 1s", beatsOf(uneven...), 2.0 / 22, true},
		{"in_flight > 1 over 1s", beatsOf(uneven...), 2, true},
		{"max(in_flight) > 1 over 1s", beatsOf(uneven...), 20, true},
		{"max(in_flight) > 1 over 2s", beatsOf(uneven...), 30, true},
	} {
		when, err := assay.ParseCondition(c.when)
		if err != nil {
			t.Fatal(err)
		}
		v, ok := WindowOfLoad(when, c.beats)
		if ok != c.known || ok && (v.Number < c.want-1e-9 || v.Number > c.want+1e-9) {
			t.Errorf("%s: %v, known %v; want %v, known %v", c.when, v.Number, ok, c.want, c.known)
		}
	}
	when, _ := assay.ParseCondition("p50(response_time) > 1ms over 1s")
	if v, ok := WindowOfLoad(when, beatsOf(uneven...)); !ok || v.Number < 19.9e6 || v.Number > 20e6 {
		t.Errorf("median %v, known %v", v.Number, ok)
	}
}
