package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/store"
)

// folderFindings reads a results folder and grades it.
func folderFindings(dir string) (report.Findings, error) {
	recs, err := store.Read(dir)
	if err != nil {
		return report.Findings{}, err
	}
	e, err := folderExperiment(dir, &recs)
	if err != nil {
		return report.Findings{}, err
	}
	return findings(dir, e, &recs), nil
}

// findings grades what a results folder holds.
func findings(dir string, e *assay.Experiment, recs *store.Contents) report.Findings {
	return report.Judged(gradeFolder(dir, e, recs))
}

func gradeFolder(dir string, e *assay.Experiment, recs *store.Contents) grade.Folder {
	return grade.Folder{Experiment: e, Registration: &recs.Registration, Host: recs.Host, Trials: recs.Trials,
		Open: func(trial int) fs.FS { return os.DirFS(store.TrialPath(dir, trial)) }}
}

// writeVerdicts writes verdicts.json: the bytes that --json prints.
func writeVerdicts(dir string, v assay.Verdicts) error {
	var b bytes.Buffer
	if err := encodeJSON(&b, v); err != nil {
		return err
	}
	return store.Replace(filepath.Join(dir, store.VerdictsFile), b.Bytes())
}

func writeReport(dir string, f report.Findings) (path string, err error) {
	var b bytes.Buffer
	if err := report.HTML(&b, f); err != nil {
		return "", err
	}
	path = filepath.Join(dir, store.ReportFile)
	return path, store.Replace(path, b.Bytes())
}
