package study

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// resultsFile is where the figures stand, between marks, in prose that holds none.
const resultsFile = "RESULTS.md"

// Results are the read folders of all sessions, by session and experiment.
type Results struct {
	Dir      string
	Sessions []string
	folders  map[string]*Folder
}

// ReadResults reads every results folder of the study.
func ReadResults(folder string) (*Results, error) {
	r := &Results{Dir: filepath.Join(folder, resultsFolder), folders: map[string]*Folder{}}
	sessions, err := os.ReadDir(r.Dir)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	for _, s := range sessions {
		if !s.IsDir() {
			continue
		}
		r.Sessions = append(r.Sessions, s.Name())
		for _, e := range Entries() {
			f, err := Read(filepath.Join(r.Dir, s.Name(), e.Name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			r.folders[s.Name()+"/"+e.Name] = f
		}
	}
	return r, nil
}

// Of is the folder of an experiment in a session, nil where it was not executed.
func (r *Results) Of(session, name string) *Folder { return r.folders[session+"/"+name] }

// First is the folder of an experiment in the first session that has it.
func (r *Results) First(name string) *Folder {
	for _, s := range r.Sessions {
		if f := r.Of(s, name); f != nil {
			return f
		}
	}
	return nil
}

// ResultsCommand writes the figures anew.
func ResultsCommand(args []string) error {
	flags := flag.NewFlagSet("results", flag.ContinueOnError)
	folder := flags.String("folder", "object-ends", "the study's `folder`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return WriteResults(*folder)
}

// WriteResults writes the figures between the marks of RESULTS.md, from the results folders alone.
func WriteResults(folder string) error {
	path := filepath.Join(folder, resultsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	r, err := ReadResults(folder)
	if err != nil {
		return err
	}
	filled, err := r.Fill(string(text))
	if err != nil {
		return fmt.Errorf("write results: %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(filled), 0o644); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

var marked = regexp.MustCompile(`(?s)<!-- figures: ([a-z-]+) -->\n.*?<!-- end -->`)

// Fill replaces what stands between the marks of a text.
func (r *Results) Fill(text string) (string, error) {
	var unknown error
	filled := marked.ReplaceAllStringFunc(text, func(part string) string {
		name := marked.FindStringSubmatch(part)[1]
		figures, ok := r.figures(name)
		if !ok {
			unknown = errors.Join(unknown, fmt.Errorf("mark %q: no figures of that name", name))
		}
		return "<!-- figures: " + name + " -->\n" + figures + "<!-- end -->"
	})
	return filled, unknown
}

// figures are the tables of one mark.
func (r *Results) figures(name string) (string, bool) {
	tables := map[string]func(*Results) string{
		"scorecard": (*Results).scorecard, "map": (*Results).recommendations, "sweeps": (*Results).sweeps, "binds": (*Results).binds,
		"flips": (*Results).flips, "model": (*Results).model, "bytes": (*Results).bytes, "ladder": (*Results).ladder,
		"buffer": (*Results).buffer, "depth": (*Results).depth, "processes": (*Results).processes, "leak": (*Results).leak,
		"voids": (*Results).voids, "deviations": (*Results).deviations, "machine": (*Results).machine,
	}
	f, ok := tables[name]
	if !ok {
		return "", false
	}
	return f(r), true
}

// A table is Markdown.
type table struct{ b strings.Builder }

func newTable(heads ...string) *table {
	t := &table{}
	t.row(heads...)
	t.row(make([]string, len(heads))...)
	return t
}

// row adds cells; the row of empty ones behind the heads becomes the rule.
func (t *table) row(cells ...string) {
	if strings.Join(cells, "") == "" && strings.Count(t.b.String(), "\n") == 1 {
		t.b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
		return
	}
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", "/")
	}
	t.b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func (t *table) String() string { return t.b.String() }
