package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/measure"
	"github.com/assaybench/assay/telemetry"
)

// counterPatience bounds one reading of a counter.
const counterPatience = 5 * time.Second

// A counter is where a target says how many requests have arrived: --counter URL#FIELD.
type counter struct {
	page, field string
	client      http.Client
}

// newCounter reads the flag; nil if it is not set. The page is on this machine or on a host that may be
// sent load.
func newCounter(text string, allowed []string) (*counter, error) {
	if text == "" {
		return nil, nil
	}
	page, field, ok := strings.Cut(text, "#")
	u, err := url.Parse(page)
	if !ok || field == "" || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("--counter %q: want URL#FIELD, such as http://127.0.0.1:8080/metrics#requests_total or …/debug/vars#requests", text)
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && !slices.Contains(allowed, host) {
		return nil, fmt.Errorf("--counter %q: host %s is not this machine and not allowed; name it with --allow-host %s", text, host, host)
	}
	return &counter{page: page, field: field}, nil
}

// read is the count at this moment: of a page of metrics in the text format of Prometheus, or of a JSON
// document, whose field is a path.
func (c *counter) read(ctx context.Context) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, counterPatience)
	defer cancel()
	defer c.client.CloseIdleConnections()
	page, err := telemetry.Fetch(ctx, &c.client, c.page)
	if err != nil {
		return 0, fmt.Errorf("read counter: %w", err)
	}
	if trimmed := bytes.TrimSpace(page); len(trimmed) > 0 && strings.ContainsRune("{[", rune(trimmed[0])) {
		v, err := measure.Declared(assay.Source{JSON: c.field}, func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(page)), nil })
		switch {
		case err != nil:
			return 0, fmt.Errorf("read counter %s: %w", c.page, err)
		case v.IsText:
			return 0, fmt.Errorf("read counter %s: %s is %s, want a number", c.page, c.field, v)
		}
		return v.Number, nil
	}
	metrics, err := telemetry.ParseMetrics(page)
	if err != nil {
		return 0, fmt.Errorf("read counter %s: %w", c.page, err)
	}
	n, ok := telemetry.Metric(metrics, c.field)
	if !ok {
		return 0, fmt.Errorf("read counter: %s has no metric %s", c.page, c.field)
	}
	return n, nil
}

// countLoad carries a load out between two readings of the target's counter, if there is one. A counter
// that cannot be read beforehand is a mistake, and nothing is sent; one that cannot be read afterwards
// leaves the load without its check, and void.
func countLoad(c *cobra.Command, l assay.Load, f *loadFlags, tick func(load.Progress)) (load.Account, error) {
	at, err := newCounter(f.counter, f.allowHosts)
	if err != nil {
		return load.Account{}, err
	}
	if at == nil {
		return sendLoad(c, l, f, tick)
	}
	before, err := at.read(c.Context())
	if err != nil {
		return load.Account{}, err
	}
	account, err := sendLoad(c, l, f, tick)
	if err != nil {
		return account, err
	}
	// Also after an interrupt, which ends the command's context.
	if after, err := at.read(context.WithoutCancel(c.Context())); err != nil {
		account.Uncounted(err)
	} else {
		account.Counted(before, after)
	}
	return account, nil
}
