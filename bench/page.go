//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const preamble = `# Benchmarks

Assay beside its peers, all tools of a table measured in turn in one run, and meant as ratios: absolute figures are this
machine's. A figure is the median of the rounds, with the smallest and the greatest in parentheses. What arrived is counted and stamped by
the test servers, on CPU 0; generators have CPU 1; whatever a tool says of itself stands beside it. ` + "`make bench`" + ` measures again and
replaces the tables; a bar that does not hold stays in them.
`

// A page is BENCHMARKS.md: sections by heading.
type page struct{ text map[string]string }

func readPage(path string) (page, error) {
	p := page{text: map[string]string{}}
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return p, fmt.Errorf("read page: %w", err)
	}
	for _, section := range strings.Split(string(b), "\n## ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		p.put(heading, text)
	}
	return p, nil
}

func (p *page) put(heading, text string) { p.text[heading] = strings.TrimSpace(text) }

func (p *page) write(path string) error {
	var b bytes.Buffer
	b.WriteString(preamble)
	for _, part := range parts() {
		if text, ok := p.text[part.heading]; ok {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", part.heading, text)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// conditions say with what and on what a section was measured.
func conditions(command string, took time.Duration, load string) string {
	return fmt.Sprintf("Measured by `%s` on %s in %s; load average before it %s.%s", command, time.Now().UTC().Format("2006-01-02"), took.Round(time.Second), load, privilege())
}

// privilege says how the tools were put before other programs, if they were.
func privilege() string {
	attr, err := unix.SchedGetAttr(0, 0)
	switch {
	case err == nil && attr.Policy == unix.SCHED_FIFO:
		return " Tools and servers had real-time priority (`PREFIX='chrt -f 5'`), because other programs kept both processors busy."
	case err == nil && attr.Nice < 0:
		return fmt.Sprintf(" Tools and servers had nice value %d, because other programs kept both processors busy.", attr.Nice)
	}
	return ""
}

// machineAndTools is the section on what all others were measured with.
func machineAndTools(ctx context.Context, _ *bench) (string, error) {
	t := &table{}
	t.add("what", "which")
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	t.add("processor", fmt.Sprintf("%s, %d cores", field(string(cpu), "model name"), strings.Count(string(cpu), "processor\t")))
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	t.add("kernel", "Linux "+strings.TrimSpace(string(kernel)))
	for _, v := range [][]string{
		{"go", "go", "env", "GOVERSION"}, {"assay", "git", "log", "-1", "--format=commit %h"}, {"hyperfine", "hyperfine", "--version"},
		{"wrk", "sh", "-c", "wrk -v | head -1 | cut -d' ' -f2"}, {"hey", "dpkg-query", "-W", "-f", "${Version}", "hey"}, {"h2load", "h2load", "--version"},
		{"vegeta", "sh", "-c", `go version -m "$(command -v vegeta)" | awk '$1 == "mod" { print $3 }'`}, {"fortio", "fortio", "version"},
	} {
		out, _ := exec.CommandContext(ctx, v[1], v[2:]...).Output() // wrk -v has a status of its own; a tool that is missing fails where it is used
		t.add(v[0], strings.TrimSpace(string(out)))
	}
	return t.String(), nil
}

// field is the value of the first line with that name.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
