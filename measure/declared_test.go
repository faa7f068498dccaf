package measure

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/assaybench/assay"
)

func from(output string) func(string) (io.ReadCloser, error) {
	return func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(output)), nil }
}

func TestDeclared(t *testing.T) {
	rows := `{"batches":[{"ns":3},{"ns":1},{"ns":2}],"a":{"b":[{"c":7}]},"sha":"9f2c","ok":true,"big":12345678901234567890}`
	for _, c := range []struct {
		name   string
		src    assay.Source
		output string
		want   string // the value, or a part of the error after "error: "
	}{
		{"a member", assay.Source{JSON: "files_per_s"}, `{"files_per_s": 470.5}`, "470.5"},
		{"a path", assay.Source{JSON: "a.b[0].c"}, rows, "7"},
		{"a rooted path", assay.Source{JSON: "$.a.b[0].c"}, rows, "7"},
		{"a text", assay.Source{JSON: "sha"}, rows, "9f2c"},
		{"a boolean is a text", assay.Source{JSON: "ok"}, rows, "true"},
		{"median of all", assay.Source{JSON: "batches[*].ns", Reduce: "median"}, rows, "2"},
		{"the last", assay.Source{JSON: "batches[*].ns", Reduce: "last"}, rows, "2"},
		{"the first", assay.Source{JSON: "batches[*].ns", Reduce: "first"}, rows, "3"},
		{"p99 of three is the greatest", assay.Source{JSON: "batches[*].ns", Reduce: "p99"}, rows, "3"},
		{"sum", assay.Source{JSON: "batches[*].ns", Reduce: "sum"}, rows, "6"},
		{"the last object of several lines", assay.Source{JSON: "r"}, "starting\n{\"r\": 1}\n{\"r\": 2}\ndone\n", "2"},
		{"a document over several lines", assay.Source{JSON: "r"}, "{\n \"r\": 1\n}\n", "1"},
		{"a torn last line", assay.Source{JSON: "r"}, "{\"r\": 1}\n{\"r\": 2", "1"},
		{"several values without reduce", assay.Source{JSON: "batches[*].ns"}, rows, "error: 3 values; want a reduce"},
		{"not there", assay.Source{JSON: "rate"}, rows, "error: nothing there; the document has a, batches, big, ok, sha"},
		{"an object", assay.Source{JSON: "a"}, rows, "error: it is an object with b"},
		{"null", assay.Source{JSON: "a"}, `{"a": null}`, "error: it is null"},
		{"no JSON", assay.Source{JSON: "a"}, "panic: boom", `error: no JSON: neither the whole output nor a line of it is a JSON object; there is "panic: boom"`},
		{"nothing", assay.Source{JSON: "a"}, "", "error: there is an empty output"},
		{"bad path", assay.Source{JSON: "a[["}, "{}", "error: not a path"},
		{"a group", assay.Source{Regex: `rate: (\S+)/s`}, "rate: 12.5/s\n", "12.5"},
		{"a group that is a word", assay.Source{Regex: `mode=(\w+)`}, "mode=compiled", "compiled"},
		{"two matches", assay.Source{Regex: `rate: (\S+)`}, "rate: 1\nrate: 2\n", "error: 2 values; want a reduce"},
		{"two matches, the last", assay.Source{Regex: `rate: (\S+)`, Reduce: "last"}, "rate: 1\nrate: 2\n", "2"},
		{"no match", assay.Source{Regex: `rate: (\S+)`}, "nothing", `error: no match in "nothing"`},
		{"no group", assay.Source{Regex: `rate`}, "rate", "error: the expression has no group"},
		{"a text among numbers", assay.Source{Regex: `x=(\S+)`, Reduce: "mean"}, "x=1 x=two", `error: reduce mean: "two" is a text`},
		{"NaN", assay.Source{Regex: `x=(\S+)`}, "x=NaN", `error: "NaN" is not a number`},
		{"a benchmark line", assay.Source{Benchfmt: "ns/op"}, "goos: linux\nBenchmarkX-8  100  123.5 ns/op  16 B/op\nPASS\n", "123.5"},
		{"its other unit", assay.Source{Benchfmt: "B/op"}, "BenchmarkX-8  100  123.5 ns/op  16 B/op\n", "16"},
		{"three of them", assay.Source{Benchfmt: "ns/op", Reduce: "median"}, "BenchmarkX 1 3 ns/op\nBenchmarkX 1 1 ns/op\nBenchmarkX 1 2 ns/op\n", "2"},
		{"another unit", assay.Source{Benchfmt: "MB/s"}, "BenchmarkX 1 3 ns/op\n", "error: 1 benchmark lines, none with the unit MB/s"},
		{"no benchmark", assay.Source{Benchfmt: "ns/op"}, "PASS\n", "error: no line such as BenchmarkX"},
		{"a difference", assay.Source{Delta: "prom(store, x)"}, "", "error: a difference over the trial"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := Declared(c.src, from(c.output))
			if want, isErr := strings.CutPrefix(c.want, "error: "); isErr {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, %v; want an error with %q", v, err, want)
				}
				return
			}
			if err != nil || v.String() != c.want {
				t.Errorf("got %v, %v; want %s", v, err, c.want)
			}
		})
	}
}

func TestDeclaredOpensWhatItNames(t *testing.T) {
	var asked string
	_, err := Declared(assay.Source{JSON: "a", From: assay.ParseTemplate("stderr")}, func(name string) (io.ReadCloser, error) {
		asked = name
		return nil, io.ErrUnexpectedEOF
	})
	if asked != "stderr" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("asked for %q, got %v", asked, err)
	}
}

func TestReduceOfOneValueNeedsNoName(t *testing.T) {
	for _, how := range []string{"", "mean", "median", "min", "max", "sum", "p1", "p99.9", "first", "last"} {
		if v, err := Reduce([]assay.Value{assay.Num(5)}, how); err != nil || v.Number != 5 {
			t.Errorf("%s of 5 is %v, %v", how, v, err)
		}
	}
	if v, err := Reduce([]assay.Value{assay.Num(5)}, "sd"); err != nil || v.Number != 0 {
		t.Errorf("sd of one value is %v, %v", v, err)
	}
	if _, err := Reduce(nil, "mean"); !errors.Is(err, ErrAbsent) {
		t.Errorf("mean of nothing is %v", err)
	}
}

func FuzzDeclared(f *testing.F) {
	f.Add("batches[*].ns", `{"batches":[{"ns":3}]}`, "median", uint8(0))
	f.Add(`x=(\S+)`, "x=1", "", uint8(1))
	f.Add("ns/op", "BenchmarkX 1 3 ns/op", "p99", uint8(2))
	f.Fuzz(func(t *testing.T, path, output, reduce string, kind uint8) {
		src := assay.Source{Reduce: reduce}
		switch kind % 3 {
		case 0:
			src.JSON = path
		case 1:
			src.Regex = path
		case 2:
			src.Benchfmt = path
		}
		v, err := Declared(src, from(output))
		if err == nil && math.IsNaN(v.Number) {
			t.Errorf("a NaN came through")
		}
		if err != nil && v != (assay.Value{}) {
			t.Errorf("an error with a value: %v, %v", v, err)
		}
	})
}
