package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/machine"
)

// ceilingsFile, in the user's state folder, keeps what assay machine measured last, so that each new
// results folder on the same machine begins with it. From then on the folder's own host.json counts.
const ceilingsFile = "ceilings.json"

// ceilingsPath is where this user's ceilings are kept; empty where there is no such place.
func ceilingsPath() string {
	if path := registrationsPath(); path != "" {
		return filepath.Join(filepath.Dir(path), ceilingsFile)
	}
	return ""
}

// knownCeilings are those that were measured on this machine as it is now. A file that cannot be read
// holds none: figures then stand beside nothing.
func knownCeilings(session assay.Session) []assay.Measured {
	var list []assay.Measured
	b, err := os.ReadFile(ceilingsPath())
	if err != nil || json.Unmarshal(b, &list) != nil {
		return nil
	}
	own := machine.FingerprintDigest(session.Fingerprint)
	return slices.DeleteFunc(list, func(m assay.Measured) bool { return m.Fingerprint != own })
}

// rememberCeilings keeps ceilings in the place of older ones of the same name and folder.
func rememberCeilings(list []assay.Measured) error {
	path := ceilingsPath()
	if path == "" {
		return nil
	}
	var old []assay.Measured
	if b, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(b, &old) // a file that was spoilt is replaced
	}
	b, err := json.MarshalIndent(merged(old, list), "", "  ")
	if err != nil {
		return fmt.Errorf("keep ceilings: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("keep ceilings: %w", err)
	}
	next := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(next, append(b, '\n'), 0o666); err != nil {
		return fmt.Errorf("keep ceilings: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("keep ceilings: %w", err)
	}
	return nil
}
