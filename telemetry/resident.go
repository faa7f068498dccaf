package telemetry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Files are the regular files that a pattern names: a file, a glob, or a folder with all below it.
// It is an error when there are none, since nothing is neither warm nor cold.
func Files(pattern string) ([]string, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("find files %q: %w", pattern, err)
	}
	var files []string
	for _, p := range paths {
		err := filepath.WalkDir(p, func(path string, entry os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if stat, err := os.Stat(path); err == nil && stat.Mode().IsRegular() {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("find files %q: %w", pattern, err)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("find files %q: none there", pattern)
	}
	return files, nil
}

// A Residency is how much of some files is in the page cache.
type Residency struct {
	Files    int
	Pages    int64
	Resident int64
	// Worst is the file of which most pages are resident.
	Worst      string
	WorstPages int64
}

// Ratio is the share of the pages that is resident, 0 to 1; 0 for empty files.
func (c Residency) Ratio() float64 { return share(uint64(c.Resident), uint64(c.Pages)) }

// Resident is the share of the pages of all files of a pattern that is in the page cache, 0 to 1.
func Resident(pattern string) (float64, error) {
	files, err := Files(pattern)
	if err != nil {
		return 0, err
	}
	c, err := Residence(files)
	return c.Ratio(), err
}

// Residence asks mincore(2) about files without reading them. The kernel tells only the owner of a
// file, or one who may write it (since 5.2: otherwise all pages look resident, against spying by
// way of the cache); for others the error wraps [ErrAbsent].
func Residence(files []string) (Residency, error) {
	c := Residency{Files: len(files)}
	for _, path := range files {
		pages, resident, err := mincore(path)
		if err != nil {
			return c, fmt.Errorf("ask residency of %s: %w", path, err)
		}
		c.Pages += pages
		c.Resident += resident
		if resident > c.WorstPages {
			c.Worst, c.WorstPages = path, resident
		}
	}
	return c, nil
}

// mincoreWindow is how much of a file is mapped at once: a file of terabytes needs no vector of
// gigabytes.
const mincoreWindow = 1 << 30

func mincore(path string) (pages, resident int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	if !maySeeCache(path, stat) {
		return 0, 0, fmt.Errorf("%w: the kernel tells residency only to those who own or may write the file", ErrAbsent)
	}
	page := int64(os.Getpagesize())
	for at := int64(0); at < stat.Size(); at += mincoreWindow {
		length := min(stat.Size()-at, mincoreWindow)
		in, err := mincoreRange(int(f.Fd()), at, int(length), page)
		if err != nil {
			return 0, 0, err
		}
		pages += (length + page - 1) / page
		resident += in
	}
	return pages, resident, nil
}

// maySeeCache reports whether mincore tells the truth about a file to this process.
func maySeeCache(path string, stat os.FileInfo) bool {
	if unix.Geteuid() == 0 {
		return true
	}
	if s, ok := stat.Sys().(*syscall.Stat_t); ok && int(s.Uid) == unix.Geteuid() {
		return true
	}
	return unix.Access(path, unix.W_OK) == nil
}

// An Eviction is what dropping files from the page cache left behind.
type Eviction struct {
	Before, After Residency
}

// Text names what stayed and why that may be; empty when nothing did.
func (e Eviction) Text() string {
	if e.After.Resident == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d pages (%.1f%%) stayed in the page cache, most of them of %s: mapped, being written, or locked by another process, or the file system keeps its own cache (tmpfs, overlay): end those processes or use a copy",
		e.After.Resident, e.After.Pages, 100*e.After.Ratio(), e.After.Worst)
}

// Evict drops files from the page cache: written back first (a dirty page cannot be dropped), then
// fadvise(DONTNEED). It needs no privileges. What stayed resident is counted, never assumed.
func Evict(files []string) (Eviction, error) {
	var e Eviction
	var err error
	if e.Before, err = Residence(files); err != nil {
		return e, fmt.Errorf("evict: %w", err)
	}
	e.After = e.Before
	// Pages still under way to another core's list are missed the first time.
	for try := 0; try < 3 && (try == 0 || e.After.Resident > 0); try++ {
		for _, path := range files {
			if err := evictFile(path); err != nil {
				return e, fmt.Errorf("evict %s: %w", path, err)
			}
		}
		if e.After, err = Residence(files); err != nil {
			return e, fmt.Errorf("evict: %w", err)
		}
	}
	return e, nil
}

func evictFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EROFS) {
		return err
	}
	return dropCached(int(f.Fd()), 0, 0)
}

// EvictPatterns evicts the files of all patterns (file, glob or folder).
func EvictPatterns(patterns []string) (Eviction, error) {
	var files []string
	for _, p := range patterns {
		some, err := Files(p)
		if err != nil {
			return Eviction{}, fmt.Errorf("evict %s: %w", strings.Join(patterns, " "), err)
		}
		files = append(files, some...)
	}
	return Evict(files)
}
