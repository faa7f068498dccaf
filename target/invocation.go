package target

import (
	"errors"
	"os"
	"time"

	"github.com/assaybench/assay"
)

// An Invocation is a command of a trial with everything expanded. No shell is involved.
type Invocation struct {
	// Args is the program and its arguments. A program without a slash is looked up in the PATH of
	// Env; a relative one starts at Dir.
	Args []string
	// Env is the whole environment, NAME=VALUE; nil is this process's own.
	Env []string
	Dir string // empty: the working directory
	// Stdin is the path of what the command reads; empty is /dev/null.
	Stdin          string
	Stdout, Stderr *os.File // nil: /dev/null
	CPUs           []int    // pinned to these from its first instruction; empty: not pinned
	Nice           int      // -20 to 19; 0 leaves it as it is
	// Limits are rlimits (nofile, as, nproc, cpu, …) in the kernel's units, in force from the first
	// instruction.
	Limits map[string]uint64
	Cap    time.Duration // wall cap, from the spawn; 0: none
	// HungAfter is how long Progress may stay as large as it is; 0: not watched.
	HungAfter time.Duration
	Progress  string // path of the file whose growth is progress
	// Started, if set, is called once with the command's process id, while the command executes.
	Started func(pid int)
	// Stuck, if set, is called once with the command's process id when there was no progress for
	// HungAfter, before anything is ended: the last moment to look at what it waits for.
	Stuck func(pid int)
	// Grace is how long a process may take to end after SIGTERM before SIGKILL; 0: two seconds.
	Grace time.Duration
}

// An Exit is how an invocation ended.
type Exit struct {
	Outcome assay.Outcome
	Code    int    // exit status; 128 + the signal's number for a command that a signal ended
	Signal  string // SIGSEGV and the like; empty if none ended it
	// Wall is CLOCK_MONOTONIC from just before the spawn to just after the reap; WallSecond is the
	// same span by CLOCK_REALTIME. The two differ when the clock was set or the machine was
	// suspended meanwhile.
	Wall, WallSecond time.Duration
	// User, System, RSSPeakBytes, CtxSwitches and PageFaults are the kernel's account of the command
	// and of the descendants that it waited for (wait4(2), getrusage(2)); the peak is of the
	// largest single process.
	User, System time.Duration
	RSSPeakBytes int64
	CtxSwitches  int64 // voluntary and involuntary
	PageFaults   int64 // minor and major
	// Leftover counts the descendants that had to be ended after the command itself was done.
	Leftover int
	Notes    []string
}

// defaultGrace is between SIGTERM and SIGKILL where nobody said otherwise.
const defaultGrace = 2 * time.Second

// Mark names the environment variable by which the processes of a results folder are known; its
// value is the folder's id. A command that is to be found by SweepLeftovers carries it in its Env.
const Mark = "ASSAY_RUN"

// Errors that a command cannot be started for, beside those of package io/fs.
var (
	// ErrNotExecutable is for a file in a format that the kernel does not execute.
	ErrNotExecutable = errors.New("neither a program for this machine nor a script with a #! line")
	// ErrInterpreter is for a script or program whose interpreter is missing.
	ErrInterpreter = errors.New("the file is there, but the interpreter that it names is not")
	// ErrGuardian is for a program that started without a call to Keep.
	ErrGuardian = errors.New("this program does not call target.Keep before anything else")
)
