//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// grading measures what judging a large folder takes.
func grading(ctx context.Context, b *bench) (string, error) {
	dir, err := os.MkdirTemp("", "bench-grading-*")
	if err != nil {
		return "", fmt.Errorf("measure grading: %w", err)
	}
	defer os.RemoveAll(dir)
	dir = filepath.Join(dir, "large.results")
	if err := folderVerb([]string{dir}); err != nil {
		return "", err
	}
	info, err := os.Stat(filepath.Join(dir, "trials.jsonl"))
	if err != nil {
		return "", fmt.Errorf("measure grading: %w", err)
	}
	var wall, cpu, rss figures
	for range b.rounds {
		u, err := execute(ctx, false, "assay", "grade", "--quiet", dir)
		if err != nil {
			return "", err
		}
		if u.code != 0 && u.code != 1 && u.code != 3 {
			return "", fmt.Errorf("assay grade: status %d: %s", u.code, u.said)
		}
		wall, cpu, rss = append(wall, u.wall.Seconds()), append(cpu, u.cpu.Seconds()), append(rss, float64(u.rss))
	}
	t := &table{}
	t.add("100,000 trials, 6 hypotheses", "wall, s", "CPU, s", "peak RSS, MB")
	t.add(fmt.Sprintf("assay grade (trials.jsonl: %.0f MB)", float64(info.Size())/1e6), wall.text("%.2f", 1), cpu.text("%.2f", 1), rss.text("%.0f", 1e6))
	holds := newBars()
	holds.judge("under 2 s", wall.text("%.2f s", 1), wall.median() < 2)
	holds.judge("under 500 MB", rss.text("%.0f MB", 1e6), rss.median() < 500e6)
	return t.String() + "\n" + holds.String(), nil
}
