package engine

import (
	"context"
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/driver"
	"github.com/assaybench/assay/grade"
	"github.com/assaybench/assay/spec"
	"github.com/assaybench/assay/store"
	"github.com/assaybench/assay/target"
)

// The test binary is the guardian of what trials execute, and the server that some of them load.
func TestMain(m *testing.M) {
	if code, inner := target.Keep(); !inner {
		os.Exit(code)
	}
	if words := strings.Fields(os.Getenv("ENGINE_SUBJECT")); len(words) > 0 {
		os.Exit(subject(words))
	}
	flag.Parse()
	os.Exit(m.Run())
}

// subject is what a trial of these tests executes.
func subject(words []string) int {
	switch words[0] {
	case "serve", "mute": // on a port, until it is ended; mute keeps connections and says nothing
		l, err := net.Listen("tcp", "127.0.0.1:"+words[1])
		if err != nil {
			return 1
		}
		for {
			c, err := l.Accept()
			if err != nil {
				return 1
			}
			if words[0] == "serve" {
				c.Close()
				continue
			}
			go io.Copy(io.Discard, c)
		}
	case "hang": // in a select that a dump of goroutines names
		os.Stdout.WriteString("first\n")
		hangHere()
	}
	return 2
}

func hangHere() { time.Sleep(time.Hour) }

// executed executes an experiment in a folder and gives its trials and the folder.
func executed(t *testing.T, dir, yaml string) []assay.Trial {
	t.Helper()
	trials, err := execute(t, dir, yaml)
	if err != nil {
		t.Fatal(err)
	}
	return trials
}

func execute(t *testing.T, dir, yaml string) ([]assay.Trial, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("experiment: engine\nretries: 0\n" + strings.NewReplacer("EXE", exe, "DIR", dir).Replace(yaml))
	e, err := spec.Read(filepath.Join(dir, "experiment.yaml"), text, spec.Host{CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := store.Open(filepath.Join(dir, "results"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if !folder.Contents().Registered {
		r := assay.Registration{Digest: "d", Seed: 1, Plan: assay.NewPlan(e, 1)}
		if err := folder.Register(text, r); err != nil {
			t.Fatal(err)
		}
	}
	plan := folder.Contents().Registration.Plan
	run := &Run{Experiment: e, Folder: folder, Session: assay.Session{ID: "s"}, Mark: dir, Driver: driver.New,
		Next: func(trials []assay.Trial) (Step, bool) {
			s, ok := grade.Next(plan, 1, trials, "s", func(int) bool { return false })
			return Step(s), ok
		}}
	err = run.Do(context.Background())
	return folder.Contents().Trials, err
}

// path is the results folder's own of a test's folder.
func path(dir, name string) string {
	return filepath.Join(store.TrialPath(filepath.Join(dir, "results"), 1), name)
}

// freePort is a port on which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// noteWith is the trial's first note that contains all words; empty for none.
func noteWith(trial assay.Trial, words ...string) string {
next:
	for _, n := range trial.Notes {
		for _, w := range words {
			if !strings.Contains(n, w) {
				continue next
			}
		}
		return n
	}
	return ""
}
