package report

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/assaybench/assay"
)

func TestOne(t *testing.T) {
	for _, test := range []struct {
		unit  string
		share bool
		x     float64
		want  string
	}{
		{"ns", false, 1_234, "1.234 us"},
		{"ns", false, 999, "999 ns"},
		{"ns", false, 2_410_000_000, "2.41 s"},
		{"ms", false, 1500, "1.5 s"},
		{"s", false, 0.0123, "12.3 ms"},
		{"B", false, 1536, "1.5 KiB"},
		{"MB", false, 1, "1 MB"},
		{"MB/s", false, 0.0125, "12.5 kB/s"},
		{"MiB", false, 0.5, "512 KiB"},
		{"B/s", false, 21.4e9, "19.93 GiB/s"},
		{"files/s", false, 12345.6, "12,346 files/s"},
		{"", true, 0.153, "15.3%"},
		{"%", false, 15.3, "15.3%"},
		{"", false, 0.153, "0.153"},
		{"/s", false, 250, "250 /s"},
		{"ns", false, 0, "0 ns"},
		{"ns", false, -2_000_000, "-2 ms"},
	} {
		got := One(test.x, unit(test.unit), test.share)
		if got != test.want {
			t.Errorf("%v %s = %q, want %q", test.x, test.unit, got, test.want)
		}
	}
}

func TestOneInTheZeroUnit(t *testing.T) {
	if got := One(3, assay.Unit{}, false); got != "3" {
		t.Errorf("3 in the zero unit = %q", got)
	}
}

func TestDecimals(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		bounds    []float64
		want      int
	}{
		{1.19, 1.27, nil, 2},
		{1.08, 1.39, nil, 2},
		{1.218, 1.248, nil, 3},
		{0.2, 4.9, nil, 1},
		{2353, 2502, nil, 0},
		{5, 5, nil, 0},
		{1.25, 1.25, nil, 3},
		{1.0496, 1.09, []float64{1.05}, 4},
		{1.05, 1.09, []float64{1.05}, 3},
		{math.Inf(-1), 2, nil, 0},
	} {
		if got := Decimals(test.low, test.high, test.bounds...); got != test.want {
			t.Errorf("Decimals(%v, %v, %v) = %d, want %d", test.low, test.high, test.bounds, got, test.want)
		}
	}
}

// What is printed must be within half of its last digit of what was meant, and read back as a number.
func TestFormatReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e12, 1e12).Draw(t, "x")
		decimals := rapid.IntRange(0, 6).Draw(t, "decimals")
		text := Scale{Factor: 1}.Format(x, decimals)
		got, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		if err != nil {
			t.Fatalf("Format(%v, %d) = %q: %v", x, decimals, text, err)
		}
		if off := math.Abs(got - x); off > 0.5000001*math.Pow(10, -float64(decimals))+math.Abs(x)*1e-15 {
			t.Fatalf("Format(%v, %d) = %q, off by %v", x, decimals, text, off)
		}
		for _, part := range strings.Split(strings.Split(strings.TrimPrefix(text, "-"), ".")[0], ",")[1:] {
			if len(part) != 3 {
				t.Fatalf("Format(%v, %d) = %q is grouped wrongly", x, decimals, text)
			}
		}
	})
}

// The last digit printed must stand for no less than a fiftieth of the interval.
func TestDecimalsClaimNoMoreThanTheInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
		width := rapid.Float64Range(1e-6, 1e6).Draw(t, "width")
		digit := math.Pow(10, -float64(Decimals(low, low+width)))
		if digit < 1 && digit < width/50*0.999 || digit > width/5*1.001 && digit != 1 {
			t.Fatalf("interval of width %v is printed to %v", width, digit)
		}
	})
}

func TestPercent(t *testing.T) {
	for _, test := range []struct {
		part, whole int
		want        string
	}{{1, 12, "8.3% of 12"}, {0, 12, "0% of 12"}, {12, 12, "100% of 12"}, {1, 2, "50% of 2"}, {999, 1000, "99.9% of 1,000"}, {0, 0, "none of 0"}} {
		if got := Percent(test.part, test.whole); got != test.want {
			t.Errorf("Percent(%d, %d) = %q, want %q", test.part, test.whole, got, test.want)
		}
	}
}

func TestConfidence(t *testing.T) {
	for x, want := range map[float64]string{0.95: "95%", 1 - 0.05/4: "98.75%", 1 - 0.05/12: "99.58%", 0.9: "90%", 0.05: "5%"} {
		if got := Confidence(x); got != want {
			t.Errorf("Confidence(%v) = %s, want %s", x, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		in   []int
		want string
	}{{nil, ""}, {[]int{3}, "3"}, {[]int{3, 4}, "3, 4"}, {[]int{3, 4, 5, 9, 11, 12, 13}, "3-5, 9, 11-13"}} {
		if got := numbers(test.in); got != test.want {
			t.Errorf("numbers(%v) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestSpacing(t *testing.T) {
	for _, test := range []struct {
		levels []string
		want   string
	}{
		{[]string{"1", "2", "4", "8", "16", "32"}, "log"},
		{[]string{"10", "20", "30", "40"}, "linear"},
		{[]string{"0", "10", "20"}, "linear"},
		{[]string{"4KiB", "64KiB", "1MiB"}, "log"},
		{[]string{"a", "b", "c"}, "even"},
		{[]string{"0", "1", "1000000"}, "even"}, // too near for a linear axis, and nought has no logarithm
	} {
		a := newLevelAxis(assay.Factor{Levels: levels(test.levels...)}, 0, 700)
		if a.kind != test.want {
			t.Errorf("levels %v are spaced %s, want %s", test.levels, a.kind, test.want)
		}
	}
}

// Ticks must lie on the axis, be few and have labels that differ.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(1e-6, 1e12), 1, 20).Draw(t, "values")
		a := valueAxis(xs, 300, 0)
		ticks := a.ticks(5)
		if len(ticks) > 24 || !a.log && len(ticks) < 2 {
			t.Fatalf("%d ticks on %+v", len(ticks), a)
		}
		texts := tickTexts(ticks, Scale{Factor: 1})
		for i, tick := range ticks {
			if y := a.at(tick); y < -0.001 || y > 300.001 {
				t.Fatalf("tick %v stands at %v", tick, y)
			}
			if i > 0 && texts[i] == texts[i-1] {
				t.Fatalf("ticks %v and %v are both %q", ticks[i-1], tick, texts[i])
			}
		}
		for _, x := range xs {
			if y := a.at(x); y < 0 || y > 300 {
				t.Fatalf("value %v stands at %v on %+v", x, y, a)
			}
		}
	})
}

func FuzzPlain(f *testing.F) {
	f.Add("a\x1b[31mb\u202e\xff\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range wrap(text, 20) {
			if length(line) > 20 {
				t.Errorf("line %q has %d runes", line, length(line))
			}
			if strings.ContainsAny(line, "\x1b\n\r\u202e\u200b") {
				t.Errorf("line %q holds a control character", line)
			}
		}
	})
}
