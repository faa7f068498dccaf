package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/assaybench/assay"
)

// Contents is what a results folder holds.
type Contents struct {
	Experiment   []byte
	Registration assay.Registration
	Registered   bool
	Host         assay.Host
	Trials       []assay.Trial
	Torn         []byte // the torn last line of trials.jsonl, nil if there is none

	size    int64 // of the whole lines
	last    string
	unended bool // the last line is whole but for its newline
}

// Amended is the experiment file now in force.
func (c *Contents) Amended() []byte {
	if n := len(c.Registration.Amendments); n > 0 {
		return []byte(c.Registration.Amendments[n-1].File)
	}
	return c.Experiment
}

// Read reads a results folder without changing it. A folder without a registration is empty
// Contents. Damage is an error that names file and line.
func Read(dir string) (Contents, error) {
	var c Contents
	var err error
	if _, err := os.Stat(dir); err != nil {
		return c, fmt.Errorf("read results folder: %w", err)
	}
	if c.Experiment, err = readFile(dir, ExperimentFile); err != nil {
		return c, err
	}
	registration, err := readFile(dir, RegistrationFile)
	if err != nil {
		return c, err
	}
	if err := unmarshal(dir, RegistrationFile, registration, &c.Registration); err != nil {
		return c, err
	}
	c.Registered = len(registration) > 0
	host, err := readFile(dir, HostFile)
	if err != nil {
		return c, err
	}
	if err := unmarshal(dir, HostFile, host, &c.Host); err != nil {
		return c, err
	}
	lines, err := readFile(dir, TrialsFile)
	if err != nil {
		return c, err
	}
	if err := c.parse(filepath.Join(dir, TrialsFile), lines); err != nil {
		return c, err
	}
	if len(c.Trials) > 0 && !c.Registered {
		return c, fmt.Errorf("read %s: trials are recorded, but %s is gone", dir, RegistrationFile)
	}
	return c, nil
}

// readFile is nil for a file that is not there.
func readFile(dir, name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read results folder: %w", err)
	}
	return b, nil
}

func unmarshal(dir, name string, b []byte, v any) error {
	if len(b) == 0 {
		return nil
	}
	if err := json.Unmarshal(b, v); err != nil {
		line := 1 + bytes.Count(b[:min(offsetOf(err), len(b))], []byte{'\n'})
		return fmt.Errorf("%s:%d: damaged: %w", filepath.Join(dir, name), line, err)
	}
	return nil
}

func offsetOf(err error) int {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return int(syntax.Offset)
	case errors.As(err, &typ):
		return int(typ.Offset)
	}
	return 0
}

// parse reads the lines of trials.jsonl, checks the chain of digests and sets a torn end apart.
func (c *Contents) parse(path string, b []byte) error {
	lines := bytes.Split(b, []byte{'\n'})
	rest := lines[len(lines)-1]
	lines = lines[:len(lines)-1]
	c.size = int64(len(b) - len(rest))
	if len(rest) > 0 {
		var t assay.Trial
		if json.Unmarshal(rest, &t) == nil {
			lines = append(lines, rest)
			c.size, c.unended = int64(len(b)+1), true
		} else {
			c.Torn = bytes.Clone(rest)
		}
	}
	trials, errs := decode(lines)
	for i, line := range lines {
		if errs[i] != nil {
			return fmt.Errorf("%s:%d: damaged: %w", path, i+1, errs[i])
		}
		if got := trials[i].Prev; got != c.last {
			return fmt.Errorf("%s:%d: damaged: the chain breaks: prev is %q, but line %d has the digest %q; a line was changed, removed or inserted",
				path, i+1, got, i, c.last)
		}
		if want := i + 1; trials[i].Trial != want {
			return fmt.Errorf("%s:%d: damaged: trial %d stands where trial %d belongs", path, i+1, trials[i].Trial, want)
		}
		c.last = lineDigest(line)
	}
	c.Trials = trials
	return nil
}

// decode decodes every line, on as many processors as there are.
func decode(lines [][]byte) ([]assay.Trial, []error) {
	trials, errs := make([]assay.Trial, len(lines)), make([]error, len(lines))
	workers := min(runtime.GOMAXPROCS(0), 1+len(lines)/64)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			r := lineReader{names: map[string]string{}}
			for i := w * len(lines) / workers; i < (w+1)*len(lines)/workers; i++ {
				errs[i] = r.decode(lines[i], &trials[i])
			}
		})
	}
	wg.Wait()
	return trials, errs
}

func lineDigest(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}
