package target

import "time"

// The program and a guardian talk gob over a socket: one order, then reports one way and requests to
// end the tree the other. Gob, and not JSON, because arguments and environments are bytes, not text.

// An order is what a guardian is to start.
type order struct {
	Path   string // as it is handed to execve
	Args   []string
	Env    []string
	Dir    string
	CPUs   []int
	Nice   int
	Limits []limit
	Mark   string // value of the environment's Mark; empty: none
	// EndAfter says that what is left is ended when the command itself is done.
	EndAfter bool
	Grace    time.Duration
}

// A limit is one resource limit.
type limit struct {
	Name     string
	Resource int
	Value    uint64
}

// An ending asks for the end of the tree: SIGTERM now, SIGKILL after the grace.
type ending struct {
	Grace time.Duration
}

// A stage is how far a tree has come.
type stage int

// The stages, in order of reporting. A guardian that could not start its command reports that and exits.
const (
	stageReady   stage = iota + 1 // the guardian stands
	stageRefused                  // the command could not be started
	stageStarted                  // the command executes
	stageDone                     // the command itself has ended and is reaped
	stageEmpty                    // so has everything else
)

// A report is what a guardian says.
type report struct {
	Stage    stage
	PID      int
	Spawned  time.Duration // started: CLOCK_MONOTONIC just before the spawn
	Doing    string        // refused: what was being done
	Errno    int           // refused: why it could not be done
	Account  account
	Leftover int
}

// An account is what the kernel said of a command that was reaped.
type account struct {
	Status           uint32 // as from wait4
	Wall, WallSecond time.Duration
	User, System     time.Duration
	RSSPeakBytes     int64
	FloorBytes       int64 // RSSPeakBytes may be the guardian's own if it is not above this
	CtxSwitches      int64
	PageFaults       int64
	OOMKills         int64 // on this machine meanwhile
}
