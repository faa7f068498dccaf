package telemetry

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDumpSaysWhatAStuckProcessDoes(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("nobody reads this")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	text := Dump(Object{Name: "api", PID: os.Getpid()})
	port := l.Addr().(*net.TCPAddr).Port
	for _, want := range []string{fmt.Sprintf("api: process %d", os.Getpid()), "threads: ", "descriptors: ", " socket", "established",
		fmt.Sprintf("listening at %d with 1 not accepted", port)} {
		if !strings.Contains(text, want) {
			t.Errorf("Dump does not say %q:\n%s", want, text)
		}
	}
	cmd := exec.Command("sleep", "30")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if text = Dump(Object{Name: "it", PID: cmd.Process.Pid}); strings.Contains(text, "stopped") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !strings.Contains(text, "(sleep)") || !strings.Contains(text, "threads: 1 stopped") {
		t.Errorf("Dump of a stopped process:\n%s", text)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if text = Dump(Object{Name: "it", PID: cmd.Process.Pid}); !strings.Contains(text, "no process is left") {
		t.Errorf("Dump of nobody:\n%s", text)
	}
}
