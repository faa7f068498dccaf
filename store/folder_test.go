package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/store"
)

// full names, in a child process, a folder on a disk that is about to be full.
const full = "ASSAY_TEST_FULL_DISK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(full); dir != "" {
		os.Exit(fillDisk(dir))
	}
	os.Exit(m.Run())
}

func trial(n int) assay.Trial {
	return assay.Trial{
		Trial: n, Block: 1 + n/2, Position: 1 + n%2, Cell: assay.Cell{"n": fmt.Sprint(n)}, Session: "s", Registration: "r",
		StartedAt: time.Date(2026, 1, 2, 3, 4, n, 0, time.UTC), Outcome: assay.OK, Valid: true,
		VoidBy: []string{}, RefusedBy: []string{}, Measures: map[string]assay.Value{"wall_ns": assay.Num(float64(n)), "output": assay.Txt("x")},
		Achieved: map[string]assay.Value{}, Gates: []assay.GateReading{}, Notes: []string{},
	}
}

func fresh(t *testing.T, trials int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "x.results")
	f, err := store.Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Register([]byte("experiment: x\n"), assay.Registration{Digest: "d", Seed: 7}); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= trials; n++ {
		if err := f.Append(trial(n)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := fresh(t, 3)
	recs, err := store.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(recs.Trials) != 3 || recs.Registration.Seed != 7 || string(recs.Experiment) != "experiment: x\n" {
		t.Fatalf("Read = %d trials, seed %d, experiment %q", len(recs.Trials), recs.Registration.Seed, recs.Experiment)
	}
	for i, got := range recs.Trials {
		want := trial(i + 1)
		got.Prev = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("trial %d (-want +got):\n%s", i+1, diff)
		}
	}
	if recs.Trials[0].Prev != "" || len(recs.Trials[1].Prev) != 64 {
		t.Errorf("prev = %q, %q; want none, a digest", recs.Trials[0].Prev, recs.Trials[1].Prev)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := fresh(t, 1)
	f, err := store.Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := store.Open(dir, 0); !errors.Is(err, store.ErrInUse) {
		t.Errorf("second Open = %v, want ErrInUse", err)
	}
	if _, err := store.Read(dir); err != nil {
		t.Errorf("Read beside a writer = %v, want nil", err)
	}
}

// A kill at any moment leaves a prefix of the file. Every prefix must open, keep each whole line,
// set the rest apart and go on.
func TestEveryTornEndIsMended(t *testing.T) {
	dir := fresh(t, 3)
	path := filepath.Join(dir, store.TrialsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut <= len(whole); cut += 1 + cut%7 {
		os.Remove(filepath.Join(dir, store.TornFile))
		if err := os.WriteFile(path, whole[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := store.Open(dir, 0)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		kept := bytes.Count(whole[:cut], []byte("\n"))
		rest := cut - bytes.LastIndexByte(whole[:cut], '\n') - 1
		if cut < len(whole) && whole[cut] == '\n' {
			kept, rest = kept+1, 0 // only the newline is missing
		}
		if got := len(f.Contents().Trials); got != kept {
			t.Errorf("cut at %d: %d trials, want %d", cut, got, kept)
		}
		if torn, _ := os.ReadFile(filepath.Join(dir, store.TornFile)); rest > 0 && len(torn) != rest+1 {
			t.Errorf("cut at %d: %d torn bytes kept, want %d", cut, len(torn), rest+1)
		}
		if err := f.Append(trial(kept + 1)); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if recs, err := store.Read(dir); err != nil || len(recs.Trials) != kept+1 {
			t.Errorf("cut at %d, then appended: %d trials, %v; want %d", cut, len(recs.Trials), err, kept+1)
		}
	}
}

// Any damage but a torn end is refused with its place.
func TestDamageIsRefusedWithItsPlace(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(lines []string) []string
		want  string
	}{
		{"a changed figure", func(l []string) []string { l[1] = strings.Replace(l[1], `"wall_ns":2`, `"wall_ns":1`, 1); return l }, "trials.jsonl:3: damaged: the chain breaks"},
		{"a void mark dropped", func(l []string) []string {
			l[1] = strings.Replace(l[1], `"valid":true`, `"valid":false`, 1)
			return l
		}, "trials.jsonl:3"},
		{"a line removed", func(l []string) []string { return append(l[:1], l[2:]...) }, "trials.jsonl:2: damaged: the chain breaks"},
		{"a line doubled", func(l []string) []string { return append(l[:2], l[1:]...) }, "trials.jsonl:3: damaged: the chain breaks"},
		{"the first line removed", func(l []string) []string { return l[1:] }, "trials.jsonl:1: damaged: the chain breaks"},
		{"a middle line cut", func(l []string) []string { l[1] = l[1][:40]; return l }, "trials.jsonl:2: damaged"},
		{"an empty middle line", func(l []string) []string { l[1] = ""; return l }, "trials.jsonl:2: damaged"},
		{"lines swapped", func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }, "trials.jsonl:2: damaged: the chain breaks"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := fresh(t, 4)
			path := filepath.Join(dir, store.TrialsFile)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := tt.spoil(strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"))
			damaged := []byte(strings.Join(lines, "\n") + "\n")
			if err := os.WriteFile(path, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err = store.Open(dir, 0); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Open = %v, want %q in it", err, tt.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(after, damaged) {
				t.Error("a refused folder was changed")
			}
		})
	}
	t.Run("the registration cut", func(t *testing.T) {
		dir := fresh(t, 1)
		if err := os.WriteFile(filepath.Join(dir, store.RegistrationFile), []byte("{\n\"digest\": \"d\",\n\"seed"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Read(dir); err == nil || !strings.Contains(err.Error(), "registration.json:3: damaged") {
			t.Errorf("Read = %v, want registration.json:3: damaged", err)
		}
	})
}

func TestReadOnlyFolder(t *testing.T) {
	dir := fresh(t, 2)
	if os.Getuid() == 0 {
		t.Log("root writes to read-only folders; the command line's tests use a read-only mount")
	}
	if _, err := store.Read(dir); err != nil {
		t.Error(err)
	}
	if _, err := store.Read(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Read of no folder = %v, want not exist", err)
	}
}
