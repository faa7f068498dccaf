package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
)

// A Scale turns numbers of one unit into the numbers that people read: nanoseconds into
// milliseconds, bytes into MiB, ratios into per cent. All numbers that are to be compared at a
// glance, such as an estimate and its interval, share one Scale.
type Scale struct {
	Factor float64 // the number shown is the number times Factor
	Unit   string  // printed behind it; empty for plain numbers
}

// step is one unit of a ladder: names by the size in base units from which it is used.
type step struct {
	size float64
	name string
}

var (
	timeSteps = []step{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}
	sizeSteps = []step{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}
	// tenSteps are for sizes whose unit was written as one of them.
	tenSteps = []step{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}
)

// ScaleOf chooses the scale for numbers in unit u by the largest finite magnitude among xs. With
// share, a plain number is read as a ratio and shown in per cent.
func ScaleOf(u assay.Unit, share bool, xs ...float64) Scale {
	unitScale := u.Scale
	if unitScale == 0 {
		unitScale = 1
	}
	largest := 0.0
	for _, x := range xs {
		if finite(x) {
			largest = max(largest, math.Abs(x)*unitScale)
		}
	}
	ladder := []step(nil)
	switch u.Dim.Base {
	case "ns":
		ladder = timeSteps
	case "B":
		ladder = sizeSteps
		if name, _, _ := strings.Cut(u.Name, "/"); slices.ContainsFunc(tenSteps[:4], func(s step) bool { return s.name == name }) {
			ladder = tenSteps
		}
	case "":
		if u.Name == "%" || share && !u.Dim.PerSecond {
			return Scale{Factor: unitScale * 100, Unit: "%"}
		}
	}
	if ladder == nil {
		return Scale{Factor: 1, Unit: u.Name}
	}
	chosen := ladder[len(ladder)-1]
	for _, s := range ladder {
		if largest >= s.size {
			chosen = s
			break
		}
	}
	name := chosen.name
	if u.Dim.PerSecond {
		name += "/s"
	}
	return Scale{Factor: unitScale / chosen.size, Unit: name}
}

// Decimals is how many decimals the interval [low, high], already scaled, supports: the last
// printed digit is between a fifth and a fiftieth of the interval's width. Where a bound would
// round onto an end of the interval although it differs from it, decimals are added (three at
// most) until they are told apart.
func Decimals(low, high float64, bounds ...float64) int {
	width := high - low
	if !finite(width) || width < 0 {
		return 0
	}
	if width == 0 {
		return significant(low, 4)
	}
	d := clamp(-int(math.Floor(math.Log10(width/5))), 0, 9)
	for range 3 {
		if !collides(low, high, bounds, d) {
			break
		}
		d++
	}
	return d
}

func collides(low, high float64, bounds []float64, decimals int) bool {
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', decimals, 64) }
	for _, b := range bounds {
		for _, end := range []float64{low, high} {
			if b != end && text(b) == text(end) {
				return true
			}
		}
	}
	return false
}

// significant is the number of decimals that leave x with n significant digits.
func significant(x float64, n int) int {
	if x == 0 || !finite(x) || x == math.Trunc(x) {
		return 0
	}
	return clamp(n-1-int(math.Floor(math.Log10(math.Abs(x)))), 0, 9)
}

func clamp(x, low, high int) int { return min(max(x, low), high) }

// Format is x in the scale's unit, without the unit's name: thousands are grouped by commas, an
// infinity is "inf" and a NaN "-".
func (s Scale) Format(x float64, decimals int) string { return group(x*s.Factor, decimals) }

// Phrase is x with its unit: "12.3 ms", "45%", "1,234 files/s".
func (s Scale) Phrase(x float64, decimals int) string { return s.Format(x, decimals) + s.Suffix() }

// Suffix is the unit as it follows a number.
func (s Scale) Suffix() string {
	if s.Unit == "" || s.Unit == "%" {
		return s.Unit
	}
	return " " + s.Unit
}

// group prints x with that many decimals and commas between thousands.
func group(x float64, decimals int) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	if math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
		if strings.Trim(text, "0.") == "" {
			sign = "" // minus nought is no number for people
		}
	}
	whole, fraction, ok := strings.Cut(text, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if ok {
		b.WriteString("." + fraction)
	}
	return b.String()
}

// One is a single number without an interval, to at most four significant digits, with its unit.
func One(x float64, u assay.Unit, share bool) string {
	s := ScaleOf(u, share, x)
	decimals := significant(x*s.Factor, 4)
	for decimals > 0 && strings.HasSuffix(s.Format(x, decimals), "0") {
		decimals--
	}
	return s.Phrase(x, decimals)
}

// Percent is part of whole with its denominator: "12% of 150". Of nothing there is no percentage.
func Percent(part, whole int) string {
	if whole == 0 {
		return "none of 0"
	}
	share := 100 * float64(part) / float64(whole)
	decimals := 0
	if share != 0 && share < 10 || share > 90 && share < 100 {
		decimals = 1
	}
	return group(share, decimals) + "% of " + group(float64(whole), 0)
}

// Confidence is a confidence from 0 to 1 in per cent, with no more nines cut off than are useless:
// "95%", "99.6%", "99.58%".
func Confidence(c float64) string {
	text := strconv.FormatFloat(c*100, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "%"
}

var (
	nsUnit    = assay.Unit{Name: "ns", Dim: assay.Dimension{Base: "ns"}, Scale: 1}
	bytesUnit = assay.Unit{Name: "B", Dim: assay.Dimension{Base: "B"}, Scale: 1}
)

// three is a number with its unit to three significant digits, also those that are nought, so that
// numbers in a column look equally exact: "17.0 ms".
func three(x float64, u assay.Unit) string {
	s := ScaleOf(u, false, x)
	if x == 0 {
		return "0" + s.Suffix()
	}
	return s.Phrase(x, clamp(2-int(math.Floor(math.Log10(math.Abs(x*s.Factor)))), 0, 9))
}

// Duration is a time in nanoseconds as one number with its unit.
func Duration(ns float64) string { return One(ns, nsUnit, false) }
