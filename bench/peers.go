//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// A want is the load that a generator is asked for: a closed loop of clients, or an open one at a rate.
type want struct {
	clients int
	rate    int // per second; 0: closed
	length  time.Duration
	timeout time.Duration
	flags   []string // of assay's own
}

// A peer is a load generator. command is how it is told what is wanted; nil where it cannot do that.
type peer struct {
	name    string
	command func(url string, w want) []string
	heard   func(u use) (account, error)
}

// An account is what a generator claims: how many requests it sent, and response times by name of
// the quantile.
type account struct {
	sent  int64
	times map[string]time.Duration
}

func assayPeer() peer {
	return peer{"assay load", func(url string, w want) []string {
		args := []string{"assay", "load", url, "--json", "--for", w.length.String()}
		if w.rate > 0 {
			args = append(args, "--rate", fmt.Sprintf("%d/s", w.rate))
		} else {
			args = append(args, "--clients", fmt.Sprint(w.clients))
		}
		if w.timeout > 0 {
			args = append(args, "--timeout", w.timeout.String())
		}
		return append(args, w.flags...)
	}, heardAssay}
}

func wrkPeer() peer {
	return peer{"wrk", func(url string, w want) []string {
		return []string{"wrk", "-t1", fmt.Sprintf("-c%d", w.clients), fmt.Sprintf("-d%.0fs", w.length.Seconds()), "--timeout", "30s", "--latency", url}
	}, func(u use) (account, error) {
		return heardLines(u, regexp.MustCompile(`(?m)^\s+([\d.]+)%\s+([\d.]+)(us|ms|s)`), regexp.MustCompile(`(\d+) requests in`))
	}}
}

func heyPeer() peer {
	return peer{"hey", func(url string, w want) []string {
		args := []string{"hey", "-c", fmt.Sprint(w.clients), "-z", w.length.String(), "-t", "30"}
		if w.rate > 0 {
			args = append(args, "-q", fmt.Sprint(float64(w.rate)/float64(w.clients)))
		}
		return append(args, url)
	}, func(u use) (account, error) {
		return heardLines(u, regexp.MustCompile(`(?m)^\s+([\d.]+)%+ in ([\d.]+) sec(s)`), regexp.MustCompile(`(?m)\[200\]\s+(\d+) responses`))
	}}
}

func h2loadPeer() peer {
	return peer{"h2load", func(url string, w want) []string {
		return []string{"h2load", "--h1", "-t1", fmt.Sprintf("-c%d", w.clients), "-D", fmt.Sprint(w.length.Seconds()), url}
	}, nil}
}

func vegetaPeer() peer {
	return peer{"vegeta", func(url string, w want) []string {
		attack := fmt.Sprintf("vegeta attack -duration=%s -timeout=30s", w.length)
		if w.rate > 0 {
			attack += fmt.Sprintf(" -rate=%d/1s", w.rate)
		} else {
			attack += fmt.Sprintf(" -rate=0 -workers=%d -max-workers=%d -connections=%d", w.clients, w.clients, w.clients)
		}
		after := "vegeta report -type=json"
		if w.rate == 0 {
			after = "cat >/dev/null" // only the attack is to be charged for its processor time
		}
		return []string{"sh", "-c", "echo GET " + url + " | " + attack + " | " + after}
	}, heardVegeta}
}

func fortioPeer() peer {
	return peer{"fortio", func(url string, w want) []string {
		return []string{"fortio", "load", "-quiet", "-c", fmt.Sprint(w.clients), "-qps", fmt.Sprint(w.rate), "-uniform", "-timeout", "30s",
			"-t", w.length.String(), "-r", "0.0001", "-p", "50,90,95,99,99.9", "-json", "-", url}
	}, heardFortio}
}

// heardLines reads quantiles and a count out of text.
func heardLines(u use, times, count *regexp.Regexp) (account, error) {
	a := account{times: map[string]time.Duration{}}
	for _, m := range times.FindAllStringSubmatch(string(u.out), -1) {
		q, _ := strconv.ParseFloat(m[1], 64)
		d, err := time.ParseDuration(m[2] + m[3])
		if err != nil {
			return a, fmt.Errorf("read quantile: %w", err)
		}
		a.times[fmt.Sprintf("p%g", q)] = d
	}
	for _, m := range count.FindAllStringSubmatch(string(u.out), -1) {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return a, fmt.Errorf("read count: %w", err)
		}
		a.sent += n
	}
	return a, nil
}

func heardAssay(u use) (account, error) {
	load, err := assayAccount(u)
	a := account{sent: load.Sent, times: map[string]time.Duration{}}
	for name, ns := range map[string]*int64{"p50": load.Response.P50, "p90": load.Response.P90, "p95": load.Response.P95, "p99": load.Response.P99, "p99.9": load.Response.P999} {
		if ns != nil {
			a.times[name] = time.Duration(*ns)
		}
	}
	return a, err
}

func heardVegeta(u use) (account, error) {
	var said struct {
		Requests  int64            `json:"requests"`
		Latencies map[string]int64 `json:"latencies"`
	}
	if err := json.Unmarshal(u.out, &said); err != nil {
		return account{}, fmt.Errorf("read vegeta's report: %w", err)
	}
	a := account{sent: said.Requests, times: map[string]time.Duration{}}
	for name, key := range map[string]string{"p50": "50th", "p90": "90th", "p95": "95th", "p99": "99th"} {
		a.times[name] = time.Duration(said.Latencies[key])
	}
	return a, nil
}

func heardFortio(u use) (account, error) {
	var said struct {
		DurationHistogram struct {
			Count       int64
			Percentiles []struct{ Percentile, Value float64 }
		}
	}
	if err := json.Unmarshal(u.out, &said); err != nil {
		return account{}, fmt.Errorf("read fortio's report: %w", err)
	}
	a := account{sent: said.DurationHistogram.Count, times: map[string]time.Duration{}}
	for _, p := range said.DurationHistogram.Percentiles {
		a.times[fmt.Sprintf("p%g", p.Percentile)] = time.Duration(p.Value * 1e9)
	}
	return a, nil
}
