package machine

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// memory measures the bandwidth of memory by the triad of STREAM (McCalpin 1995): a[i] = b[i] +
// s*c[i] over arrays that no cache holds, counted as 24 bytes an element as STREAM does; that a
// written line is first read is not counted.
func (c Ceilings) memory(context.Context) (bench, error) {
	cpus, err := allowedCPUs()
	if err != nil {
		return bench{}, err
	}
	length := int(c.Memory / 24)
	if length == 0 {
		if length, err = triadLength("/"); err != nil {
			return bench{}, err
		}
	}
	arrays := [3][]float64{make([]float64, length), make([]float64, length), make([]float64, length)}
	for i := range length { // touched once, so that every page is there
		arrays[0][i], arrays[1][i], arrays[2][i] = 0, 1, 2
	}
	var list []ceiling
	for _, threads := range []int{len(cpus), 1} {
		name := "bandwidth(memory)"
		if threads == 1 {
			name = "bandwidth(memory_one_core)"
		}
		list = append(list, ceiling{name, "B/s", fmt.Sprintf("triad a = b + s*c over 3 x %d MiB, %d threads, scalar code", length*8>>20, threads),
			func(ctx context.Context) (float64, error) { return triadRun(ctx, arrays, threads, c.For) }})
	}
	return bench{ceilings: list}, nil
}

// triadLength is the elements of each array: together four times the last-level cache and at least
// 192 MiB, but no more than a quarter of what is free.
func triadLength(r root) (int, error) {
	bytes := int64(192 << 20)
	paths, _ := filepath.Glob(filepath.Join(string(r), "sys/devices/system/cpu/cpu0/cache/index*/size"))
	for _, p := range paths {
		text, _ := root("").text(p)
		if kb, err := strconv.ParseInt(strings.TrimSuffix(text, "K"), 10, 64); err == nil {
			bytes = max(bytes, 4*kb<<10)
		}
	}
	if free, ok := meminfoKB(r, "MemAvailable"); ok {
		bytes = min(bytes, free<<10/4)
	}
	if bytes < 24<<20 {
		return 0, fmt.Errorf("bandwidth(memory): %w: want 96 MiB of free memory", errUnavailable)
	}
	return int(bytes / 24), nil
}

// triadRun passes over the arrays for about d, each thread over its own part, and gives bytes per second.
func triadRun(ctx context.Context, arrays [3][]float64, threads int, d time.Duration) (float64, error) {
	n := len(arrays[0])
	done := make(chan struct{})
	passes := 0
	start := time.Now()
	for time.Since(start) < d || passes == 0 {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		for t := range threads {
			from, to := n*t/threads, n*(t+1)/threads
			go func() {
				triad(arrays[0][from:to], arrays[1][from:to], arrays[2][from:to], 3)
				done <- struct{}{}
			}()
		}
		for range threads {
			<-done
		}
		passes++
	}
	return float64(passes) * float64(n) * 24 / time.Since(start).Seconds(), nil
}

// triad is unrolled by four, with the bounds known, so that the loop waits for memory only.
func triad(a, b, c []float64, s float64) {
	b, c = b[:len(a)], c[:len(a)]
	for len(a) >= 4 && len(b) >= 4 && len(c) >= 4 {
		a[0] = b[0] + s*c[0]
		a[1] = b[1] + s*c[1]
		a[2] = b[2] + s*c[2]
		a[3] = b[3] + s*c[3]
		a, b, c = a[4:], b[4:], c[4:]
	}
	for i := range a {
		a[i] = b[i] + s*c[i]
	}
}
