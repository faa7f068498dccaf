package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/assaybench/assay/target"
)

// The test binary is the program too, and the guardian of the commands that the program executes.
func TestMain(m *testing.M) {
	if code, inner := target.Keep(); !inner {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){"assay": main, "shelf": shelf})
}

// The scripts of testdata/script show every verb as people use it: arguments, output, exit status.
func TestScripts(t *testing.T) {
	dir, files := "testdata/script", []string(nil)
	if testing.Short() {
		t.Log("short: a few scripts only; make test executes all")
		for _, name := range []string{"run", "resume", "killed", "outcomes"} {
			files = append(files, filepath.Join(dir, name+".txtar"))
		}
		dir = ""
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, Files: files,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TMPDIR", e.WorkDir+"/tmp")
			port, err := freePort()
			if err != nil {
				return err
			}
			e.Setenv("FREE_PORT", port)
			return os.Mkdir(e.WorkDir+"/tmp", 0o777)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": status, "json": jsonPath, "lines": lines,
		},
	})
}

// status N COMMAND ARG…: the command ends with exit status N. Its output is shown as by exec.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command arg…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s ended with exit status %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// json PATH WANT: the value at PATH, keys and indexes between dots, of the JSON on standard output
// prints as WANT. len as the last key is the number of elements.
func jsonPath(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json path want")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &v); err != nil {
		ts.Fatalf("standard output is not JSON: %v", err)
	}
	for key := range strings.SplitSeq(args[0], ".") {
		v = member(ts, v, key)
	}
	if got := fmt.Sprint(v); (got == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s (negated: %t)", args[0], got, args[1], neg)
	}
}

func member(ts *testscript.TestScript, v any, key string) any {
	switch x := v.(type) {
	case map[string]any:
		if e, ok := x[key]; ok {
			return e
		}
		if key == "len" {
			return len(x)
		}
	case []any:
		if key == "len" {
			return len(x)
		}
		var i int
		if _, err := fmt.Sscan(key, &i); err == nil && i >= 0 && i < len(x) {
			return x[i]
		}
	}
	ts.Fatalf("no %s in %v", key, v)
	return nil
}

// lines FILE N: the file has N lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: lines file n")
	}
	if got := fmt.Sprint(strings.Count(ts.ReadFile(args[0]), "\n")); (got == args[1]) == neg {
		ts.Fatalf("%s has %s lines, want %s (negated: %t)", args[0], got, args[1], neg)
	}
}
