package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/assaybench/assay/spec"
)

// A fence is one fenced block of a page.
type fence struct {
	line int    // of its first line
	lang string // the word behind the fence
	mark string // what an HTML comment on the line before says
	text string
}

// pages are the README and the pages of docs, by name.
func pages(t *testing.T) map[string][]fence {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) < 5 {
		t.Fatalf("docs has %d pages (%v), want at least 5", len(paths), err)
	}
	all := map[string][]fence{}
	for _, path := range append(paths, "../../README.md") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = fences(string(b))
	}
	return all
}

func fences(page string) (list []fence) {
	var open *fence
	before := ""
	for i, line := range strings.Split(page, "\n") {
		lang, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			open = &fence{line: i + 2, lang: lang, mark: comment(before)}
		case isFence:
			list = append(list, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
		before = line
	}
	return list
}

func comment(line string) string {
	text, ok := strings.CutPrefix(line, "<!-- ")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(text, " -->")
}

// skipped reports whether the page says that the block is not executed, and prints its reason.
func (f *fence) skipped(t *testing.T, page string) bool {
	t.Helper()
	reason, ok := strings.CutPrefix(f.mark, "not executed")
	if !ok {
		return false
	}
	if reason = strings.TrimPrefix(reason, ":"); strings.TrimSpace(reason) == "" {
		t.Errorf("%s:%d: not executed, without a reason", page, f.line)
	}
	t.Logf("%s:%d: not executed:%s", page, f.line, reason)
	return true
}

// Every transcript in README and docs is executed, and says what the page says, figures masked.
func TestTranscriptsAreTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("short: make test executes it")
	}
	for page, list := range pages(t) {
		if !slices.ContainsFunc(list, func(f fence) bool { return f.lang == "console" && !strings.HasPrefix(f.mark, "not executed") }) {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			dir := workplace(t)
			for _, f := range list {
				name, isFile := strings.CutPrefix(f.mark, "file: ")
				switch {
				case isFile:
					if err := os.WriteFile(filepath.Join(dir, name), []byte(f.text), 0o666); err != nil {
						t.Fatal(err)
					}
				case f.lang == "console" && !f.skipped(t, page):
					replay(t, page, f, dir)
				}
			}
		})
	}
}

// workplace is a folder with the examples as they are after a checkout: without results.
func workplace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root := os.DirFS("../..")
	for _, name := range []string{"go.mod", "go.sum", "examples"} {
		err := fs.WalkDir(root, name, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && strings.HasSuffix(path, ".results"):
				return fs.SkipDir
			case d.IsDir():
				return os.MkdirAll(filepath.Join(dir, path), 0o777)
			case !d.Type().IsRegular():
				return nil
			}
			b, err := fs.ReadFile(root, path)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, path), b, 0o666)
		})
		if err != nil {
			t.Fatalf("copy %s: %v", name, err)
		}
	}
	return dir
}

// replay executes the commands of a transcript, each of which stands behind "$ ", and holds what they
// print against what follows them. A line of "…" stands for any number of lines.
func replay(t *testing.T, page string, f fence, dir string) {
	t.Helper()
	commands, want := transcript(f.text)
	if len(commands) == 0 {
		t.Errorf("%s:%d: a transcript without a command behind \"$ \"", page, f.line)
		return
	}
	const mark = "\x01\n"
	script := "status=0\n"
	for _, c := range commands {
		script += "printf '\\001\\n'; (exit $status)\n" + c + "\nstatus=$?\n"
	}
	shell := exec.Command("sh", "-c", script)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "TERM=dumb")
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%s:%d: %v\n%s", page, f.line, err, out)
	}
	got := strings.Split(string(out), mark)[1:]
	for i, c := range commands {
		if !pattern(want[i]).MatchString(masked(got[i])) {
			t.Errorf("%s:%d: $ %s\nprinted\n%s\nmasked\n%s\nwant\n%s", page, f.line, c, got[i], masked(got[i]), masked(want[i]))
		}
	}
}

func transcript(text string) (commands, want []string) {
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(line, "$ ")
		switch n := len(commands); {
		case ok:
			commands, want = append(commands, strings.TrimSuffix(command, "\n")), append(want, "")
		case n > 0 && strings.HasPrefix(line, "> ") && want[n-1] == "": // a command goes on
			commands[n-1] += "\n" + strings.TrimSuffix(line[2:], "\n")
		case n > 0:
			want[n-1] += line
		}
	}
	return commands, want
}

