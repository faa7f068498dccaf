package machine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Journal holds what was on the machine before it was changed, so that it can be put back: after
// the work, or at the next start if this process was killed in between. Each original is on disk
// before the change is made, and is never replaced by a later one.
//
// One journal serves a machine: two in different folders that change the same thing would each take
// the other's change for the original.
type Journal struct {
	file    *os.File
	boot    string
	entries []entry
}

// JournalFile is the journal's name in its folder.
const JournalFile = "machine.journal"

// An entry is one line of the journal. Exactly one of File and PID is set.
type entry struct {
	// File had the content Was, in its first entry. Every change is announced by an entry, and
	// followed by one with Now set, which says what was read back then.
	File string `json:"file,omitempty"`
	Was  string `json:"was,omitempty"`
	Now  string `json:"now,omitempty"`
	Mode uint32 `json:"mode,omitempty"`
	// PID, which started at Started ticks after boot, might use the cores CPUs.
	PID     int    `json:"pid,omitempty"`
	Started string `json:"started,omitempty"`
	CPUs    []int  `json:"cpus,omitempty"`
	Boot    string `json:"boot"`
}

// key is what an entry is about.
func (e entry) key() string {
	if e.File != "" {
		return e.File
	}
	return fmt.Sprintf("affinity of process %d (%s)", e.PID, e.Started)
}

// OpenJournal opens the journal of a folder and first puts back whatever an earlier process left
// changed; restored says what, for people. It is an error if another process has the journal open,
// if it is damaged other than by a torn last line, or if something could not be put back: then
// nothing may be changed, and the journal stays as it is.
func OpenJournal(dir string) (j *Journal, restored []string, err error) {
	path := filepath.Join(dir, JournalFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, nil, fmt.Errorf("open journal %s: another process holds it: %w", path, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read journal: %w", err)
	}
	boot, _ := root("/").text("proc/sys/kernel/random/boot_id")
	j = &Journal{file: f, boot: boot}
	if j.entries, err = parseJournal(b); err != nil {
		return nil, nil, fmt.Errorf("read journal %s: %w", path, err)
	}
	restored, err = j.Restore()
	return j, restored, err
}

// parseJournal reads the lines. One that has no end was never followed by its change and is left out.
func parseJournal(b []byte) ([]entry, error) {
	var list []entry
	for n := 1; len(b) > 0; n++ {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if !whole {
			break
		}
		var e entry
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return nil, fmt.Errorf("line %d %q: %w", n, line, err)
		}
		if (e.File == "") == (e.PID <= 0) {
			return nil, fmt.Errorf("line %d %q: want a file or a process", n, line)
		}
		list = append(list, e)
		b = rest
	}
	return list, nil
}

// write appends an entry and returns when it would survive a power cut.
func (j *Journal) write(e entry) error {
	e.Boot = j.boot
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	end, err := j.file.Seek(0, 2)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if _, err := j.file.Write(append(b, '\n')); err != nil {
		return errors.Join(fmt.Errorf("write journal: %w", err), j.file.Truncate(end))
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	j.entries = append(j.entries, e)
	return nil
}

// original is the first entry about something, which holds how it was.
func (j *Journal) original(key string) (entry, bool) {
	i := slices.IndexFunc(j.entries, func(e entry) bool { return e.key() == key })
	if i < 0 {
		return entry{}, false
	}
	return j.entries[i], true
}

// SetFile gives a file (a governor, a sysctl under /proc/sys, any small file) a new content. What it
// held before the first change is kept for [Journal.Restore].
func (j *Journal) SetFile(path, content string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("set file: %w", err)
	}
	if _, known := j.original(path); !known {
		was, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("set file: keep what it holds: %w", err)
		}
		stat, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("set file: keep what it holds: %w", err)
		}
		if err := j.write(entry{File: path, Was: string(was), Mode: uint32(stat.Mode().Perm())}); err != nil {
			return err
		}
	} else if err := j.write(entry{File: path}); err != nil {
		return err
	}
	if err := putFile(path, content); err != nil {
		return fmt.Errorf("set file: %w", err)
	}
	// The kernel may hold it in its own words ("[always] madvise never").
	now, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("set file: read back: %w", err)
	}
	return j.write(entry{File: path, Now: string(now)})
}

