package telemetry

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestResidentFollowsReadAndEvict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "corpus")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 4<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	warm, err := Resident(path)
	if err != nil || warm != 1 {
		t.Fatalf("Resident(just written) = %v, %v, want 1", warm, err)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err == nil && fs.Type == unix.TMPFS_MAGIC {
		t.Skip("skipped: the temporary folder is in memory and cannot be evicted")
	}
	e, err := Evict([]string{path})
	if err != nil || e.Before.Ratio() != 1 || e.After.Ratio() > 0.05 {
		t.Fatalf("Evict = %+v, %v, want 1 before and 0 after", e, err)
	}
	if cold, err := Resident(filepath.Dir(path)); err != nil || cold > 0.05 {
		t.Errorf("Resident(after evict) = %v, %v, want 0", cold, err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) // no read-ahead
	if _, err := f.ReadAt(make([]byte, 1<<20), 0); err != nil {
		t.Fatal(err)
	}
	if part, err := Resident(path); err != nil || part < 0.24 || part > 0.5 {
		t.Errorf("Resident(a quarter read) = %v, %v, want 0.25", part, err)
	}
}

// TestEvictSaysWhatStayed: pages that a process has mapped and locked cannot be dropped.
func TestEvictSaysWhatStayed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held")
	if err := os.WriteFile(path, make([]byte, 256<<10), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, 256<<10, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)
	if err := unix.Mlock(mapped); err != nil {
		t.Skipf("skipped: cannot lock memory: %v", err)
	}
	e, err := Evict([]string{path})
	if err != nil || e.After.Resident == 0 || e.Text() == "" {
		t.Errorf("Evict(locked) = %+v, %v, %q, want pages that stayed and a text", e, err, e.Text())
	}
}
