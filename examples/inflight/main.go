// Command reader hashes every file of a source tree with a number of files in flight and prints, as
// one line of JSON, how many files a second it got through and one digest of all of them.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	mode := flag.String("mode", "readfile", "how a file is read: readfile (whole) or stream (in pieces)")
	inflight := flag.Int("inflight", 1, "`files` read at the same time")
	root := flag.String("root", "", "`folder` to hash (default: the source tree of the Go standard library)")
	flag.Parse()
	if err := run(*mode, *inflight, *root); err != nil {
		fmt.Fprintln(os.Stderr, "reader:", err)
		os.Exit(1)
	}
}

func run(mode string, inflight int, root string) error {
	read, ok := map[string]func(string) ([sha256.Size]byte, error){"readfile": whole, "stream": stream}[mode]
	if !ok {
		return fmt.Errorf("-mode %q: want readfile or stream", mode)
	}
	paths, err := list(root)
	if err != nil {
		return err
	}
	sums := make([][sha256.Size]byte, len(paths))
	var next, now, peak atomic.Int64
	errs := make([]error, inflight)
	start := time.Now()
	var wg sync.WaitGroup
	for w := range inflight {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(paths) {
					return
				}
				raise(&peak, now.Add(1))
				sums[i], errs[w] = read(paths[i])
				now.Add(-1)
				if errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	all := sha256.New()
	for _, sum := range sums {
		all.Write(sum[:])
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"files": len(paths), "files_per_s": float64(len(paths)) / took.Seconds(),
		"inflight_peak": peak.Load(), "sha256": hex.EncodeToString(all.Sum(nil)),
	})
}

// raise lifts peak to at least n.
func raise(peak *atomic.Int64, n int64) {
	for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
	}
}

// list names the regular files below root, in lexical order.
func list(root string) ([]string, error) {
	if root == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return nil, fmt.Errorf("go env GOROOT: %w", err)
		}
		root = filepath.Join(strings.TrimSpace(string(out)), "src")
	}
	var paths []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}

// whole reads the file in one piece.
func whole(path string) ([sha256.Size]byte, error) {
	b, err := os.ReadFile(path)
	return sha256.Sum256(b), err
}

// stream reads the file in pieces of 32 KiB.
func stream(path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(struct{ io.Writer }{h}, struct{ io.Reader }{f}); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