// putFile writes in one call, as files of the kernel want it. They cannot be replaced by renaming.
func putFile(path, content string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	if content == "" {
		return f.Close()
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// SetAffinity confines a process's thread to some cores; pid 0 is not allowed. Which cores it might
// use before the first change is kept for [Journal.Restore].
func (j *Journal) SetAffinity(pid int, cpus []int) error {
	started, ok := startOf(pid)
	if !ok {
		return fmt.Errorf("set affinity of process %d: there is none", pid)
	}
	was, err := affinity(pid)
	if err != nil {
		return fmt.Errorf("set affinity of process %d: ask for the present one: %w", pid, err)
	}
	e := entry{PID: pid, Started: started, CPUs: was}
	if _, known := j.original(e.key()); !known {
		if err := j.write(e); err != nil {
			return err
		}
	}
	if err := setAffinity(pid, cpus); err != nil {
		return fmt.Errorf("set affinity of process %d to cores %v: %w", pid, cpus, err)
	}
	return nil
}

// startOf is when a process started, in ticks after boot, which tells it from a later one of the
// same number.
func startOf(pid int) (string, bool) {
	text, ok := root("/").text(fmt.Sprintf("proc/%d/stat", pid))
	if i := strings.LastIndexByte(text, ')'); ok && i >= 0 {
		if fields := strings.Fields(text[i+1:]); len(fields) > 19 {
			return fields[19], true
		}
	}
	return "", false
}

// Restore puts everything back, the last change first, and empties the journal. It says what was put
// back and what was left alone and why: a process that has ended, a setting of the kernel that a
// reboot has reset, a file that somebody else has changed since. If something cannot be put back the
// journal keeps all, so that the next start tries again.
func (j *Journal) Restore() (restored []string, err error) {
	var errs []error
	done := map[string]bool{}
	for _, e := range slices.Backward(j.entries) {
		if done[e.key()] {
			continue
		}
		done[e.key()] = true
		first, _ := j.original(e.key())
		note, err := j.putBack(first, e)
		if err != nil {
			errs = append(errs, fmt.Errorf("restore %s: %w", e.key(), err))
		}
		if note != "" {
			restored = append(restored, note)
		}
	}
	if len(errs) > 0 {
		return restored, errors.Join(errs...)
	}
	if err := errors.Join(j.file.Truncate(0), j.file.Sync()); err != nil {
		return restored, fmt.Errorf("empty journal: %w", err)
	}
	_, err = j.file.Seek(0, 0)
	j.entries = nil
	return restored, err
}

// putBack undoes all changes of one thing, of which the first and the last entry are given.
func (j *Journal) putBack(first, last entry) (note string, err error) {
	if first.PID > 0 {
		if started, ok := startOf(first.PID); !ok || started != first.Started || first.Boot != j.boot {
			return "", nil // it has ended, and its affinity with it
		}
		if err := setAffinity(first.PID, first.CPUs); err != nil && !errors.Is(err, syscall.ESRCH) {
			return "", err
		}
		return fmt.Sprintf("process %d may use cores %v again", first.PID, first.CPUs), nil
	}
	kernels := strings.HasPrefix(first.File, "/sys/") || strings.HasPrefix(first.File, "/proc/")
	if kernels && first.Boot != j.boot {
		return first.File + " was reset by a reboot", nil
	}
	now, err := os.ReadFile(first.File)
	if errors.Is(err, fs.ErrNotExist) && kernels {
		return first.File + " is gone", nil
	}
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	case err == nil && string(now) == first.Was:
		return "", nil // changed back already, or never changed
	case err == nil && last.Now != "" && string(now) != last.Now:
		return fmt.Sprintf("%s was left alone: it holds %q, which somebody else has put there since (it was %q)", first.File, now, first.Was), nil
	}
	want := first.Was
	if kernels {
		want = chosen(want) // of "always [madvise] never" only the word can be written
	} else if errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(first.File, nil, fs.FileMode(first.Mode)); err != nil {
			return "", err
		}
	}
	if err := putFile(first.File, want); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s holds %q again", first.File, strings.TrimSpace(want)), nil
}

// Close puts everything back and lets the journal go.
func (j *Journal) Close() (restored []string, err error) {
	restored, err = j.Restore()
	return restored, errors.Join(err, j.file.Close())
}
