package telemetry

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is held open tells what stands in it now, whatever its length was before.
func TestHeldFilesTellThePresent(t *testing.T) {
	dir := t.TempDir()
	h := held{root: root(dir)}
	defer h.Close()
	for _, content := range []string{"one", strings.Repeat("long ", 10_000), "", "two"} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		for name, read := range map[string]func(string) ([]byte, error){"record": h.record, "lines": h.lines} {
			if got, err := read("file"); err != nil || string(got) != content {
				t.Errorf("%s gave %d bytes, %v, want %d", name, len(got), err, len(content))
			}
		}
	}
	if _, err := h.record("no such file"); err == nil || len(h.files) != 1 {
		t.Errorf("a file that is not there: %v, %d held", err, len(h.files))
	}
}

// What the kernel hands out in pieces is read to its end.
func TestHeldTablesAreWhole(t *testing.T) {
	h := held{root: "/"}
	defer h.Close()
	want, err := os.ReadFile("/proc/kallsyms")
	if err != nil || len(want) < 100_000 {
		t.Skipf("skipped: no large table: %d bytes, %v", len(want), err)
	}
	if got, err := h.lines("proc/kallsyms"); err != nil || len(got) != len(want) {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(want))
	}
}

// The file of a process that has ended gives an error and is not held any more.
func TestHeldFilesOfTheDeadAreLetGo(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Processes{Trees: &Trees{Objects: func() []Object { return []Object{{Name: "it", PID: cmd.Process.Pid}} }}}
	defer p.Close()
	readings(t, p)
	if got := readings(t, p); got["processes it"] != 1 || got["rss it"] <= 0 || got["rss_anon it"] <= 0 || got["rss_peak it"] < got["rss it"] {
		t.Errorf("of a living one: %v", got)
	}
	open := len(p.held.files)
	cmd.Process.Kill()
	cmd.Wait()
	if got := readings(t, p); got["processes it"] != 0 {
		t.Errorf("of a dead one: %v", got)
	}
	if now := len(p.held.files); now >= open {
		t.Errorf("%d files held after its end, %d before", now, open)
	}
}

// More files than may be held are read all the same.
func TestHeldFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	h := held{root: root(dir)}
	defer h.Close()
	for i := range mostHeld + 10 {
		name := strings.Repeat("x", 1+i%200) + strings.Repeat("y", i/200)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := h.record(name); err != nil || string(got) != name {
			t.Errorf("file %d: %q, %v", i, got, err)
		}
	}
	if len(h.files) > mostHeld {
		t.Errorf("%d files held, at most %d may be", len(h.files), mostHeld)
	}
}
