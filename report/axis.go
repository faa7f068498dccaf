package report

import (
	"math"
	"strconv"

	"github.com/assaybench/assay"
)

// An axis maps numbers from [low, high] to coordinates from..to, linearly or by their logarithm.
type axis struct {
	low, high float64
	log       bool
	from, to  float64
}

// at is the coordinate of x; numbers beyond the axis are held at its ends.
func (a axis) at(x float64) float64 {
	low, high := a.low, a.high
	if a.log {
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	if high == low {
		return (a.from + a.to) / 2
	}
	share := (x - low) / (high - low)
	switch {
	case math.IsNaN(share), share < 0:
		share = 0
	case share > 1:
		share = 1
	}
	return a.from + share*(a.to-a.from)
}

// logFrom is the ratio of greatest to least from which values get a logarithmic axis.
const logFrom = 40

// valueAxis is an axis for the values: logarithmic if they span more than logFrom, from nought if
// nought is near, else just around them.
func valueAxis(xs []float64, from, to float64) axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range xs {
		if finite(x) {
			low, high = min(low, x), max(high, x)
		}
	}
	switch {
	case low > high:
		return axis{low: 0, high: 1, from: from, to: to}
	case low > 0 && high/low > logFrom:
		return axis{low: low / 1.15, high: high * 1.15, log: true, from: from, to: to}
	case low == high && low == 0:
		return axis{low: 0, high: 1, from: from, to: to}
	case low == high:
		pad := math.Abs(low) * 0.1
		return axis{low: low - pad, high: high + pad, from: from, to: to}
	}
	pad := (high - low) * 0.06
	a := axis{low: low - pad, high: high + pad, from: from, to: to}
	if low >= 0 && low < 0.4*high {
		a.low = 0
	}
	return a
}

// ticks are round numbers on the axis, about n of them.
func (a axis) ticks(n int) []float64 {
	if a.log {
		return a.logTicks()
	}
	step := niceStep((a.high - a.low) / float64(n))
	if step <= 0 || !finite(step) {
		return nil
	}
	if (a.high-a.low)/step < 2.5 {
		step = niceStep(step / 2.5)
	}
	var ts []float64
	for k := math.Ceil(a.low/step - 1e-9); k*step <= a.high+step*1e-9 && len(ts) < 4*n; k++ {
		ts = append(ts, k*step)
	}
	return ts
}

func (a axis) logTicks() []float64 {
	var ts []float64
	first, last := math.Floor(math.Log10(a.low)), math.Ceil(math.Log10(a.high))
	mantissas := []float64{1, 2, 5}
	if last-first > 3 {
		mantissas = mantissas[:1]
	}
	every := math.Max(1, math.Ceil((last-first)/8))
	for e := first; e <= last; e += every {
		for _, m := range mantissas {
			if t := m * math.Pow(10, e); t >= a.low && t <= a.high {
				ts = append(ts, t)
			}
		}
	}
	return ts
}

// niceStep is the least of 1, 2, 5 times a power of ten that is not below x.
func niceStep(x float64) float64 {
	if x <= 0 {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// tickTexts are the labels of ticks, in the scale, with the fewest decimals that tell them apart.
func tickTexts(ts []float64, s Scale) []string {
	texts := make([]string, len(ts))
	for decimals := range 13 {
		distinct := true
		for i, t := range ts {
			texts[i] = s.Format(t, decimals)
			shown, err := strconv.ParseFloat(strconv.FormatFloat(t*s.Factor, 'f', decimals, 64), 64)
			if err != nil || math.Abs(shown-t*s.Factor) > 1e-6*math.Abs(t*s.Factor) {
				distinct = false
			}
		}
		if distinct {
			break
		}
	}
	return texts
}

// A levelAxis maps the levels of a factor to coordinates.
type levelAxis struct {
	order []string
	x     map[string]float64
	// kind says how the levels are spaced: "linear", "log" or "even".
	kind string
	gap  float64 // between the nearest neighbours
}

// leastGap is how near two levels may come before all are spaced evenly instead.
const leastGap = 22

// newLevelAxis spaces the levels between from and to: by logarithm where they grow by factors, by
// value where they grow by steps, evenly where they are no numbers or would come too near.
func newLevelAxis(f assay.Factor, from, to float64) levelAxis {
	a := levelAxis{order: f.Order(), kind: "even"}
	values, ok := levelValues(a.order)
	if ok && len(values) > 1 {
		a.kind = spacing(values)
	}
	if a.place(values, from, to); a.gap < leastGap && a.kind != "even" {
		a.kind = "even"
		a.place(values, from, to)
	}
	return a
}

func (a *levelAxis) place(values []float64, from, to float64) {
	n := len(a.order)
	a.x = make(map[string]float64, n)
	inset := (to - from) / float64(n) / 2
	scale := axis{from: from + inset, to: to - inset}
	switch a.kind {
	case "even":
		scale.high = float64(n - 1)
	default:
		scale.low, scale.high, scale.log = values[0], values[n-1], a.kind == "log"
	}
	a.gap = to - from
	for i, level := range a.order {
		x := scale.at(float64(i))
		if a.kind != "even" {
			x = scale.at(values[i])
		}
		a.x[level] = x
		if i > 0 {
			a.gap = min(a.gap, x-a.x[a.order[i-1]])
		}
	}
}

// levelValues are the levels as numbers in base units, ok only if all are.
func levelValues(order []string) (values []float64, ok bool) {
	for _, level := range order {
		q, err := assay.ParseQuantity(level)
		if err != nil {
			return nil, false
		}
		values = append(values, q.Base())
	}
	return values, true
}

// spacing tells steps from factors: whichever makes the gaps between neighbours more equal.
func spacing(values []float64) string {
	if values[0] <= 0 {
		return "linear"
	}
	uneven := func(of func(float64) float64) float64 {
		least, most := math.Inf(1), 0.0
		for i := 1; i < len(values); i++ {
			gap := of(values[i]) - of(values[i-1])
			least, most = min(least, gap), max(most, gap)
		}
		return most / least
	}
	linear, log := uneven(func(x float64) float64 { return x }), uneven(math.Log)
	if log < linear {
		return "log"
	}
	return "linear"
}
