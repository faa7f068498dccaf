package measure

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
)

// maxOutput bounds, in bytes, how much of an output is read for a measure.
const maxOutput = 256 << 20

// ErrAbsent says that the records hold nothing under the measure's name. ErrTooFew says that fewer
// operations were recorded than the quantile can be told from.
var (
	ErrAbsent = errors.New("not recorded")
	ErrTooFew = errors.New("too few operations")
)

// Declared reads a declared measure from what a command left. open opens stdout (for the empty name
// too), stderr or a file; its errors are passed on. The number stays in the unit in which the
// experiment file declares it; text that is no number stays text. Errors say what was looked for
// and what was there instead.
func Declared(src assay.Source, open func(name string) (io.ReadCloser, error)) (assay.Value, error) {
	if src.Delta != "" {
		return assay.Value{}, fmt.Errorf("read %s: a difference over the trial is not read from an output", src.Delta)
	}
	from := src.From.String()
	r, err := open(from)
	if err != nil {
		return assay.Value{}, err
	}
	defer r.Close()
	if from == "" {
		from = "stdout"
	}
	b, err := io.ReadAll(io.LimitReader(r, maxOutput+1))
	if err != nil {
		return assay.Value{}, fmt.Errorf("read %s: %w", from, err)
	}
	if len(b) > maxOutput {
		return assay.Value{}, fmt.Errorf("read %s: longer than %d bytes", from, maxOutput)
	}
	values, what, err := find(src, b)
	if err != nil {
		return assay.Value{}, fmt.Errorf("read %s from %s: %w", what, from, err)
	}
	v, err := Reduce(values, src.Reduce)
	if err != nil {
		return assay.Value{}, fmt.Errorf("read %s from %s: %w", what, from, err)
	}
	return v, nil
}

// find is every value that the source matches, and what was looked for.
func find(src assay.Source, output []byte) (values []assay.Value, what string, err error) {
	switch {
	case src.JSON != "":
		values, err = findJSON(src.JSON, output)
		return values, "json " + src.JSON, err
	case src.Regex != "":
		values, err = findRegex(src.Regex, output)
		return values, "regex " + strconv.Quote(src.Regex), err
	case src.Benchfmt != "":
		values, err = findBench(src.Benchfmt, output)
		return values, "benchfmt " + src.Benchfmt, err
	}
	return nil, "measure", errors.New("no source: want json, regex or benchfmt")
}

func findRegex(expr string, output []byte) ([]assay.Value, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	if re.NumSubexp() == 0 {
		return nil, errors.New("the expression has no group; want parentheses around the value")
	}
	var values []assay.Value
	for _, m := range re.FindAllSubmatchIndex(output, -1) {
		if m[2] < 0 {
			continue // the group took no part in the match
		}
		v, err := textValue(string(output[m[2]:m[3]]))
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("no match in %s", excerpt(output))
	}
	return values, nil
}

// findBench reads lines in the Go benchmark format: a name, a count, and pairs of value and unit.
// Source: golang.org/design/14313-benchmark-format.
func findBench(unit string, output []byte) ([]assay.Value, error) {
	var values []assay.Value
	lines := 0
	for line := range strings.Lines(string(output)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		if _, err := strconv.ParseUint(fields[1], 10, 64); err != nil {
			continue
		}
		lines++
		for i := 2; i+1 < len(fields); i += 2 {
			if fields[i+1] != unit {
				continue
			}
			v, err := textValue(fields[i])
			if err != nil || v.IsText {
				return nil, fmt.Errorf("%q in %q is not a number", fields[i], strings.TrimSpace(line))
			}
			values = append(values, v)
		}
	}
	switch {
	case lines == 0:
		return nil, fmt.Errorf("no line such as BenchmarkX 100 123 ns/op in %s", excerpt(output))
	case len(values) == 0:
		return nil, fmt.Errorf("%d benchmark lines, none with the unit %s", lines, unit)
	}
	return values, nil
}

// textValue is the number that s spells, or s itself. Spellings of NaN are refused: a NaN compares
// with nothing and would hide in a median.
func textValue(s string) (assay.Value, error) {
	s = strings.TrimSpace(s)
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return assay.Txt(s), nil
	case math.IsNaN(x):
		return assay.Value{}, fmt.Errorf("%q is not a number", s)
	}
	return assay.Num(x), nil
}

// excerpt is the end of an output, for an error.
func excerpt(output []byte) string {
	const most = 80
	s := strings.TrimSpace(string(output))
	switch {
	case s == "":
		return "an empty output"
	case len(s) > most:
		return fmt.Sprintf("%d bytes that end in %q", len(output), s[len(s)-most:])
	}
	return strconv.Quote(s)
}
