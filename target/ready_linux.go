package target

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/assaybench/assay"
)

const (
	// A readiness check is tried this often at first and, after a second, this often.
	eagerPause = 2 * time.Millisecond
	readyPause = 20 * time.Millisecond
	// oneTry bounds one readiness check.
	oneTry = 2 * time.Second
)

// A check is one way to see that a service is ready; nil means it is, an error why it is not yet.
type check func(context.Context) error

// check is the readiness check; logs are where the service writes, from the offsets on.
func (r Ready) check(logs []*logFile) (check, error) {
	switch {
	case r.HTTP != "":
		return func(ctx context.Context) error { return answers(ctx, r.HTTP) }, nil
	case r.TCP != "":
		return func(ctx context.Context) error { return accepts(ctx, r.TCP) }, nil
	case r.Log != "":
		line, err := regexp.Compile(r.Log)
		if err != nil {
			return nil, fmt.Errorf("ready log %q: %w", r.Log, err)
		}
		if len(logs) == 0 {
			return nil, fmt.Errorf("ready log %q: the output goes to no file", r.Log)
		}
		return func(context.Context) error { return written(logs, line) }, nil
	case r.Command != nil:
		return func(ctx context.Context) error { return succeeds(ctx, *r.Command) }, nil
	}
	return func(context.Context) error { return nil }, nil
}

// answers reports whether the URL answers with a status from 200 to 299, over a connection of its own.
func answers(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, oneTry)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // a close with unread bytes is a reset
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s: got status %d, want 200 to 299", url, response.StatusCode)
	}
	return nil
}

func accepts(ctx context.Context, address string) error {
	dialer := net.Dialer{Timeout: oneTry}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func succeeds(ctx context.Context, inv Invocation) error {
	exit, err := Execute(ctx, inv)
	if err != nil {
		return err
	}
	if exit.Outcome != assay.OK {
		return fmt.Errorf("%s: got %s, exit %d, want ok", strings.Join(inv.Args, " "), exit.Outcome, exit.Code)
	}
	return nil
}

// A logFile is a file that a service writes to, looked at from an offset on.
type logFile struct {
	file   *os.File
	start  int64 // where the service began to write
	offset int64 // of what was not looked at yet: the start of a line
}

// openLog opens what f writes to for reading; nil if that is no file with contents to read again.
func openLog(f *os.File) (*logFile, error) {
	if f == nil {
		return nil, nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	file, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return nil, err
	}
	return &logFile{file: file, start: info.Size(), offset: info.Size()}, nil
}

func (l *logFile) same(other *logFile) bool {
	a, errA := l.file.Stat()
	b, errB := other.file.Stat()
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// skip leaves out what was written so far.
func (l *logFile) skip() {
	if info, err := l.file.Stat(); err == nil {
		l.start, l.offset = info.Size(), info.Size()
	}
}

// lines are the whole lines written since the last look.
func (l *logFile) lines() [][]byte {
	raw, err := io.ReadAll(io.NewSectionReader(l.file, l.offset, 1<<62))
	end := bytes.LastIndexByte(raw, '\n')
	if err != nil || end < 0 {
		return nil
	}
	l.offset += int64(end) + 1
	return bytes.Split(raw[:end], []byte("\n"))
}

// tail is the end of what was written, at most ten lines.
func (l *logFile) tail() string {
	info, err := l.file.Stat()
	if err != nil {
		return ""
	}
	from := max(l.start, info.Size()-4096)
	raw, _ := io.ReadAll(io.NewSectionReader(l.file, from, 4096))
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

func written(logs []*logFile, line *regexp.Regexp) error {
	for _, l := range logs {
		for _, text := range l.lines() {
			if line.Match(text) {
				return nil
			}
		}
	}
	return fmt.Errorf("no line of the output matches %q", line)
}

// await tries the check until it holds. It gives up when ctx is done, when the service ends, and
// after the patience.
func (c check) await(ctx context.Context, patience time.Duration, ended <-chan struct{}) error {
	if patience == 0 {
		patience = defaultPatience
	}
	began := time.Now()
	for {
		err := c(ctx)
		if err == nil {
			return nil
		}
		waited := time.Since(began)
		if waited >= patience {
			return fmt.Errorf("not ready within %s: %w", patience, err)
		}
		pause := eagerPause
		if waited > time.Second {
			pause = readyPause
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return errEnded
		case <-time.After(pause):
		}
	}
}
