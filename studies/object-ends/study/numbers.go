package study

import (
	"fmt"
	"math"
	"strconv"

	"github.com/assaybench/assay"
)

// number is x with three digits; a dash where there is none.
func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case x != 0 && math.Abs(x) < 1000:
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
}

// scaled is x in a unit that is so many times the one that x is in.
func scaled(x, by float64, unit string) string {
	if math.IsNaN(x) {
		return "–"
	}
	return number(x/by) + " " + unit
}

// end is an end of an interval or bracket.
func end(x *float64) string {
	if x == nil {
		return "…"
	}
	return number(*x)
}

// span is a verdict's interval with its unit.
func span(v assay.Verdict) string {
	if v.Low == nil && v.High == nil {
		return "–"
	}
	return fmt.Sprintf("%s to %s %s", end(v.Low), end(v.High), v.Unit)
}

// knee is a bracket in the usual notation: the knee is above its low end and at or below its high one.
func knee(v assay.Verdict) string {
	if v.Low == nil && v.High == nil {
		return "–"
	}
	return fmt.Sprintf("(%s, %s]", end(v.Low), end(v.High))
}

// flip is the bracket of a highest level: that level is met, the other end is missed.
func flip(v assay.Verdict) string {
	if v.Low == nil && v.High == nil {
		return "–"
	}
	return fmt.Sprintf("[%s, %s) %s", end(v.Low), end(v.High), v.Unit)
}

// Agree reports whether two brackets have anything in common. An open end reaches to infinity.
func Agree(a, b assay.Verdict) bool {
	if a.Estimate == nil && a.Low == nil || b.Estimate == nil && b.Low == nil {
		return false
	}
	low := func(v assay.Verdict) float64 {
		if v.Low == nil {
			return math.Inf(-1)
		}
		return *v.Low
	}
	high := func(v assay.Verdict) float64 {
		if v.High == nil {
			return math.Inf(1)
		}
		return *v.High
	}
	return low(a) < high(b) && low(b) < high(a)
}