var (
	digests = regexp.MustCompile(`\b[0-9a-f]{8,}\b`)
	numbers = regexp.MustCompile(`-?[0-9][0-9.,]*(e[-+]?[0-9]+)?`)
	units   = regexp.MustCompile(`# ?(ns|us|µs|ms|s|m|h|B|kB|MB|GB|KiB|MiB|GiB)\b`)
	blanks  = regexp.MustCompile(`\s+`)
)

// masked is a text without what differs from one execution to the next: figures, their units, digests,
// and where lines break.
func masked(text string) string {
	text = digests.ReplaceAllString(text, "#")
	text = numbers.ReplaceAllString(text, "#")
	text = units.ReplaceAllString(text, "#")
	return strings.TrimSpace(blanks.ReplaceAllString(text, " "))
}

// pattern matches the masked text, with … for anything.
func pattern(want string) *regexp.Regexp {
	var parts []string
	for part := range strings.SplitSeq(masked(want), "…") {
		parts = append(parts, regexp.QuoteMeta(strings.TrimSpace(part)))
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
}

func TestMaskHidesFiguresOnly(t *testing.T) {
	for _, tt := range []struct {
		got, want string
		same      bool
	}{
		{"B is 1.23 times as fast; 12 blocks, 4 ms", "B is 99 times as\nfast; 8 blocks,  1.5 s", true},
		{"PASS H1 1.74 times", "FAIL H1 1.74 times", false},
		{"one\ntwo\nthree", "one\n…\nthree", true},
		{"one\nthree", "one\n…", true},
		{"digest 5fd20e81ec6a", "digest 00001e81ec6a", true},
		{"one two", "one", false},
		{"", "", true},
	} {
		if got := pattern(tt.want).MatchString(masked(tt.got)); got != tt.same {
			t.Errorf("%q against %q: %t, want %t", tt.got, tt.want, got, tt.same)
		}
	}
}

// Every command line in a block of sh names verbs and flags that there are.
func TestShownCommandsExist(t *testing.T) {
	seen := 0
	for page, list := range pages(t) {
		for _, f := range list {
			if f.lang != "sh" {
				continue
			}
			for line := range strings.Lines(f.text) {
				words, err := shownWords(line)
				if err != nil || len(words) == 0 || words[0] != "assay" {
					continue
				}
				seen++
				if err := shown(words[1:]); err != nil {
					t.Errorf("%s:%d: %s: %v", page, f.line, strings.TrimSpace(line), err)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no page shows a command")
	}
}

// Every experiment file on a page is free of mistakes, but for those that show one.
func TestShownExperimentsAreRight(t *testing.T) {
	for page, list := range pages(t) {
		for _, f := range list {
			if f.lang != "yaml" || f.mark == "part" || strings.HasPrefix(f.mark, "refused: ") {
				continue
			}
			if _, err := spec.Read(page, []byte(f.text), spec.Host{CPUs: 2, Available: func(string) bool { return true }}); err != nil {
				t.Errorf("%s:%d: %v", page, f.line, err)
			}
		}
	}
}

// Every link of a page to another file, or to a section of a page, leads somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]*)(#[^)]*)?\)`)
	for page := range pages(t) {
		path := filepath.Join("../../docs", page)
		if page == "README.md" {
			path = "../../README.md"
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(b, -1) {
			to, section := string(m[1]), string(m[2])
			if strings.Contains(to, "://") {
				continue
			}
			full := path
			if to != "" {
				full = filepath.Join(filepath.Dir(path), to)
			}
			text, err := os.ReadFile(full)
			if err != nil {
				if _, statErr := os.Stat(full); statErr != nil {
					t.Errorf("%s: %s: %v", page, to, fs.ErrNotExist)
				}
				continue
			}
			if section != "" && !slices.Contains(sections(text), section[1:]) {
				t.Errorf("%s: there is no section %s in %s", page, section, full)
			}
		}
	}
}

// sections are the anchors of a page's headings.
func sections(page []byte) (anchors []string) {
	for line := range bytes.Lines(page) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(string(line), "#"), " "); ok && line[0] == '#' {
			anchors = append(anchors, anchor(strings.TrimSpace(title)))
		}
	}
	return anchors
}

// anchor is the name that a heading gets: lower case, blanks to hyphens, the rest dropped.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, title)
}

func Example_anchor() {
	fmt.Println(anchor("guard:NAME"), anchor("What is in it"))
	// Output: guardname what-is-in-it
}
