package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/assaybench/assay"
)

// Names of the files in a results folder.
const (
	ExperimentFile   = "experiment.yaml"
	RegistrationFile = "registration.json"
	HostFile         = "host.json"
	TrialsFile       = "trials.jsonl"
	TornFile         = "trials.torn"
	TrialsFolder     = "trials"
	VerdictsFile     = "verdicts.json"
	ReportFile       = "report.html"
)

// ErrInUse says that another process holds the folder.
var ErrInUse = errors.New("in use by another process")

// A Folder is a results folder opened for writing. One process holds it at a time, by flock.
type Folder struct {
	dir    string
	lock   *os.File
	trials *os.File
	size   int64  // of trials.jsonl up to the last whole line
	prev   string // digest of the last line
	recs   Contents
}

// Open opens dir for writing, making it if it is not there. It waits up to patience for another
// process to let go of it. A torn last line of trials.jsonl, which a killed process leaves, is moved
// to trials.torn; any other damage is an error that names its place.
func Open(dir string, patience time.Duration) (*Folder, error) {
	if err := os.MkdirAll(filepath.Join(dir, TrialsFolder), 0o777); err != nil {
		return nil, fmt.Errorf("open results folder: %w", err)
	}
	lock, err := acquire(dir, patience)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, lock: lock}
	if err := f.load(); err != nil {
		lock.Close()
		return nil, err
	}
	return f, nil
}

func acquire(dir string, patience time.Duration) (*os.File, error) {
	lock, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open results folder: %w", err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return lock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			lock.Close()
			return nil, fmt.Errorf("lock results folder %s: %w", dir, err)
		}
		if time.Now().After(deadline) {
			lock.Close()
			return nil, fmt.Errorf("open results folder %s: %w", dir, ErrInUse)
		}
	}
}

func (f *Folder) load() error {
	recs, err := Read(f.dir)
	if err != nil {
		return err
	}
	path := filepath.Join(f.dir, TrialsFile)
	f.trials, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("open results folder: %w", err)
	}
	f.recs, f.size, f.prev = recs, recs.size, recs.last
	if err := f.mend(); err != nil {
		f.trials.Close()
		return err
	}
	return nil
}

// mend puts trials.jsonl into the state of a whole number of lines: a torn end goes to trials.torn,
// a missing last newline is added.
func (f *Folder) mend() error {
	if len(f.recs.Torn) > 0 {
		if err := appendFile(filepath.Join(f.dir, TornFile), append(f.recs.Torn, '\n')); err != nil {
			return fmt.Errorf("keep torn line: %w", err)
		}
		if err := f.trials.Truncate(f.size); err != nil {
			return fmt.Errorf("truncate torn line: %w", err)
		}
	}
	if f.recs.unended {
		if _, err := f.trials.WriteAt([]byte{'\n'}, f.size-1); err != nil {
			return fmt.Errorf("end last line of %s: %w", TrialsFile, err)
		}
	}
	return nil
}

func appendFile(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// Dir is the folder's path.
func (f *Folder) Dir() string { return f.dir }

// Contents is what the folder held when it was opened and what was added since.
func (f *Folder) Contents() *Contents { return &f.recs }

// Close lets go of the folder.
func (f *Folder) Close() error {
	return errors.Join(f.trials.Close(), f.lock.Close())
}

// Register writes the experiment file and its registration into a folder that has none. The
// registration is written last, so that a folder with a registration is whole.
func (f *Folder) Register(experiment []byte, r assay.Registration) error {
	if f.recs.Registered {
		return fmt.Errorf("register: %s is already registered", f.dir)
	}
	if err := f.Write(ExperimentFile, experiment); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	if err := f.writeJSON(RegistrationFile, r); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	f.recs.Experiment, f.recs.Registration, f.recs.Registered = experiment, r, true
	return nil
}

// Amend appends a dated amendment to the registration.
func (f *Folder) Amend(a assay.Amendment) error {
	r := f.recs.Registration
	r.Amendments = append(r.Amendments[:len(r.Amendments):len(r.Amendments)], a)
	if err := f.writeJSON(RegistrationFile, r); err != nil {
		return fmt.Errorf("amend: %w", err)
	}
	f.recs.Registration = r
	return nil
}

// SetHost replaces host.json.
func (f *Folder) SetHost(h assay.Host) error {
	if err := f.writeJSON(HostFile, h); err != nil {
		return fmt.Errorf("record host: %w", err)
	}
	f.recs.Host = h
	return nil
}

// TrialDir makes and names the folder of a trial's files. What a killed process left there is
// removed first: it belongs to a trial that was never recorded.
func (f *Folder) TrialDir(trial int) (string, error) {
	dir := TrialPath(f.dir, trial)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("clear trial folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("make trial folder: %w", err)
	}
	return dir, nil
}

// TrialPath is where the files of a trial are kept.
func TrialPath(dir string, trial int) string {
	return filepath.Join(dir, TrialsFolder, fmt.Sprintf("%04d", trial))
}

// Append records a finished trial: one line, written and fsynced before Append returns. If the line
// cannot be written whole, as on a full disk, the file is put back to the length that it had.
func (f *Folder) Append(t assay.Trial) error {
	t.Prev = f.prev
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("record trial %d: %w", t.Trial, err)
	}
	line = append(line, '\n')
	if _, err = f.trials.WriteAt(line, f.size); err == nil {
		err = f.trials.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("record trial %d: %w", t.Trial, err), f.trials.Truncate(f.size))
	}
	f.size += int64(len(line))
	f.prev = lineDigest(line[:len(line)-1])
	f.recs.Trials = append(f.recs.Trials, t)
	return nil
}

func (f *Folder) writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return f.Write(name, append(b, '\n'))
}

// Write replaces a file of the folder whole: a reader, or a crash, sees the old one or the new one.
func (f *Folder) Write(name string, b []byte) error { return Replace(filepath.Join(f.dir, name), b) }

// Replace writes a file beside path, fsyncs it and renames it over path.
func Replace(path string, b []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(b)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(tmp.Name()))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
