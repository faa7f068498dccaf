package measure

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/fstest"
	"time"

	"github.com/assaybench/assay/hist"
)

// batched is so many batches of so many times, each drawn for its batch.
func batched(batches, each int, draw func(batch int) int64) (all []hist.Packed) {
	for i := range batches {
		all = append(all, times(each, func(int) int64 { return draw(i) }).Pack())
	}
	return all
}

func TestQuantileWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	exponential := func(int) int64 { return int64(r.ExpFloat64() * 1e7) }
	levels := make([]float64, 30)
	for i := range levels {
		levels[i] = math.Exp(r.NormFloat64())
	}
	moody := func(batch int) int64 { return int64(levels[batch] * r.ExpFloat64() * 1e7) }
	free, ok := QuantileWithin(batched(30, 100, exponential), .99)
	if truth := math.Log(100) * 1e7; !ok || !free.Asked || free.N != 3000 || free.Effective < 1200 || !(free.Low < truth && truth < free.High && free.High < 1.5*truth) {
		t.Errorf("independent operations: %+v, %t", free, ok)
	}
	tied, ok := QuantileWithin(batched(30, 100, moody), .5)
	if !ok || !tied.Asked || tied.Effective > 300 || tied.High < 1.3*tied.Low {
		t.Errorf("operations that share their second's lot: %+v, %t", tied, ok)
	}
	// Few effective operations take an end, never the figure.
	open, ok := QuantileWithin(batched(30, 100, moody), .99)
	if !ok || open.Effective > 367 || !math.IsInf(open.High, 1) || open.Low <= 0 {
		t.Errorf("too few effective operations for an upper end: %+v, %t", open, ok)
	}
	if few, ok := QuantileWithin(batched(30, 12, exponential), .99); ok {
		t.Errorf("360 operations give a p99: %+v", few)
	}
	if brief, ok := QuantileWithin(batched(5, 100, exponential), .9); !ok || brief.Asked || brief.Effective != 500 {
		t.Errorf("five seconds: %+v, %t", brief, ok)
	}
}

func TestWithinTrial(t *testing.T) {
	var seconds []second
	for i := range 20 {
		seconds = append(seconds, second{40, 5 + int64(i%2)})
	}
	files := logOf(t, seconds, time.Second)
	w, ok, err := WithinTrial(files, mustRef(t, "p50(response_time)"))
	if err != nil || !ok || w.N != 800 || !w.Asked || w.Effective > 40 || math.Abs(w.Low/5e6-1) > .01 || math.Abs(w.High/6e6-1) > .01 {
		t.Errorf("two kinds of seconds: %+v, %t, %v", w, ok, err)
	}
	for _, other := range []string{"rate", "mean(response_time)", "p50(service_time)"} {
		if _, ok, err := WithinTrial(files, mustRef(t, other)); ok || err != nil {
			t.Errorf("%s: %t, %v", other, ok, err)
		}
	}
	if _, _, err := WithinTrial(fstest.MapFS{"response.hlog": {Data: []byte("0.0,1.0,2.0,nonsense\n")}}, mustRef(t, "p50(response_time)")); err == nil {
		t.Error("a torn log is no error")
	}
}
