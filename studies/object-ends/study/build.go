package study

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/assaybench/assay/studies/object-ends/store"
)

// build makes the programs: assay from the checkout above, this one, and the store, whose first build
// takes minutes and stays in the user's cache.
func build(ctx context.Context, folder string, progress io.Writer) error {
	work, err := filepath.Abs(filepath.Join(folder, workFolder))
	if err != nil {
		return fmt.Errorf("build programs: %w", err)
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return fmt.Errorf("build programs: %w", err)
	}
	for _, p := range []struct{ in, name, what string }{
		{filepath.Join(folder, "..", ".."), "assay", "./cmd/assay"},
		{filepath.Join(folder, ".."), "object-ends", "./object-ends"},
	} {
		fmt.Fprintln(progress, "build", p.name)
		c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", filepath.Join(work, p.name), p.what)
		c.Dir, c.Stdout, c.Stderr = p.in, progress, progress
		if err := c.Run(); err != nil {
			return fmt.Errorf("build %s: %w", p.name, err)
		}
	}
	if _, err := store.GatewayPath(); err != nil {
		fmt.Fprintln(progress, "build versitygw: some minutes, once")
	}
	if _, err := store.InstallGateway(ctx, progress); err != nil {
		return fmt.Errorf("build store: %w", err)
	}
	return nil
}
