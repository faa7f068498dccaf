package machine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the tests start this program again as a process that changes the machine and is
// killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("ASSAY_TEST_CHANGE"); dir != "" {
		changeAndWait(dir)
	}
	os.Exit(m.Run())
}

// changeAndWait sets a file twice and its parent's affinity, says so and waits to be killed.
func changeAndWait(dir string) {
	j, _, err := OpenJournal(dir)
	if err == nil {
		err = j.SetFile(filepath.Join(dir, "governor"), "performance\n")
	}
	if err == nil {
		err = j.SetFile(filepath.Join(dir, "governor"), "userspace\n")
	}
	if err == nil {
		err = j.SetAffinity(os.Getppid(), []int{0})
	}
	fmt.Println("changed", err)
	time.Sleep(time.Minute)
	os.Exit(1)
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s holds %q (%v), want %q", filepath.Base(path), b, err, want)
	}
}

func open(t *testing.T, dir string) *Journal {
	t.Helper()
	j, _, err := OpenJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestKilledProcessIsUndoneAtTheNextStart: SIGKILL while the machine is changed.
func TestKilledProcessIsUndoneAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	governor := filepath.Join(dir, "governor")
	put(t, governor, "powersave\n")
	before, err := affinity(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ASSAY_TEST_CHANGE="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 200)
	n, _ := out.Read(b)
	if got := strings.TrimSpace(string(b[:n])); got != "changed <nil>" {
		t.Errorf("child says %q", got)
	}
	holds(t, governor, "userspace\n")
	if confined, err := affinity(os.Getpid()); err != nil || len(confined) != 1 {
		t.Errorf("affinity = %v, %v, want core 0", confined, err)
	}
	if _, _, err := OpenJournal(dir); err == nil {
		t.Error("a journal that another process holds was opened")
	}
	cmd.Process.Kill()
	cmd.Wait()

	j, restored, err := OpenJournal(dir)
	if err != nil || len(restored) != 2 {
		t.Fatalf("OpenJournal = %q, %v, want two restored", restored, err)
	}
	holds(t, governor, "powersave\n")
	if after, err := affinity(os.Getpid()); err != nil || !slices.Equal(after, before) {
		t.Errorf("affinity = %v, %v, want %v again", after, err, before)
	}
	if again, err := j.Close(); err != nil || len(again) != 0 {
		t.Errorf("Close() = %q, %v, want nothing left", again, err)
	}
	holds(t, filepath.Join(dir, JournalFile), "")
}

// TestOriginalIsNeverOverwritten: a second start that changes again before it restores would take
// the changed content for the original.
func TestOriginalIsNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, path, "original")
	j := open(t, dir)
	for _, content := range []string{"a", "b", "original", "c", ""} {
		if err := j.SetFile(path, content); err != nil {
			t.Fatal(err)
		}
		holds(t, path, content)
	}
	if restored, err := j.Close(); err != nil || len(restored) != 1 {
		t.Errorf("Close() = %q, %v", restored, err)
	}
	holds(t, path, "original")
}

func TestWhatOthersChangedSinceIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, path, "original")
	j := open(t, dir)
	if err := j.SetFile(path, "ours"); err != nil {
		t.Fatal(err)
	}
	put(t, path, "theirs")
	restored, err := j.Close()
	if err != nil || len(restored) != 1 || !strings.Contains(restored[0], "left alone") {
		t.Errorf("Close() = %q, %v", restored, err)
	}
	holds(t, path, "theirs")
}

// TestEveryCutOfTheJournalRestores: whatever byte the last write got to, and whether or not the
// change that it announces was made, the next start puts back what was there first.
func TestEveryCutOfTheJournalRestores(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, path, "original")
	j := open(t, dir)
	for _, content := range []string{"a", "b"} {
		if err := j.SetFile(path, content); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(filepath.Join(dir, JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	j.file.Close() // as the kernel does for a killed process
	// What the file can hold after so many whole lines.
	states := [][]string{{"original"}, {"original", "", "a"}, {"a"}, {"a", "", "b"}, {"b"}}
	for cut := range len(whole) + 1 {
		nearEnd := strings.Contains(string(whole[max(cut-2, 0):min(cut+2, len(whole))]), "\n")
		if !nearEnd && cut%16 != 0 {
			continue // a line that is torn here or there is torn
		}
		for _, state := range states[strings.Count(string(whole[:cut]), "\n")] {
			put(t, filepath.Join(dir, JournalFile), string(whole[:cut]))
			put(t, path, state)
			j := open(t, dir)
			holds(t, path, "original")
			j.file.Close()
		}
	}
}

func TestDamagedJournalIsRefused(t *testing.T) {
	for _, text := range []string{
		"garbage\n",
		`{"file":"/x","was":"y","boot":"b"}` + "\n" + "gar\x00bage\n" + `{"file":"/x","boot":"b"}` + "\n",
		`{"boot":"b"}` + "\n",
		`{"file":"/x","pid":3,"boot":"b"}` + "\n",
		`{"file":"/x","surprise":3,"boot":"b"}` + "\n",
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, JournalFile), text)
		if _, _, err := OpenJournal(dir); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("OpenJournal of %q = %v, want the line named", text, err)
		}
		holds(t, filepath.Join(dir, JournalFile), text)
	}
}

func TestJournalKeepsWhatCannotBePutBack(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "folder")
	if err := os.Mkdir(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(deep, "f")
	put(t, path, "original")
	j := open(t, dir)
	if err := j.SetFile(path, "changed"); err != nil {
		t.Fatal(err)
	}
	j.file.Close()
	if err := os.Rename(deep, deep+".away"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenJournal(dir); err == nil {
		t.Error("OpenJournal gave no error for a file that cannot be put back")
	}
	if err := os.Rename(deep+".away", deep); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	holds(t, path, "original")
}

// TestRebootResetsTheKernel: what stood under /proc and /sys is gone with its boot; ordinary files
// are not.
func TestRebootResetsTheKernel(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, path, "changed")
	put(t, filepath.Join(dir, JournalFile), fmt.Sprintf(`{"file":"/proc/sys/kernel/no_such_setting","was":"1","boot":"former"}
{"file":%q,"was":"original","mode":420,"boot":"former"}
{"pid":1,"started":"0","cpus":[0],"boot":"former"}
`, path))
	_, restored, err := OpenJournal(dir)
	if err != nil || len(restored) != 2 {
		t.Errorf("OpenJournal = %q, %v, want the file restored and the setting named", restored, err)
	}
	holds(t, path, "original")
}

func FuzzParseJournal(f *testing.F) {
	f.Add([]byte(`{"file":"/x","was":"y","boot":"b"}` + "\n"))
	f.Add([]byte(`{"pid":3,"started":"1","cpus":[0,1],"boot":"b"}` + "\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := parseJournal(b)
		if err != nil {
			return
		}
		for _, e := range list {
			if e.key() == "" || (e.File == "") == (e.PID <= 0) {
				t.Errorf("parseJournal(%q) let %+v through", b, e)
			}
		}
	})
}
