package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/assaybench/assay"
)

// exports are all formats that take findings.
var exports = map[string]func(io.Writer, Findings) error{
	"csv": CSV, "bench": Benchfmt, "md": Markdown, "xml": JUnit,
}

func exported(t *testing.T, write func(io.Writer, Findings) error, f Findings) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExportsGolden(t *testing.T) {
	for name, write := range exports {
		golden(t, "inflight."+name, exported(t, write, inflight(6)))
	}
	golden(t, "every.xml", exported(t, JUnit, every()))
	golden(t, "every.md", exported(t, Markdown, every()))
}

func TestExportsSameBytes(t *testing.T) {
	for name, write := range exports {
		if !bytes.Equal(exported(t, write, hostile()), exported(t, write, hostile())) {
			t.Errorf("two %s exports of the same findings differ", name)
		}
	}
}

func TestExportsOfNothing(t *testing.T) {
	for name, write := range exports {
		if got := string(exported(t, write, Findings{})); strings.Contains(got, "PASS") {
			t.Errorf("%s of empty findings says PASS:\n%s", name, got)
		}
	}
}

// A CSV row must give back exactly what was recorded.
func TestCSVIsLossless(t *testing.T) {
	f := hostile()
	f.Trials[0].Measures["odd"] = assay.Num(math.Inf(1))
	f.Trials[1].Measures["odd"] = assay.Txt("a,\"b\"\n;c")
	tenth := 0.1 // a variable: constants are added exactly
	f.Trials[2].Measures["odd"] = assay.Num(tenth + 0.2)
	f.Trials[2].Measures["trial"] = assay.Num(7)
	rows, err := csv.NewReader(bytes.NewReader(exported(t, CSV, f))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(rows), len(f.Trials)+1; got != want {
		t.Fatalf("%d rows, want %d", got, want)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		if _, ok := column[name]; ok {
			t.Errorf("column %q stands twice", name)
		}
		column[name] = i
	}
	for _, test := range []struct {
		row        int
		name, want string
	}{
		{1, "odd", "inf"}, {2, "odd", "a,\"b\"\n;c"}, {3, "odd", "0.30000000000000004"}, {4, "odd", ""},
		{3, "measure.trial", "7"}, {3, "trial", "3"}, {1, "outcome", "ok"}, {4, "valid", "false"}, {1, "inflight", f.Trials[0].Cell["inflight"]},
	} {
		at, ok := column[test.name]
		if !ok {
			t.Errorf("no column %q in %q", test.name, rows[0])
			continue
		}
		if got := rows[test.row][at]; got != test.want {
			t.Errorf("row %d, %s = %q, want %q", test.row, test.name, got, test.want)
		}
	}
}

func TestJUnitCounts(t *testing.T) {
	for _, f := range []Findings{inflight(6), every(), hostile()} {
		var got junitSuites
		if err := xml.Unmarshal(exported(t, JUnit, f), &got); err != nil {
			t.Fatal(err)
		}
		failures, failed, skipped := 0, 0, 0
		for _, k := range got.Suite.Cases {
			if k.Failure != nil {
				failures++
			}
			if k.Error != nil {
				failed++
			}
			if k.Skipped != nil {
				skipped++
			}
		}
		if got.Suite.Failures != failures || got.Suite.Errors != failed || got.Suite.Skipped != skipped || got.Suite.Tests != len(f.Verdicts.Hypotheses) {
			t.Errorf("suite counts %d tests, %d failures, %d errors, %d skipped; its cases %d, %d, %d, %d", got.Suite.Tests, got.Suite.Failures,
				got.Suite.Errors, got.Suite.Skipped, len(got.Suite.Cases), failures, failed, skipped)
		}
	}
}

// A verdict that is none of the five must not come out as a success.
func TestJUnitOfAnUnknownVerdictIsAnError(t *testing.T) {
	f := Findings{}
	f.Verdicts.Hypotheses = []assay.Verdict{{ID: "H1"}}
	if got := string(exported(t, JUnit, f)); !strings.Contains(got, `errors="1"`) {
		t.Errorf("a verdict without a status is no error:\n%s", got)
	}
}

// Every line must be what the benchmark format knows: a key, a unit, a comment or a benchmark whose
// values and units come in pairs.
func TestBenchfmtLines(t *testing.T) {
	for _, f := range []Findings{inflight(6), hostile()} {
		benchmarks := 0
		for _, line := range strings.Split(strings.TrimSpace(string(exported(t, Benchfmt, f))), "\n") {
			words := strings.Fields(line)
			switch {
			case strings.HasPrefix(line, "Benchmark"):
				benchmarks++
				if len(words)%2 != 0 || words[1] != "1" {
					t.Errorf("benchmark line has %d words: %s", len(words), line)
				}
			case strings.HasPrefix(line, "Unit "), strings.HasPrefix(line, "# "):
			case !strings.HasSuffix(words[0], ":") || words[0] != strings.ToLower(words[0]):
				t.Errorf("line is none of the format's: %s", line)
			}
		}
		if benchmarks == 0 {
			t.Error("no benchmark line")
		}
	}
}

func TestMarkdownHidesNoMarkup(t *testing.T) {
	got := string(exported(t, Markdown, hostile()))
	for _, bad := range []string{"<script", "\x1b", "| <", "]]>"} {
		if strings.Contains(got, bad) {
			t.Errorf("markdown holds %q", bad)
		}
	}
	for _, line := range strings.Split(got, "\n") {
		if strings.HasPrefix(line, "| **") {
			if n := strings.Count(line, "|") - strings.Count(line, `\|`); n != 7 {
				t.Errorf("row has %d bars, want 7: %s", n, line)
			}
		}
	}
}

func TestHyperfine(t *testing.T) {
	var b bytes.Buffer
	err := Hyperfine(&b, []Timing{
		{Command: "sleep 1", Walls: []float64{1, 2, 4, 3}, Users: []float64{0.5, 0.5}, System: []float64{0.25}, Exits: []int{0, 0, 0, 1}},
		{Command: "never"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Entries []map[string]any `json:"results"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"command": "sleep 1", "mean": 2.5, "median": 2.5, "min": 1.0, "max": 4.0, "user": 0.5, "system": 0.25} {
		if got.Entries[0][key] != want {
			t.Errorf("%s = %v, want %v", key, got.Entries[0][key], want)
		}
	}
	if sd := got.Entries[0]["stddev"].(float64); math.Abs(sd-1.2909944487358056) > 1e-12 {
		t.Errorf("stddev = %v, want 1.29099", sd)
	}
	for _, key := range []string{"mean", "stddev", "median", "user", "system", "min", "max"} {
		if v, ok := got.Entries[1][key]; !ok || v != nil {
			t.Errorf("%s of no trials = %v, want null", key, v)
		}
	}
}
