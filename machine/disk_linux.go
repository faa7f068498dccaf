package machine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Blocks of the disk measurements, in bytes, and how many operations are under way at once where a
// disk is asked for as much as it gives.
const (
	sequentialBlock = 1 << 20
	randomBlock     = 4 << 10
	queueDepth      = 32
)

// A diskFile is an open file past the page cache.
type diskFile struct {
	*os.File
	size int64 // two regions, one to read and one to write
}

// A region is a part of a file that is only read or only written, so that no read finds in a cache
// below what was written a moment ago.
type region struct {
	diskFile
	from, size int64
	next       int64 // where the next sequential block goes, from the region's beginning
	places     *rand.Rand
}

func (f diskFile) region(from int64) *region {
	return &region{f, from, f.size / 2, 0, rand.New(rand.NewPCG(0, uint64(from)))}
}

// block is the place of the next block of a pass over the region.
func (r *region) block() int64 {
	at := r.from + r.next
	r.next = (r.next + sequentialBlock) % r.size
	return at
}

// place is that of a random block.
func (r *region) place() int64 { return r.from + r.places.Int64N(r.size/randomBlock)*randomBlock }

// disk measures the disk under Dir past the page cache (O_DIRECT): sequential writes and reads of
// 1 MiB, random ones of 4 KiB one at a time and 32 at once, and a write that is made durable, all from
// small pages, as most programs have them; and what the disk gives at most, from huge ones. What a
// host or a controller caches below is part of the figure.
func (c Ceilings) disk(ctx context.Context) (bench, error) {
	if c.Dir == "" {
		return bench{}, nil
	}
	f, err := c.openDisk()
	if err != nil {
		return bench{}, err
	}
	// Written once in full before anything is read: a hole costs nothing to read.
	if err := f.fill(ctx); err != nil {
		return bench{end: f.Close}, err
	}
	read, write := f.region(0), f.region(f.size/2)
	where := "in " + c.Dir + ", O_DIRECT"
	return bench{[]ceiling{
		{"bandwidth(disk_write)", "B/s", "sequential blocks of 1 MiB " + where, func(ctx context.Context) (float64, error) { return write.sequential(ctx, c.For, f.WriteAt) }},
		{"bandwidth(disk_read)", "B/s", "sequential blocks of 1 MiB " + where, func(ctx context.Context) (float64, error) { return read.sequential(ctx, c.For, f.ReadAt) }},
		{"bandwidth(disk_read_deep)", "B/s", "sequential blocks of 1 MiB, 32 at once, in huge pages where the kernel has them, " + where, func(ctx context.Context) (float64, error) { return read.streamed(ctx, c.For) }},
		{"rtt(disk_read)", "ns", "mean of random blocks of 4 KiB, one at a time " + where, func(ctx context.Context) (float64, error) { return read.random(ctx, c.For, f.ReadAt) }},
		{"rtt(disk_write)", "ns", "mean of random blocks of 4 KiB, one at a time " + where, func(ctx context.Context) (float64, error) { return write.random(ctx, c.For, f.WriteAt) }},
		{"rate(disk_read)", "/s", "random blocks of 4 KiB, 32 at once " + where, func(ctx context.Context) (float64, error) { return read.queued(ctx, c.For, ioRead) }},
		{"rate(disk_write)", "/s", "random blocks of 4 KiB, 32 at once " + where, func(ctx context.Context) (float64, error) { return write.queued(ctx, c.For, ioWrite) }},
		{"rtt(disk_sync)", "ns", "mean of a random block of 4 KiB written and made durable by fdatasync " + where, func(ctx context.Context) (float64, error) { return write.random(ctx, c.For, f.durable) }},
	}, f.Close}, nil
}

