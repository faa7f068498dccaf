//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"
)

// compared hands over to scripts/bench-compare, which measures `assay compare` beside hyperfine.
func compared(ctx context.Context, b *bench) (string, error) {
	text := "| what | with | claims a difference | width of the interval (median) |\n|---|---|---|---|\n"
	for _, part := range b.compare {
		u, err := execute(ctx, false, append([]string{"scripts/bench-compare"}, strings.Fields(part)...)...)
		if err != nil {
			return "", err
		}
		if u.code != 0 {
			return "", fmt.Errorf("bench-compare %s: status %d: %s", part, u.code, u.said)
		}
		text += string(u.out)
	}
	return text, nil
}
