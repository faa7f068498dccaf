package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/assaybench/assay"
)

// fingerprints remembers the digests of files. A file is read again only if its inode, size, mtime
// or ctime moved, so that hashing before every trial costs a stat.
type fingerprints map[string]fingerprint

type fingerprint struct {
	inode, size  uint64
	mtime, ctime syscall.Timespec
	digest       string
}

func (f fingerprints) of(path string) (string, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return "", fmt.Errorf("hash %s: %w", path, err)
	}
	now := fingerprint{inode: st.Ino, size: uint64(st.Size)}
	now.mtime, now.ctime = changed(&st)
	old, ok := f[path]
	if now.digest = old.digest; ok && now == old {
		return old.digest, nil
	}
	digest, err := fileDigest(path)
	if err != nil {
		return "", err
	}
	now.digest = digest
	f[path] = now
	return digest, nil
}

func fileDigest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", fmt.Errorf("hash %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// inputNote is how the digest of an input file stands in a trial's notes.
const inputNote = "input "

// trialDigests are the digests that a recorded trial holds, by what was hashed. The executable is
// keyed by the cell, since cells may execute different programs.
func trialDigests(t *assay.Trial) map[string]string {
	digests := map[string]string{}
	if t.ExecutableSHA256 != "" {
		digests["executable of "+t.Cell.Key()] = t.ExecutableSHA256
	}
	for _, note := range t.Notes {
		rest, ok := strings.CutPrefix(note, inputNote)
		if !ok {
			continue
		}
		if path, digest, ok := strings.Cut(rest, " sha256 "); ok {
			digests["input "+path] = digest
		}
	}
	return digests
}
