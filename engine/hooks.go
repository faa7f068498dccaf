package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/target"
	"github.com/assaybench/assay/telemetry"
)

// hooks executes the commands of a hook one after the other. Their output goes to a file of the
// trial's folder, or to nowhere when dir is empty. The first that fails ends the row.
func (r *Run) hooks(ctx context.Context, commands []assay.Command, values map[string]string, dir, name string) error {
	for i := range commands {
		if err := r.hook(ctx, &commands[i], values, dir, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (r *Run) hook(ctx context.Context, c *assay.Command, values map[string]string, dir, name string) error {
	if len(c.Evict) > 0 {
		e, err := telemetry.EvictPatterns(c.Evict)
		if err == nil && e.Text() != "" {
			err = errors.New(e.Text())
		}
		return err
	}
	inv, err := r.invocation(c, values)
	if err != nil {
		return err
	}
	var out *os.File
	if dir == "" {
		out, err = os.CreateTemp("", "assay-"+name)
		if err == nil {
			defer os.Remove(out.Name())
		}
	} else {
		out, err = os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	}
	if err != nil {
		return err
	}
	defer out.Close()
	inv.Stdout, inv.Stderr = out, out
	exit, err := target.Execute(ctx, inv)
	if err != nil {
		return err
	}
	if exit.Outcome == assay.Interrupted {
		return context.Cause(ctx)
	}
	if exit.Outcome != assay.OK {
		return fmt.Errorf("%q: %s, exit status %d%s", inv.Args, exit.Outcome, exit.Code, lastLine(out))
	}
	return nil
}

// lastLine is the last line of a hook's output, for its error.
func lastLine(f *os.File) string {
	const most = 4096
	size, err := f.Seek(0, 2)
	if err != nil || size == 0 {
		return ""
	}
	b := make([]byte, min(size, most))
	if _, err := f.ReadAt(b, size-int64(len(b))); err != nil {
		return ""
	}
	b = bytes.TrimSpace(b)
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		b = b[i+1:]
	}
	return ": " + string(b)
}
