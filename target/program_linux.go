package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lookUp finds the program as execvp(3) does: a name without a slash in the PATH of its own
// environment, any other one from its own directory.
func lookUp(name, dir string, env []string) (string, error) {
	if name == "" {
		return "", errors.New("start command: it has no program")
	}
	if strings.Contains(name, "/") {
		return name, nil // the kernel says what is wrong with it
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	var denied error
	for _, folder := range filepath.SplitList(path) {
		candidate := filepath.Join(folder, name)
		if !filepath.IsAbs(candidate) {
			candidate = "./" + candidate
		}
		info, err := os.Stat(within(dir, candidate))
		switch {
		case err != nil || info.IsDir():
		case info.Mode()&0o111 == 0:
			denied = fmt.Errorf("start %s: %w", candidate, fs.ErrPermission)
		default:
			return candidate, nil
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fmt.Errorf("start %s: %w: it is in no folder of PATH=%s", name, fs.ErrNotExist, path)
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// startErr says why a command could not be started.
func startErr(o order, doing string, errno syscall.Errno) error {
	if doing != "start" {
		return fmt.Errorf("start %s: %s%s: %w", o.Path, doing, o.detail(doing), errno)
	}
	program := within(o.Dir, o.Path)
	switch errno {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES:
		if info, err := os.Stat(o.Dir); o.Dir != "" && (err != nil || !info.IsDir()) {
			return fmt.Errorf("start %s: working directory %s: %w", o.Path, o.Dir, errno)
		}
	}
	switch errno {
	case syscall.ENOENT:
		if named := interpreter(program); named != "" {
			return fmt.Errorf("start %s: %s: %w: %w", program, named, ErrInterpreter, errno)
		}
		if _, err := os.Stat(program); err == nil {
			return fmt.Errorf("start %s: %w: %w", program, ErrInterpreter, errno)
		}
	case syscall.EACCES:
		if info, err := os.Stat(program); err == nil && info.IsDir() {
			return fmt.Errorf("start %s: it is a folder: %w", program, errno)
		}
	case syscall.ENOEXEC:
		return fmt.Errorf("start %s: %w: %w", program, ErrNotExecutable, errno)
	}
	return fmt.Errorf("start %s: %w", program, errno)
}

func (o order) detail(doing string) string {
	switch doing {
	case "pin to cpus":
		return fmt.Sprintf(" %v", o.CPUs)
	case "set nice":
		return fmt.Sprintf(" %d", o.Nice)
	}
	for _, l := range o.Limits {
		if doing == "set limit "+l.Name {
			return fmt.Sprintf("=%d", l.Value)
		}
	}
	return ""
}

// interpreter is what the first line of a script names after #!; empty if it is no script.
func interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 256))
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
