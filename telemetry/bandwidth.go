package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/assaybench/assay"
)

// leastBulk is how much an answer must hold, in bytes, for its length over its time to be a bandwidth.
const leastBulk = 64 << 10

// Bandwidth is how many bytes a second the answer to one request of an http probe came with, counted
// from its first byte to its last, so that the round trip is no part of it. The whole answer is read.
// An answer of less than 64 KiB is an error: it tells of no bandwidth.
func Bandwidth(ctx context.Context, p assay.Probe) (float64, error) {
	if p.HTTP == "" {
		return 0, fmt.Errorf("read bandwidth of probe %q: want one declared with http", p.Name)
	}
	timeout := p.Timeout
	if timeout == 0 {
		timeout = probeTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.HTTP, nil)
	if err != nil {
		return 0, fmt.Errorf("read bandwidth of probe %q: %w", p.Name, err)
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("read bandwidth of probe %q: %w", p.Name, err)
	}
	first := time.Now()
	n, err := io.Copy(io.Discard, resp.Body)
	took := time.Since(first)
	err = errors.Join(err, resp.Body.Close())
	switch {
	case err != nil:
		return 0, fmt.Errorf("read bandwidth of probe %q: %w", p.Name, err)
	case resp.StatusCode >= 400:
		return 0, fmt.Errorf("read bandwidth of probe %q: get %s: status %d", p.Name, p.HTTP, resp.StatusCode)
	case n < leastBulk:
		return 0, fmt.Errorf("read bandwidth of probe %q: get %s: %d bytes, want at least %d", p.Name, p.HTTP, n, leastBulk)
	}
	return float64(n) / took.Seconds(), nil
}
