package reader

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/assaybench/assay/studies/object-ends/store"
)

// readSlices is V5: a process for each slice of the files, whose Parquet files are merged into one. The
// wall holds all of it, starting the processes and merging included.
func readSlices(ctx context.Context, setting *Setting, out string, lines *lines, stderr io.Writer) (Tally, error) {
	files, err := countFiles(ctx, setting)
	if err != nil {
		return Tally{}, err
	}
	total := Tally{Gate: Gate{Passed: true}}
	for range setting.Passes {
		before := processorTime()
		begin := time.Now()
		tally, parts, err := runSlices(ctx, setting, out, lines, stderr)
		if err != nil {
			return Tally{}, err
		}
		if err := merge(out, parts); err != nil {
			return Tally{}, err
		}
		tally.Wall = time.Since(begin).Nanoseconds()
		tally.CPU += (processorTime() - before).Nanoseconds()
		tally.RSSPeak += residentPeak()
		total.add(tally)
		for _, part := range parts {
			_ = os.Remove(part)
		}
		if err := total.judge(setting, files, out); err != nil {
			return Tally{}, err
		}
	}
	total.settle()
	total.Gets = nil
	return total, nil
}

// countFiles asks the store's manifest how many files there are to read.
func countFiles(ctx context.Context, setting *Setting) (int, error) {
	client, err := store.NewClient(setting.Endpoint, setting.Keys, 1)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	entries, err := manifest(ctx, client, setting)
	return len(entries), err
}

// runSlices runs one process a slice and returns their tallies joined, and their Parquet files.
func runSlices(ctx context.Context, setting *Setting, out string, lines *lines, stderr io.Writer) (Tally, []string, error) {
	parts := make([]string, setting.Processes)
	tallies := make([]Tally, setting.Processes)
	failures := make([]error, setting.Processes)
	var running sync.WaitGroup
	for i := range parts {
		parts[i] = fmt.Sprintf("%s.part%d", out, i)
		running.Go(func() {
			tallies[i], failures[i] = runSlice(ctx, setting.slice(i, parts[i]), lines, stderr)
		})
	}
	running.Wait()
	var joined Tally
	for _, tally := range tallies {
		joined.join(tally)
	}
	return joined, parts, errors.Join(failures...)
}

// slice returns the setting of the process of slice i.
func (s *Setting) slice(i int, out string) *Setting {
	own := *s
	own.Part, own.Parts, own.Processes, own.Passes, own.Out = i, s.Processes, 1, 1, out
	return &own
}

// runSlice runs this program's verb read with the setting, passes its progress on and returns its tally.
// The process ends with this one.
func runSlice(ctx context.Context, setting *Setting, lines *lines, stderr io.Writer) (Tally, error) {
	program, err := os.Executable()
	if err != nil {
		return Tally{}, fmt.Errorf("find own program: %w", err)
	}
	command := exec.CommandContext(ctx, program, append([]string{"read"}, setting.arguments()...)...)
	command.Stderr = stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return Tally{}, fmt.Errorf("start slice %d: %w", setting.Part, err)
	}
	wait, err := store.StartTied(command)
	if err != nil {
		return Tally{}, fmt.Errorf("start slice %d: %w", setting.Part, err)
	}
	last, reading := lastLine(stdout, lines)
	failure := wait()
	if reading != nil {
		return Tally{}, fmt.Errorf("read tally of slice %d: %w", setting.Part, reading)
	}
	var tally Tally
	if err := json.Unmarshal([]byte(last), &tally); err != nil {
		return Tally{}, fmt.Errorf("read tally of slice %d: %w", setting.Part, errors.Join(err, failure))
	}
	// Dead letters make a slice fail and are counted in its tally, which the caller judges.
	if failure != nil && tally.DeadLetters == 0 {
		return Tally{}, fmt.Errorf("run slice %d: %w", setting.Part, failure)
	}
	return tally, nil
}

// lastLine returns the last line of r and passes lines of progress on.
func lastLine(r io.Reader, lines *lines) (string, error) {
	last := ""
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		last = scanner.Text()
		if strings.HasPrefix(last, "progress ") {
			if err := lines.write(last); err != nil {
				return "", err
			}
		}
	}
	return last, scanner.Err()
}

// arguments returns the flags that make this setting.
func (s *Setting) arguments() []string {
	number := strconv.Itoa
	arguments := []string{
		"--endpoint", s.Endpoint, "--bucket", s.Bucket, "--access-key", s.Keys.Access, "--secret-key", s.Keys.Secret,
		"--seed", strconv.FormatUint(s.Seed, 10), "--read", s.Read, "--sizes", s.Sizes, "--fetch", s.Fetch,
		"--inflight", number(s.InFlight), "--pool", number(s.Pool), "--buffer", number(s.Buffer),
		"--throttle", s.Throttle.String(), "--schema", s.Schema, "--writers", number(s.Writers),
		"--passes", number(s.Passes), "--limit", number(s.Limit), "--readahead", strconv.FormatInt(s.ReadAhead, 10),
		"--out", s.Out, "--fault", s.Fault, "--part", number(s.Part), "--parts", number(s.Parts),
	}
	if s.Progress {
		arguments = append(arguments, "--progress")
	}
	return slices.Clip(arguments)
}
