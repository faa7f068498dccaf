package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// Benchfmt writes the trials that count and ended ok in the Go benchmark format (Go proposal 14313),
// which benchstat reads: one line a trial, named by its cell. The trials left out are counted in a
// comment. benchstat does not know of blocks and compares unpaired; its intervals are not those of
// the scorecard.
func Benchfmt(w io.Writer, f Findings) error {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			b.WriteString(key + ": " + oneLine(value) + "\n")
		}
	}
	line("experiment", f.Verdicts.Experiment)
	line("registration", f.Verdicts.Registration)
	if len(f.Host.Sessions) == 1 {
		line("cpu", f.Host.Sessions[0].Fingerprint["cpu"])
		line("kernel", f.Host.Sessions[0].Fingerprint["kernel"])
	}
	for i := range f.Measures {
		if better := benchBetter(f.Measures[i].Better); better != "" {
			fmt.Fprintf(&b, "Unit %s better=%s\n", benchUnit(&f.Measures[i]), better)
		}
	}
	left := 0
	for i := range f.Trials {
		t := &f.Trials[i]
		if !t.Counts() || t.Outcome != assay.OK {
			if !t.Warmup {
				left++
			}
			continue
		}
		f.benchLine(&b, i)
	}
	if left > 0 {
		fmt.Fprintf(&b, "# left out: %s that did not count or did not end ok\n", count(left, "trial"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func benchBetter(b assay.Better) string {
	switch b {
	case assay.More:
		return "higher"
	case assay.Lower:
		return "lower"
	}
	return ""
}

func (f *Findings) benchLine(b *strings.Builder, i int) {
	var pairs []string
	for k := range f.Measures {
		m := &f.Measures[k]
		if i < len(m.Values) && finite(m.Values[i]) {
			pairs = append(pairs, fmt.Sprintf("%s %s", csvNumber(m.Values[i]), benchUnit(m)))
		}
	}
	if len(pairs) == 0 {
		return
	}
	name := benchWord(f.Verdicts.Experiment)
	if name != "" {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	b.WriteString("Benchmark" + name)
	cell := f.Trials[i].Cell
	names := f.factorNames()
	for _, key := range sortedKeys(cell) {
		if !slices.Contains(names, key) {
			names = append(names, key)
		}
	}
	for _, key := range names {
		if level, ok := cell[key]; ok {
			b.WriteString("/" + benchWord(key) + "=" + benchWord(level))
		}
	}
	b.WriteString(" 1 " + strings.Join(pairs, " ") + "\n")
}

// benchUnit is the measure's name with its unit: wall-ns, throughput-files/s. Ratios have no unit.
func benchUnit(m *grade.Figures) string {
	if m.Unit.Name == "" {
		return benchWord(m.Ref.String())
	}
	return benchWord(m.Ref.String()) + "-" + strings.Map(noSpace, m.Unit.Name)
}

// benchWord is text without what the format gives a meaning to: blanks and slashes.
func benchWord(text string) string {
	return strings.ReplaceAll(strings.Map(noSpace, text), "/", "_")
}

func noSpace(r rune) rune {
	if unicode.IsSpace(r) || unicode.IsControl(r) {
		return '_'
	}
	return r
}

func oneLine(text string) string { return strings.Join(strings.Fields(plain(text)), " ") }
