package traps

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// options are arguments of the form name=value.
type options map[string]string

func optionsOf(args []string) options {
	o := options{}
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		o[name] = value
	}
	return o
}

// number is an option, or what stands for it where it is not given.
func (o options) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(o[name]); err == nil {
		return n
	}
	return otherwise
}

func (o options) duration(name string) time.Duration {
	d, _ := time.ParseDuration(o[name]) // 0 where it is not given
	return d
}

// A tally is what readers have done together: how many reads are under way, integrated over time.
type tally struct {
	mu        sync.Mutex
	at        time.Time
	now, peak int
	area      time.Duration // reads under way times how long
	files     int
	waited    time.Duration
}

// move counts a read that begins (1) or ends (-1).
func (t *tally) move(by int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := time.Now()
	t.area += time.Duration(t.now) * at.Sub(t.at)
	t.at, t.now = at, t.now+by
	t.peak = max(t.peak, t.now)
}

func (t *tally) done(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files, t.waited = t.files+1, t.waited+took
}

// readers read files of a share for a while, inflight of them at once, and think between two; a cap
// below inflight is one on reads. crossings is how often each file crosses the link.
func readers(args []string) error {
	url, o := args[0], optionsOf(args[1:])
	n, think, crossings := o.number("inflight", 1), o.duration("think"), o.number("crossings", 1)
	slots := make(chan struct{}, max(min(o.number("cap", n), n), 1))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	start := time.Now()
	t := &tally{at: start}
	end := start.Add(o.duration("for"))
	failed := make(chan error, n)
	for range n {
		go func() {
			for time.Now().Before(end) {
				for range crossings {
					if err := readOne(client, url+"?"+o["tag"], slots, t); err != nil {
						failed <- err
						return
					}
				}
				time.Sleep(think)
			}
			failed <- nil
		}()
	}
	for range n {
		if err := <-failed; err != nil {
			return err
		}
	}
	t.move(0)
	took := time.Since(start)
	return answer(map[string]any{
		"files_per_s": float64(t.files) / float64(crossings) / took.Seconds(), "in_flight_peak": t.peak,
		"in_flight_mean": float64(t.area) / float64(took), "rtt_ms": float64(t.waited) / 1e6 / float64(max(t.files, 1)),
	})
}

// readOne reads a file once there is a slot for it.
func readOne(client *http.Client, url string, slots chan struct{}, t *tally) error {
	slots <- struct{}{}
	defer func() { <-slots }()
	t.move(1)
	defer t.move(-1)
	began := time.Now()
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("read %s: status %d", url, resp.StatusCode)
	}
	t.done(time.Since(began))
	return nil
}

// timed works for a while and says by its own clock how long that took.
func timed(args []string) error {
	o := optionsOf(args)
	tick := o.duration("tick")
	start := time.Now()
	time.Sleep(o.duration("for"))
	began, ended := start.Truncate(tick), time.Now().Truncate(tick)
	return answer(map[string]any{"elapsed": float64(ended.Sub(began)) / float64(o.duration("unit"))})
}
