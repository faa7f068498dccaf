package traps

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// SubjectVariable holds, in the environment of a process that a case starts, what it is to be: a name
// and its arguments.
const SubjectVariable = "TRAPS_SUBJECT"

// Subject is the program that a trial executes or loads, if the environment says that this process is
// one; else it is nothing and ok is false. A test binary calls it first.
func Subject() (exit int, ok bool) {
	words := strings.Fields(os.Getenv(SubjectVariable))
	if len(words) == 0 {
		return 0, false
	}
	subjects := map[string]func(args []string) error{
		"burn": burn, "threads": threads, "join": join, "read": readFile, "pool": pool, "leaky": leaky, "pull": pull,
		"says": says, "server": server, "master": master, "worker": worker, "rest": rest, "ports": ports, "cache": cache,
		"readers": readers, "bound": bound, "neighbour": neighbour, "timed": timed,
	}
	do := subjects[words[0]]
	if do == nil {
		fmt.Fprintln(os.Stderr, "no subject", words[0])
		return 2, true
	}
	if err := do(words[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// durations are arguments as durations.
func durations(args []string) ([]time.Duration, error) {
	var list []time.Duration
	for _, a := range args {
		d, err := time.ParseDuration(a)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// burn works and waits by turns, so long each.
func burn(args []string) error {
	turns, err := durations(args)
	if err != nil {
		return err
	}
	for i, d := range turns {
		if i%2 == 1 {
			time.Sleep(d)
			continue
		}
		spin(d)
	}
	return answer(map[string]any{"rate": 1000})
}

// spin keeps a core busy.
func spin(d time.Duration) {
	x := uint64(1)
	for until := time.Now().Add(d); time.Now().Before(until); {
		for range 10000 {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	runtime.KeepAlive(x) // so that no compiler leaves it out
}

func answer(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }

// threads keeps several threads busy: N for D.
func threads(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { spin(d) })
	}
	wg.Wait()
	return nil
}

// join puts this process into a control group, and is then the subject or the program that follows.
func join(args []string) error {
	if err := os.WriteFile(filepath.Join(args[0], "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
		return err
	}
	switch args[1] {
	case "burn":
		return burn(args[2:])
	case "cache":
		return cache(args[2:])
	}
	c := exec.Command(args[1], args[2:]...)
	c.Env = os.Environ()
	for i, kv := range c.Env {
		if strings.HasPrefix(kv, SubjectVariable+"=") {
			c.Env[i] = SubjectVariable + "="
		}
	}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	err := c.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		os.Exit(ended.ExitCode())
	}
	return err
}

// readFile reads a file and says how fast; with a rate in MB/s it takes its time, and with again=N it
// reads it so often once more.
func readFile(args []string) error {
	var pace float64
	again := 0
	if len(args) > 1 {
		pace, _ = strconv.ParseFloat(args[1], 64)
		again = optionsOf(args[1:]).number("again", 0)
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	start, n := time.Now(), 0
	b := make([]byte, 1<<20)
	for {
		m, err := f.Read(b)
		n += m
		if err == io.EOF && again > 0 {
			again--
			if _, err = f.Seek(0, io.SeekStart); err == nil {
				continue
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if pace > 0 {
			time.Sleep(time.Duration(float64(n)/(pace*1e6)*1e9) - time.Since(start))
		}
	}
	return answer(map[string]any{"speed": float64(n) / 1e6 / time.Since(start).Seconds()})
}

// pool wants N operations under way and has a pool of P.
func pool(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	width, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	slots := make(chan struct{}, width)
	var wg sync.WaitGroup
	var now, peak atomic.Int64
	start := time.Now()
	for range n {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for at := now.Add(1); ; {
				if p := peak.Load(); p >= at || peak.CompareAndSwap(p, at) {
					break
				}
			}
			time.Sleep(30 * time.Millisecond)
			now.Add(-1)
		})
	}
	wg.Wait()
	return answer(map[string]any{"in_flight_peak": peak.Load(), "rate": float64(n) / time.Since(start).Seconds()})
}

// leaky answers lines on a port and never closes a connection that its client has closed; from so many
// on it answers nobody any more.
func leaky(args []string) error {
	most, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	if err != nil {
		return err
	}
	var kept []net.Conn
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		if most > 0 {
			kept = append(kept, c)
		}
		if most > 0 && len(kept) > most {
			continue
		}
		go func() {
			if _, err := bufio.NewReader(c).ReadString('\n'); err == nil {
				io.WriteString(c, "ok\n")
			}
			if most == 0 {
				c.Close()
			}
		}()
	}
}

// pull asks a port N times over connections of its own.
func pull(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for i := range n {
		c, err := net.Dial("tcp", "127.0.0.1:"+args[0])
		if err != nil {
			return err
		}
		io.WriteString(c, "get\n")
		if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
			return err
		}
		c.Close()
		fmt.Println(i)
	}
	return nil
}

// says prints its arguments as JSON: name=value.
func says(args []string) error {
	m := map[string]any{}
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		if x, err := strconv.ParseFloat(value, 64); err == nil {
			m[name] = x
		} else {
			m[name] = value
		}
	}
	return answer(m)
}

// server serves HTTP on a port: each request takes so long, one at a time where serial is said; more
// open connections than limit are answered by 503; after die it crashes.
func server(args []string) error {
	port, options := args[0], map[string]string{}
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a, "=")
		options[name] = value
	}
	service, _ := time.ParseDuration(options["service"])
	limit, _ := strconv.ParseInt(options["limit"], 10, 64)
	var open atomic.Int64
	var one sync.Mutex
	mux := http.NewServeMux()
	mux.HandleFunc("/livez", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if limit > 0 && open.Load() > limit {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if options["serial"] != "" {
			one.Lock()
			defer one.Unlock()
		}
		time.Sleep(service)
	})
	s := &http.Server{Addr: "127.0.0.1:" + port, Handler: mux, ConnState: func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}}
	if d, err := time.ParseDuration(options["die"]); err == nil {
		time.AfterFunc(d, func() { os.Exit(3) })
	}
	return s.ListenAndServe()
}

// master keeps K workers on a port; with die the first of them ends after that time.
func master(args []string) error {
	k, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	if err != nil {
		return err
	}
	go http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for i := range k {
		wg.Go(func() {
			for life := 0; ; life++ {
				c := exec.Command(exe, "worker")
				lasts := "1h"
				if i == 0 && life == 0 && len(args) > 2 {
					lasts = args[2]
				}
				c.Env = append(os.Environ(), SubjectVariable+"=worker "+lasts)
				c.Stdout = os.Stdout
				c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
				c.Run()
			}
		})
	}
	wg.Wait()
	return nil
}

// worker announces itself and lasts.
func worker(args []string) error {
	fmt.Println("worker", os.Getpid(), "started")
	return rest(args)
}

// cache serves on a port and reads a file over and over.
func cache(args []string) error {
	if _, err := os.Stat(args[1]); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	if err != nil {
		return err
	}
	// And again and again, as its users do.
	go func() {
		for range time.Tick(200 * time.Millisecond) {
			if f, err := os.Open(args[1]); err == nil {
				io.Copy(io.Discard, f)
				f.Close()
			}
		}
	}()
	return http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}

// rest waits, and ends by SIGTERM.
func rest(args []string) error {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	select {
	case <-term:
	case <-time.After(d):
	}
	return nil
}
