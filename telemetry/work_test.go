package telemetry

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A process that works had a core or wanted one; one that sleeps did neither, its child included.
func TestWorkTellsWorkFromWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		working bool
	}{
		"works":           {"while :; do :; done", true},
		"its child works": {"sh -c 'while :; do :; done'; true", true},
		"sleeps":          {"sleep 60", false},
	} {
		command := exec.Command("sh", "-c", c.script)
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that its child ends with it
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		w := &Work{PID: func() int { return command.Process.Pid }, Object: "command"}
		got := map[string]float64{}
		emit := func(name, _ string, v float64) { got[name] = v }
		var took time.Duration
		var last time.Time
		for i := range 3 { // the first primes, and in the second a shell may still be starting
			if err := w.Read(context.Background(), emit); err != nil {
				t.Fatal(err)
			}
			took, last = time.Since(last), time.Now()
			if i < 2 {
				time.Sleep(150 * time.Millisecond)
			}
		}
		active := (got["ran"] + got["queued"]) / float64(took)
		if c.working && active < 0.5 || !c.working && active > 0.05 {
			t.Errorf("%s: a core was had or wanted %.0f%% of the time", name, 100*active)
		}
		syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		command.Wait()
	}
}

// A process that is not there gives nothing, and no error: it is about to be spawned.
func TestWorkOfNobody(t *testing.T) {
	w := &Work{PID: func() int { return 0 }, Object: "command"}
	emit := func(name, _ string, v float64) {
		if name == "ran" || name == "queued" {
			t.Errorf("%s %v of nobody", name, v)
		}
	}
	for range 2 {
		if err := w.Read(context.Background(), emit); err != nil {
			t.Fatal(err)
		}
	}
}
