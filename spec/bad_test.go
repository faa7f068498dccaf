package spec

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// machine is the host of all tests in this package: two CPUs, and every level is there.
var machine = Host{CPUs: 2}

func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d malformed files (%v), want at least 60", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Read("experiment.yaml", text, machine)
			mistakes, ok := err.(Mistakes)
			if !ok || len(mistakes) == 0 {
				t.Fatalf("Read(%s) = %v, want mistakes", file, err)
			}
			got := mistakes.Advised() + "\n"
			golden := strings.TrimSuffix(file, ".yaml") + ".want"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("mistakes of %s (-want +got):\n%s", file, diff)
			}
		})
	}
}
