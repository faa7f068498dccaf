package store

import (
	"os/exec"
	"runtime"
	"syscall"
)

// StartTied starts a command that the kernel kills when this process ends, however it ends, and returns
// what waits for it.
//
// The kernel ties a child to the thread that started it, not to the process; so the goroutine that starts
// it keeps its thread until the command has ended.
func StartTied(command *exec.Cmd) (wait func() error, err error) {
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started, proceed, ended := make(chan error), make(chan struct{}), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err != nil {
			return
		}
		<-proceed
		ended <- command.Wait()
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return func() error {
		close(proceed)
		return <-ended
	}, nil
}
