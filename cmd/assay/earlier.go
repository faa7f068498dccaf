package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/assaybench/assay"
)

// registrationsFile, in the user's state folder, lists what was registered on this machine, so that a
// question that is asked again until it gives the wanted answer is not asked in silence. It is only
// ever mentioned: no verdict depends on it.
const registrationsFile = "assay/registrations.jsonl"

// A listing is one line of the registrations file.
type listing struct {
	Question string `json:"question"`
	assay.Earlier
}

// registrationsPath is where this user's registrations are listed; empty where there is no such place.
func registrationsPath() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, registrationsFile)
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	if _, err := os.Stat(home); err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", registrationsFile)
}

// earlierRegistrations are those of the same question whose results folders are still there, oldest
// first. A list that cannot be read is an empty one: it is a courtesy, not a record.
func earlierRegistrations(e *assay.Experiment, dir string) []assay.Earlier {
	b, err := os.ReadFile(registrationsPath())
	if err != nil || e.Question == "" {
		return nil
	}
	var list []assay.Earlier
	for _, line := range bytes.Split(b, []byte{'\n'}) {
		var l listing
		if json.Unmarshal(line, &l) != nil || l.Question != e.Question || l.Folder == dir {
			continue
		}
		if _, err := os.Stat(l.Folder); err == nil {
			list = append(list, l.Earlier)
		}
	}
	return list
}

// listRegistration adds a registration to the list.
func listRegistration(e *assay.Experiment, r assay.Registration, dir string) error {
	path := registrationsPath()
	if path == "" || e.Question == "" {
		return nil
	}
	line, err := json.Marshal(listing{e.Question, assay.Earlier{Time: r.Time, Digest: r.Digest, Folder: dir}})
	if err != nil {
		return fmt.Errorf("list registration: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("list registration: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("list registration: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// mentionEarlier says where the question was registered before.
func mentionEarlier(earlier []assay.Earlier) string {
	if len(earlier) == 0 {
		return ""
	}
	last := earlier[len(earlier)-1]
	times := "once before"
	if n := len(earlier); n > 1 {
		times = fmt.Sprintf("%d times before", n)
	}
	return fmt.Sprintf("this question was registered %s on this machine, last on %s in %s", times, last.Time.Format("2006-01-02 15:04 MST"), last.Folder)
}
