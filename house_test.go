package assay

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/assaybench/assay"

// house says which of our packages each folder may import; "all" stands for every one. A folder that
// is not listed fails the test: a package is a decision.
func house() map[string][]string {
	return map[string][]string{
		".":         nil,
		"spec":      {"."},
		"stat":      nil,
		"hist":      nil,
		"load":      {".", "hist"},
		"driver":    {".", "load", "target"},
		"target":    {"."},
		"telemetry": {"."},
		"machine":   {"."},
		"store":     {".", "hist"},
		"measure":   {".", "hist", "stat"},
		"engine":    {".", "load", "target", "telemetry", "machine", "store", "measure"},
		"grade":     {".", "stat", "measure"},
		"report":    {".", "measure", "grade", "hist"},
		"cmd/assay": {"all"},
		"traps":     {"all"},
		"bench":     {"all"},
		// Programs that examples execute: what is measured knows nothing of what measures.
		"examples": nil,
	}
}

// pure are the folders without effects: no clock, no files, no network, no unseeded randomness.
func pure() []string { return []string{".", "spec", "stat", "hist", "measure", "grade", "report"} }

const (
	maxFile     = 500 // lines
	maxFunction = 60
)

// A source is one file of the product, tests apart.
type source struct {
	folder string
	path   string
	file   *ast.File
	fset   *token.FileSet
	lines  int
}

// sources are the non-test files of this module. Folders named testdata and modules within this one
// (studies) are left out.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, noModule := os.Stat(filepath.Join(path, "go.mod"))
			if path != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || noModule == nil) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, text, 0)
		if err != nil {
			return err
		}
		list = append(list, source{filepath.ToSlash(filepath.Dir(path)), path, file, fset, strings.Count(string(text), "\n")})
		return nil
	})
	if err != nil || len(list) < 20 {
		t.Fatalf("%d source files (%v), want at least 20", len(list), err)
	}
	return list
}

// row is the folder of the house that a folder belongs to.
func row(folder string) (string, bool) {
	for {
		if _, ok := house()[folder]; ok {
			return folder, true
		}
		above, _, ok := cutLast(folder)
		// Only these two hold programs of their own; elsewhere a folder within one is a new package.
		if !ok || above != "examples" && above != "traps" && !strings.HasPrefix(above, "examples/") && !strings.HasPrefix(above, "traps/") {
			return "", false
		}
		folder = above
	}
}

func cutLast(folder string) (above, name string, ok bool) {
	i := strings.LastIndexByte(folder, '/')
	if i < 0 {
		return "", folder, false
	}
	return folder[:i], folder[i+1:], true
}

func TestImportsFollowTheHouse(t *testing.T) {
	unlisted := map[string]bool{}
	for _, s := range sources(t) {
		home, ok := row(s.folder)
		if !ok {
			unlisted[s.folder] = true
			continue
		}
		allowed := house()[home]
		for _, spec := range s.file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			folder, ours := strings.CutPrefix(path, module)
			if !ours || folder != "" && folder[0] != '/' {
				continue
			}
			folder = strings.TrimPrefix(folder, "/")
			if folder == "" {
				folder = "."
			}
			if !slices.Contains(allowed, folder) && !slices.Contains(allowed, "all") {
				t.Errorf("%s: %s imports %s; it may import %v", s.fset.Position(spec.Pos()), home, folder, allowed)
			}
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(unlisted)) {
		t.Errorf("package %s is not listed in the house", folder)
	}
}

func TestFilesAndFunctionsFitAScreen(t *testing.T) {
	for _, s := range sources(t) {
		if s.lines > maxFile {
			t.Errorf("%s has %d lines, want at most %d: split it by noun", s.path, s.lines, maxFile)
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := s.fset.Position(f.Pos()), s.fset.Position(f.End())
			if n := to.Line - from.Line + 1; n > maxFunction {
				t.Errorf("%s: %s has %d lines, want at most %d", from, f.Name.Name, n, maxFunction)
			}
			if f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: an init function", from)
			}
		}
	}
}

func TestPurePackagesHaveNoEffects(t *testing.T) {
	forbidden := []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "golang.org/x/sys/unix", "crypto/rand", "io/ioutil", "log", "log/slog", "runtime"}
	for _, s := range sources(t) {
		if !slices.Contains(pure(), s.folder) {
			continue
		}
		for _, spec := range s.file.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); slices.Contains(forbidden, path) {
				t.Errorf("%s: %s has no effects and cannot import %s", s.fset.Position(spec.Pos()), s.folder, path)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && impure(sel) {
				t.Errorf("%s: %s has no effects and cannot use the clock or unseeded randomness", s.fset.Position(n.Pos()), s.folder)
			}
			return true
		})
	}
}

// impure reports whether sel is the clock, or a random number from nowhere.
func impure(sel *ast.SelectorExpr) bool {
	pkg, ok := sel.X.(*ast.Ident)
	if !ok || pkg.Obj != nil {
		return false
	}
	switch pkg.Name {
	case "time":
		return slices.Contains([]string{"Now", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Since", "Until"}, sel.Sel.Name)
	case "rand":
		return !slices.Contains([]string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "PCG", "ChaCha8", "Source"}, sel.Sel.Name)
	}
	return false
}

func TestTheHouseKnowsItsFolders(t *testing.T) {
	for folder, want := range map[string]string{
		".": ".", "spec": "spec", "cmd/assay": "cmd/assay", "examples/inflight": "examples", "traps/frozen/server": "traps",
		"spec/inner": "", "cmd": "", "cmd/other": "", "utils": "",
	} {
		if got, ok := row(folder); got != want || ok != (want != "") {
			t.Errorf("row(%s) = %q, %v, want %q", folder, got, ok, want)
		}
	}
}
