package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// tries is how many requests a round trip is told from.
const tries = 21

// Measured is what a path was found to be.
type Measured struct {
	RTT            time.Duration `json:"rtt_ns"` // median over 21 requests of one byte, less the same directly
	IQR            time.Duration `json:"iqr_ns"` // of the 21 through the path
	BytesPerSecond float64       `json:"bytes_per_second"`
}

// Measure finds the round trip and the bandwidth of the path that leads to a far end. through and
// direct are the addresses of the far end with and without the path between.
func Measure(ctx context.Context, through, direct string) (Measured, error) {
	a, err := times(ctx, "http://"+through+"/one")
	if err != nil {
		return Measured{}, err
	}
	b, err := times(ctx, "http://"+direct+"/one")
	if err != nil {
		return Measured{}, err
	}
	first, whole, err := get(ctx, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "http://"+through+"/bulk")
	if err != nil {
		return Measured{}, err
	}
	return Measured{
		RTT: max(a[tries/2]-b[tries/2], 0), IQR: a[3*tries/4] - a[tries/4],
		BytesPerSecond: BulkBytes / max(whole-first, time.Microsecond).Seconds(),
	}, nil
}

// times are those of 21 requests on one connection that is already there, sorted.
func times(ctx context.Context, url string) ([]time.Duration, error) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var list []time.Duration
	for range tries + 1 {
		_, whole, err := get(ctx, client, url)
		if err != nil {
			return nil, err
		}
		list = append(list, whole)
	}
	list = list[1:] // the first one opened the connection
	slices.Sort(list)
	return list, nil
}

// get says when the first byte of an answer was there, and when the last.
func get(ctx context.Context, client *http.Client, url string) (first, whole time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, 0, fmt.Errorf("measure link: %w", err)
	}
	start := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return 0, 0, fmt.Errorf("measure link: %w", err)
	}
	first = time.Since(start)
	_, err = io.Copy(io.Discard, resp.Body)
	whole = time.Since(start)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return 0, 0, fmt.Errorf("measure link: get %s: %w", url, err)
	}
	if resp.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("measure link: get %s: got status %d, want 200", url, resp.StatusCode)
	}
	return first, whole, nil
}
