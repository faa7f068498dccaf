package traps

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assaybench/assay"
)

// machineGuards void a trial for what the machine did to it by itself.
var machineGuards = []string{"guard:steal", "guard:swap", "guard:clock-step", "guard:throttled"}

// trials are the records that a run left.
func (f *findings) trials() ([]assay.Trial, error) {
	file, err := os.Open(filepath.Join(f.dir, "trials.jsonl"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []assay.Trial
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var t assay.Trial
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return nil, fmt.Errorf("read trial: %w", err)
		}
		list = append(list, t)
	}
	return list, lines.Err()
}

// watched executes an experiment in which the subject stands as {subject NAME ARG…} in environments,
// and hands its trials.
func (b *Bench) watched(yaml string) (findings, []assay.Trial, error) {
	exe, err := os.Executable()
	if err != nil {
		return findings{}, nil, err
	}
	f, err := b.run(strings.NewReplacer("EXE", exe, "DIR", b.Dir).Replace(yaml))
	if err != nil {
		return f, nil, err
	}
	trials, err := f.trials()
	if err == nil && len(trials) == 0 {
		err = fmt.Errorf("assay run: exit status %d, no trial", f.exit)
	}
	return f, trials, err
}

// voidedBy is what was said of trials that a guard must void: warned if it voided one, the note that
// goes with it, and the machine's own marks where there is none.
func voidedBy(trials []assay.Trial, guard string) Said {
	var s Said
	for _, t := range trials {
		if slices.Contains(t.VoidBy, assay.GuardVoid(guard)) && !s.Warned {
			s = Said{Warned: true, Reason: assay.GuardVoid(guard), Text: strings.TrimPrefix(noteOf(t, guard+":"), guard+": ")}
		}
		for _, by := range t.VoidBy {
			if by != assay.GuardVoid(guard) && slices.Contains(machineGuards, by) {
				s.Noise = by
			}
		}
	}
	return s
}

// noted is what was said of trials of which something must be noted.
func noted(trials []assay.Trial, word string) Said {
	for _, t := range trials {
		if text := noteOf(t, word); text != "" {
			name, rest, _ := strings.Cut(text, ": ")
			return Said{Warned: true, Reason: name, Text: rest}
		}
	}
	return Said{}
}

func noteOf(t assay.Trial, word string) string {
	for _, n := range t.Notes {
		if strings.Contains(n, word) {
			return n
		}
	}
	return ""
}

// heldUp marks a kill by a rule on a bystander that was quick as noise, where the machine has more to
// do than cores: what the bystander's users saw was slow all the same.
func (s *Said) heldUp() {
	var load float64
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return
	}
	if _, err := fmt.Sscan(string(b), &load); err == nil && s.Warned && load > float64(runtime.NumCPU()) {
		s.Noise = fmt.Sprintf("load %.0f", load)
	}
}

// outcomes checks that every trial ended so.
func (s *Said) outcomes(trials []assay.Trial, want assay.Outcome) {
	for _, t := range trials {
		if t.Outcome != want {
			s.wrongf("trial %d is %s, the truth is %s %s %s", t.Trial, t.Outcome, want, strings.Join(t.RefusedBy, "; "), strings.Join(t.Notes, "; "))
		}
	}
}

// freePort is a port on which nobody listens.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// memoryGroup makes a control group with a limit on memory; an error says why there can be none here.
func memoryGroup(limit int) (dir string, remove func(), err error) {
	nothing := func() {}
	file := "memory.limit_in_bytes"
	if dir, err = os.MkdirTemp("/sys/fs/cgroup/memory", "assay-traps-"); err != nil {
		file = "memory.max"
		if dir, err = os.MkdirTemp("/sys/fs/cgroup", "assay-traps-"); err != nil {
			return "", nothing, err
		}
	}
	remove = func() { os.Remove(dir) }
	if err = os.WriteFile(filepath.Join(dir, file), strconv.AppendInt(nil, int64(limit), 10), 0); err != nil {
		remove()
	}
	return dir, remove, err
}

// group makes a control group with a processor quota; an error says why there can be none here.
func group(quota time.Duration) (dir string, remove func(), err error) {
	nothing := func() {}
	limit, file := strconv.FormatInt(quota.Microseconds(), 10), "cpu.cfs_quota_us"
	dir, err = os.MkdirTemp("/sys/fs/cgroup/cpu", "assay-traps-")
	if err != nil {
		limit, file = limit+" 100000", "cpu.max"
		if dir, err = os.MkdirTemp("/sys/fs/cgroup", "assay-traps-"); err != nil {
			return "", nothing, err
		}
	}
	remove = func() { os.Remove(dir) }
	if err = os.WriteFile(filepath.Join(dir, file), []byte(limit), 0); err != nil {
		remove()
	}
	return dir, remove, err
}
