package traps

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// portsService is how long a request holds its port.
const portsService = 200 * time.Millisecond

// ports makes a network of its own that has only so many local ports, serves in it, and executes a
// command there that gets the server's address as its last argument.
func ports(args []string) error {
	runtime.LockOSThread() // the network is the thread's, and of what it starts
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network: %w", err)
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte(args[0]+" "+args[1]), 0); err != nil {
		return fmt.Errorf("set local ports: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(portsService) }))
	c := exec.Command(args[2], append(args[3:], "http://"+l.Addr().String()+"/")...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.Env = append(os.Environ(), SubjectVariable+"=")
	err = c.Run()
	if c.ProcessState != nil && c.ProcessState.ExitCode() > 0 {
		os.Exit(c.ProcessState.ExitCode())
	}
	return err
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var request struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "lo")
	request.flags = unix.IFF_UP | unix.IFF_RUNNING
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}
