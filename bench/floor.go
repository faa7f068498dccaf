//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// floorVerb sends requests at evenly spaced times from a thread that only looks at the clock: how
// exactly this machine can send at all, which no generator with anything else to do can undercut.
func floorVerb(args []string) error {
	flags := flag.NewFlagSet("floor", flag.ContinueOnError)
	rate := flags.Int64("rate", 1000, "requests per second")
	length := flags.Duration("for", 3*time.Second, "how long")
	connections := flags.Int("connections", 64, "that take turns")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *rate < 1 || *connections < 1 {
		return fmt.Errorf("floor: got %q, want one URL, a rate and connections", flags.Args())
	}
	sockets, request, err := connectAll(flags.Arg(0), *connections)
	if err != nil {
		return err
	}
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	sent := spin(sockets, request, *rate, *length)
	return json.NewEncoder(os.Stdout).Encode(map[string]int64{"sent": sent})
}

// connectAll opens connections that do not block, and the request that all of them send.
func connectAll(address string, n int) (sockets []int, request []byte, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, nil, fmt.Errorf("floor: %w", err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return nil, nil, fmt.Errorf("floor: port of %s: %w", address, err)
	}
	for range n {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
		}
		if err == nil {
			err = unix.SetNonblock(fd, true)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("connect to %s: %w", address, err)
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		sockets = append(sockets, fd)
	}
	return sockets, fmt.Appendf(nil, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", u.Host), nil
}

// spin sends on the connections in turn and takes the answers that came meanwhile.
func spin(sockets []int, request []byte, rate int64, length time.Duration) (sent int64) {
	answers := bytes.Repeat([]byte{0}, 4<<10)
	total := int64(length) * rate / int64(time.Second)
	begun := time.Now()
	for k := range total {
		due := time.Duration(k * int64(time.Second) / rate)
		for time.Since(begun) < due {
		}
		if n, err := rawIO(unix.SYS_WRITE, sockets[k%int64(len(sockets))], request); err == nil && n == len(request) {
			sent++
		}
		_, _ = rawIO(unix.SYS_READ, sockets[(k+1)%int64(len(sockets))], answers) // the oldest answer
	}
	time.Sleep(100 * time.Millisecond) // the last answers come
	return sent
}
