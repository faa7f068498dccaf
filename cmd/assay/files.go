package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/spec"
	"github.com/assaybench/assay/store"
)

// experimentName is the file that a folder given as FILE stands for.
const experimentName = "experiment.yaml"

// An experimentFile is an experiment file that was read.
type experimentFile struct {
	path       string
	text       []byte
	experiment *assay.Experiment
	unlisted   bool // its registration is of no lasting interest: a try, a comparison without a file
}

// readExperiment reads FILE, or FILE/experiment.yaml when FILE is a folder.
func readExperiment(arg string) (*experimentFile, error) {
	path := arg
	if st, err := os.Stat(arg); err == nil && st.IsDir() {
		path = filepath.Join(arg, experimentName)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, advise(fmt.Errorf("read experiment: %w", err), "assay new --command '…' writes one")
	}
	if err != nil {
		return nil, fmt.Errorf("read experiment: %w", err)
	}
	e, err := spec.Read(path, text, here())
	if err != nil {
		return nil, err
	}
	return &experimentFile{path: path, text: text, experiment: e}, nil
}

// here is what an experiment file can ask of this machine.
func here() spec.Host {
	return spec.Host{
		CPUs:      runtime.NumCPU(),
		Available: func(command string) bool { return exec.Command("/bin/sh", "-c", command).Run() == nil },
	}
}

// resultsDir is where an experiment's results go unless --out says otherwise.
func (f *experimentFile) resultsDir(out string) string {
	if out != "" {
		return out
	}
	return filepath.Join(filepath.Dir(f.path), f.experiment.Name+".results")
}

// commit is the commit of the repository that holds the file; dirty says that it had uncommitted
// changes. Outside a repository, or without git, commit is empty.
func (f *experimentFile) commit() (commit string, dirty bool) {
	dir := filepath.Dir(f.path)
	out, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return "", false
	}
	status, err := exec.Command("git", "-C", dir, "status", "--porcelain").Output()
	return strings.TrimSpace(string(out)), err != nil || len(status) > 0
}

// folderExperiment is the experiment that a results folder was registered with. What depended on
// the machine is taken from the registered plan.
func folderExperiment(dir string, recs *store.Contents) (*assay.Experiment, error) {
	if !recs.Registered {
		return nil, advise(fmt.Errorf("read %s: no registration.json there", dir), "assay run FILE")
	}
	host := spec.Host{CPUs: runtime.NumCPU(), Added: addedCells(recs.Registration.CurrentPlan())}
	return spec.Read(filepath.Join(dir, store.ExperimentFile), recs.Amended(), host)
}

// addedCells are the cells that a refine rule added to the plan.
func addedCells(plan assay.Plan) []assay.Cell {
	var cells []assay.Cell
	for _, c := range plan.Cells[plan.Main():] {
		cells = append(cells, c.Cell)
	}
	return cells
}

// extended is the experiment with the cells that the plan in force has beyond the file's own.
func (f *experimentFile) extended(plan assay.Plan) (*assay.Experiment, error) {
	if len(plan.Stages) == 0 {
		return f.experiment, nil
	}
	host := here()
	host.Added = addedCells(plan)
	return spec.Read(f.path, f.text, host)
}

// version is the module's version as the build recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
