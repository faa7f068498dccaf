package store_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/store"
)

// The disk is full while a trial is recorded: an error, and what was there before stays whole.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), full+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 77) {
		t.Skipf("no mount namespace of our own here: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// fillDisk is the child of TestFullDisk, in a mount namespace of its own.
func fillDisk(dir string) int {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k"); err != nil {
		fmt.Println("mount:", err)
		return 77
	}
	f, err := store.Open(filepath.Join(dir, "x.results"), 0)
	if err == nil {
		err = f.Register([]byte("experiment: x\n"), assay.Registration{Digest: "d"})
	}
	n := 0
	for err == nil && n < 10_000 {
		if err = f.Append(trial(n + 1)); err == nil {
			n++
		}
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), fmt.Sprintf("record trial %d", n+1)) {
		fmt.Println("append on a full disk:", err)
		return 1
	}
	f.Close()
	recs, err := store.Read(filepath.Join(dir, "x.results"))
	if err != nil || len(recs.Trials) != n || recs.Torn != nil {
		fmt.Printf("after a full disk: %d trials of %d, torn %q, %v\n", len(recs.Trials), n, recs.Torn, err)
		return 1
	}
	return 0
}
