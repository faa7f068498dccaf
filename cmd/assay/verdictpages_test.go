package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/store"
)

const verdictPage = "verdicts.md"

// doctored are what is done to a results folder for verdicts that no single undisturbed run ends in,
// by the words behind "by:" on the page.
func doctored() map[string]func(t *testing.T, dir string) {
	return map[string]func(t *testing.T, dir string){
		"interrupted after 7 trials": func(t *testing.T, dir string) { rebuild(t, dir, 7, func(*assay.Trial) {}) },
		"each side in a session of its own": func(t *testing.T, dir string) {
			rebuild(t, dir, 1000, func(trial *assay.Trial) { trial.Session += "-of-" + trial.Cell["n"] })
		},
	}
}

// rebuild makes the folder anew from its first trials, each changed.
func rebuild(t *testing.T, dir string, most int, change func(*assay.Trial)) {
	t.Helper()
	recs, err := store.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	folder, err := store.Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := folder.Register(recs.Experiment, recs.Registration); err != nil {
		t.Fatal(err)
	}
	if err := folder.SetHost(recs.Host); err != nil {
		t.Fatal(err)
	}
	for _, trial := range recs.Trials[:min(most, len(recs.Trials))] {
		change(&trial)
		if err := folder.Append(trial); err != nil {
			t.Fatal(err)
		}
	}
}

// The example of every reason ends in that verdict with that reason.
func TestEveryReasonsExampleEndsInIt(t *testing.T) {
	if testing.Short() {
		t.Skip("short: make test executes it")
	}
	shown := 0
	for _, f := range pages(t)[verdictPage] {
		verdict, isVerdict := strings.CutPrefix(f.mark, "verdict: ")
		words, isRefused := strings.CutPrefix(f.mark, "refused: ")
		if !isVerdict && !isRefused {
			continue
		}
		shown++
		t.Run(strings.ReplaceAll(f.mark, " ", "-"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "experiment.yaml")
			if err := os.WriteFile(file, []byte(f.text), 0o666); err != nil {
				t.Fatal(err)
			}
			if isRefused {
				out, err := exec.Command("assay", "run", file).CombinedOutput()
				if !strings.Contains(string(out), words) || exitOf(err) != exitUsage {
					t.Errorf("%s:%d: %v\n%s\nwant exit status 2 and %q", verdictPage, f.line, err, out, words)
				}
				return
			}
			verdict, by, _ := strings.Cut(verdict, "; by: ")
			out, err := exec.Command("assay", "run", file, "--json", "--quiet").Output()
			if by != "" {
				results, globErr := filepath.Glob(filepath.Join(dir, "*.results"))
				if globErr != nil || len(results) != 1 || doctored()[by] == nil {
					t.Fatalf("%s:%d: no way to %q in %v", verdictPage, f.line, by, results)
				}
				doctored()[by](t, results[0])
				out, err = exec.Command("assay", "grade", results[0], "--json").Output()
			}
			got, status := firstVerdict(t, out), exitOf(err)
			if got != verdict || status != statusOf(verdict) {
				t.Errorf("%s:%d: %s, exit status %d; want %s, %d\n%s", verdictPage, f.line, got, status, verdict, statusOf(verdict), out)
			}
		})
	}
	if want := len(reasons(t)); shown < want {
		t.Errorf("%s shows %d verdicts, want one for each of %d reasons", verdictPage, shown, want)
	}
}

func exitOf(err error) int {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

func statusOf(verdict string) int {
	switch word, _, _ := strings.Cut(verdict, " "); word {
	case "PASS":
		return 0
	case "FAIL":
		return exitFail
	}
	return exitOpen
}

func firstVerdict(t *testing.T, text []byte) string {
	t.Helper()
	var v assay.Verdicts
	if err := json.Unmarshal(text, &v); err != nil || len(v.Hypotheses) == 0 {
		t.Fatalf("no verdict (%v) in %s", err, text)
	}
	return fmt.Sprint(v.Hypotheses[0].Verdict, " ", v.Hypotheses[0].Reason)
}

// reasons are the reasons that the vocabulary has, and guards.
func reasons(t *testing.T) (list []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../verdict.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "Reason" {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, text)
		}
		return true
	})
	if len(list) < 17 {
		t.Fatalf("verdict.go has %d reasons, want at least 17", len(list))
	}
	return append(list, "guard:NAME")
}

// No reason is without its section and its line in the table.
func TestEveryReasonHasItsSection(t *testing.T) {
	b, err := os.ReadFile("../../docs/" + verdictPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range reasons(t) {
		if !slices.Contains(sections(b), anchor(reason)) {
			t.Errorf("%s has no section %s", verdictPage, reason)
		}
		if !strings.Contains(string(b), "| ["+reason+"](#"+anchor(reason)+") |") {
			t.Errorf("the table of %s lacks %s", verdictPage, reason)
		}
	}
}
