package traps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/report"
)

// A Bench is what a case works with. It is made anew for each situation.
type Bench struct {
	Assay string     // the program
	Dir   string     // an empty folder
	Rand  *rand.Rand // of the seed: what a case draws varies its kind
}

// patience bounds one command.
const patience = 3 * time.Minute

// between draws from [low, high).
func (b *Bench) between(low, high float64) float64 { return low + (high-low)*b.Rand.Float64() }

// milliseconds draws a whole number of them.
func (b *Bench) milliseconds(low, high int) time.Duration {
	return time.Duration(low+b.Rand.IntN(high-low+1)) * time.Millisecond
}

// protocol draws the flags of one: HTTP/1.1 with or without keep-alive, or HTTP/2.
func (b *Bench) protocol() []string {
	return [][]string{nil, {"--no-keep-alive"}, {"--http", "2"}}[b.Rand.IntN(3)]
}

// serve starts a server on a loopback port.
func serve(h http.Handler) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("serve: %w", err)
	}
	s := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l)
	return "http://" + l.Addr().String() + "/", func() { s.Close() }, nil
}

// assay executes the program and decodes its standard output into v, where it printed any.
func (b *Bench) assay(v any, args ...string) (exit int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, b.Assay, args...)
	c.Dir = b.Dir
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(b.Dir, "state")) // nothing of the user's own
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	err = c.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		exit, err = ended.ExitCode(), nil
	}
	if err != nil {
		return exit, fmt.Errorf("execute assay %s: %w", strings.Join(args, " "), err)
	}
	if out.Len() == 0 {
		return exit, fmt.Errorf("assay %s: exit status %d: %s", strings.Join(args, " "), exit, strings.TrimSpace(problems.String()))
	}
	if err := json.Unmarshal(out.Bytes(), v); err != nil {
		return exit, fmt.Errorf("read what assay %s printed: %w", strings.Join(args, " "), err)
	}
	return exit, nil
}

// An account is what `assay load` printed.
type account struct {
	report.LoadAccount
	exit int
}

// load is `assay load url args…`.
func (b *Bench) load(url string, args ...string) (account, error) {
	var a account
	exit, err := b.assay(&a.LoadAccount, append([]string{"load", url, "--json"}, args...)...)
	a.exit = exit
	return a, err
}

// said is the note of an account that contains a word, under the reason if it was void for it.
func (a *account) said(reason, word string) Said {
	var s Said
	for _, note := range a.Notes {
		if strings.Contains(note, word) {
			s.Warned, s.Reason, s.Text = true, reason, strings.TrimPrefix(note, reason+": ")
			break
		}
	}
	for _, by := range a.VoidBy {
		if by != reason {
			s.Noise = by
		}
	}
	return s
}

// voided reports whether the account was void for the reason.
func (a *account) voided(reason string) bool { return !a.Valid && slices.Contains(a.VoidBy, reason) }

// findings are what `assay run` printed and left.
type findings struct {
	assay.Verdicts
	exit int
	dir  string
}

// run is `assay run` on an experiment of its own folder.
func (b *Bench) run(yaml string) (findings, error) {
	f := findings{dir: filepath.Join(b.Dir, "results")}
	file := filepath.Join(b.Dir, "experiment.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o666); err != nil {
		return f, fmt.Errorf("write experiment: %w", err)
	}
	exit, err := b.assay(&f.Verdicts, "run", file, "--out", f.dir, "--quiet", "--json")
	f.exit = exit
	return f, err
}

// verdict is what was said of the hypothesis H1: warned when it is that verdict for that reason.
func (f *findings) verdict(status assay.Status, reason assay.Reason) Said {
	if len(f.Hypotheses) == 0 {
		return Said{Wrong: "no verdict"}
	}
	h := f.Hypotheses[0]
	s := Said{Warned: h.Verdict == status && h.Reason == reason, Reason: string(h.Verdict) + " " + string(h.Reason), Text: strings.Join(h.Notes, "; ")}
	// What the machine does to a few short trials: another guard, or one trial out of line.
	if h.Reason != reason && (strings.HasPrefix(string(h.Reason), "guard:") || h.Reason == assay.Regimes) {
		s.Noise = string(h.Reason)
	}
	return s
}

// ms is a time in nanoseconds as milliseconds; not a number where there is none.
func ms(ns *int64) float64 {
	if ns == nil {
		return nan
	}
	return float64(*ns) / 1e6
}
