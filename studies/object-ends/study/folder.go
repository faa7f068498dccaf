package study

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
	"github.com/assaybench/assay/spec"
	"github.com/assaybench/assay/store"
)

// A Folder is a results folder that was read and judged.
type Folder struct {
	Dir        string
	Experiment *assay.Experiment
	Contents   store.Contents
	Judgement  grade.Judgement
}

// Read reads and judges a results folder. cpus is the number of processors that derived names are
// computed with; nothing here has one.
func Read(dir string) (*Folder, error) {
	contents, err := store.Read(dir)
	if err != nil {
		return nil, err
	}
	var added []assay.Cell
	plan := contents.Registration.CurrentPlan()
	for _, c := range plan.Cells[plan.Main():] {
		added = append(added, c.Cell)
	}
	e, err := spec.Read(filepath.Join(dir, store.ExperimentFile), contents.Amended(), spec.Host{CPUs: 2, Added: added})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	f := &Folder{Dir: dir, Experiment: e, Contents: contents}
	f.Judgement = grade.Judge(grade.Folder{Experiment: e, Registration: &f.Contents.Registration, Host: contents.Host, Trials: contents.Trials,
		Open: func(trial int) fs.FS { return os.DirFS(store.TrialPath(dir, trial)) }})
	return f, nil
}

// Verdict is the verdict on a hypothesis; its zero value where there is none of that name.
func (f *Folder) Verdict(id string) assay.Verdict {
	for _, v := range f.Judgement.Verdicts.Hypotheses {
		if v.ID == id {
			return v
		}
	}
	return assay.Verdict{}
}

// Trials are those of matching cells that count; warm-ups and void ones are not among them.
func (f *Folder) Trials(pattern assay.Cell) []assay.Trial {
	var list []assay.Trial
	for _, t := range f.Contents.Trials {
		if t.Cell.Matches(pattern) && t.Counts() {
			list = append(list, t)
		}
	}
	return list
}

// Median is the median of a measure over the ok trials of matching cells, by its key in a trial's line;
// NaN where there is none.
func (f *Folder) Median(pattern assay.Cell, key string) float64 {
	var xs []float64
	for _, t := range f.Trials(pattern) {
		if v, ok := t.Measures[key]; ok && !v.IsText && t.Outcome == assay.OK {
			xs = append(xs, v.Number)
		}
	}
	return median(xs)
}

func median(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	slices.Sort(xs)
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}

// Output is the last line of a trial's standard output, as JSON.
func (f *Folder) Output(trial int, into any) error {
	text, err := os.ReadFile(filepath.Join(store.TrialPath(f.Dir, trial), "stdout"))
	if err != nil {
		return fmt.Errorf("read output of trial %d: %w", trial, err)
	}
	if err := json.Unmarshal(lastLine(text), into); err != nil {
		return fmt.Errorf("read output of trial %d: %w", trial, err)
	}
	return nil
}

func lastLine(text []byte) []byte {
	end := len(text)
	for end > 0 && text[end-1] == '\n' {
		end--
	}
	start := end
	for start > 0 && text[start-1] != '\n' {
		start--
	}
	return text[start:end]
}