// openDisk makes the file and takes its name away at once, so that it is gone however this process
// ends.
func (c Ceilings) openDisk() (diskFile, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(c.Dir, &fs); err != nil {
		return diskFile{}, fmt.Errorf("disk: ask free space of %s: %w", c.Dir, err)
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < 2*c.Size {
		return diskFile{}, fmt.Errorf("disk: %w: %s has %d MiB free, want %d", errUnavailable, c.Dir, free>>20, 2*c.Size>>20)
	}
	name := filepath.Join(c.Dir, fmt.Sprintf(".assay-disk-%d", os.Getpid()))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_DIRECT, 0o600)
	if errors.Is(err, unix.EINVAL) {
		// The file was made before the flag was refused.
		return diskFile{}, errors.Join(fmt.Errorf("disk: %w: the file system of %s has no O_DIRECT", errUnavailable, c.Dir), os.Remove(name))
	}
	if err != nil {
		return diskFile{}, fmt.Errorf("disk: %w", err)
	}
	if err := os.Remove(name); err != nil {
		return diskFile{}, errors.Join(fmt.Errorf("disk: %w", err), f.Close())
	}
	return diskFile{f, max(c.Size/sequentialBlock/2, 1) * 2 * sequentialBlock}, nil
}

func (f diskFile) fill(ctx context.Context) error {
	b, free, err := noise(sequentialBlock, false)
	if err != nil {
		return err
	}
	defer free()
	for at := int64(0); at < f.size; at += sequentialBlock {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := f.WriteAt(b, at); err != nil {
			if errors.Is(err, unix.EINVAL) {
				return fmt.Errorf("disk: %w: %w", errUnavailable, err)
			}
			return fmt.Errorf("disk: %w", err)
		}
	}
	return f.Sync()
}

// noise maps n bytes for O_DIRECT, of which no disk can compress a block, and says how they are given
// back. Which pages they lie on is chosen, not left to the heap: a device takes a huge page in one
// piece and 1 MiB of small ones in 256, for which some give half the bandwidth.
func noise(n int, huge bool) (b []byte, free func(), err error) {
	const hugePage = 2 << 20
	all, err := unix.Mmap(-1, 0, n+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, nil, fmt.Errorf("disk: map %d bytes: %w", n, err)
	}
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		advice = unix.MADV_HUGEPAGE
	}
	// Note: a kernel without huge pages refuses either, and then there are none.
	_ = unix.Madvise(all, advice)
	off := int(-uintptr(unsafe.Pointer(&all[0])) & (hugePage - 1))
	b = all[off : off+n : off+n]
	var seed [32]byte
	rand.NewChaCha8(seed).Read(b)
	return b, func() { _ = unix.Munmap(all) }, nil
}

// sequential moves blocks one after the other for d, at most once over the region, and gives bytes a second.
func (r *region) sequential(ctx context.Context, d time.Duration, move func([]byte, int64) (int, error)) (float64, error) {
	b, free, err := noise(sequentialBlock, false)
	if err != nil {
		return 0, err
	}
	defer free()
	var bytes int64
	start := time.Now()
	for time.Since(start) < d && bytes < r.size || bytes == 0 {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if _, err := move(b, r.block()); err != nil {
			return 0, fmt.Errorf("disk: %w", err)
		}
		bytes += sequentialBlock
	}
	return float64(bytes) / time.Since(start).Seconds(), nil
}

// random moves blocks at random places for d, one at a time, and gives the mean time of one in
// nanoseconds.
func (r *region) random(ctx context.Context, d time.Duration, move func([]byte, int64) (int, error)) (float64, error) {
	b, free, err := noise(randomBlock, false)
	if err != nil {
		return 0, err
	}
	defer free()
	done := 0
	start := time.Now()
	for ; time.Since(start) < d || done == 0; done++ {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if _, err := move(b, r.place()); err != nil {
			return 0, fmt.Errorf("disk: %w", err)
		}
	}
	return float64(time.Since(start)) / float64(done), nil
}

// durable writes a block and waits until it would survive a power cut.
func (f diskFile) durable(b []byte, at int64) (int, error) {
	n, err := f.WriteAt(b, at)
	if err != nil {
		return n, err
	}
	return n, unix.Fdatasync(int(f.Fd()))
}
