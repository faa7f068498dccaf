package corpus

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// ManifestKey is the name of the manifest in its bucket.
const ManifestKey = "manifest.jsonl"

// An Entry is a line of the manifest.
type Entry struct {
	Path      string `json:"path"`
	Size      int64  `json:"size"` // bytes
	HasFooter bool   `json:"has_footer"`
	FileID    uint64 `json:"file_id"`
}

// Manifest returns the entries of the corpus in the order of file ids, from the closed forms alone.
func (c Corpus) Manifest() []Entry {
	entries := make([]Entry, c.Objects)
	for i := range entries {
		id := uint64(i)
		entries[i] = Entry{Path: Key(id), Size: c.Size(id), HasFooter: c.HasFooter(id), FileID: id}
	}
	return entries
}

// WriteManifest writes entries as JSON lines.
func WriteManifest(w io.Writer, entries []Entry) error {
	encoder := json.NewEncoder(w)
	for _, entry := range entries {
		if err := encoder.Encode(entry); err != nil {
			return fmt.Errorf("write manifest: file %d: %w", entry.FileID, err)
		}
	}
	return nil
}

// ReadManifest reads what WriteManifest wrote. Its error names the line.
func ReadManifest(r io.Reader) ([]Entry, error) {
	var entries []Entry
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var entry Entry
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			return nil, fmt.Errorf("read manifest: line %d: %w", len(entries)+1, err)
		}
		if entry.Path == "" || entry.Size < End {
			return nil, fmt.Errorf("read manifest: line %d: got path %q of %d bytes: %w",
				len(entries)+1, entry.Path, entry.Size, ErrCorrupt)
		}
		entries = append(entries, entry)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return entries, nil
}
