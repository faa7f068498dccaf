package target

import (
	"errors"
	"time"

	"github.com/assaybench/assay"
)

// A Spec says what a service is, with everything expanded.
type Spec struct {
	Name string
	// Command starts the service; its Cap, HungAfter, Progress and Started are not looked at.
	Command Invocation
	// External, instead of Command, is somebody else's process: it is watched and never touched.
	External *assay.External
	Ready    Ready
	// Port is the TCP port that the service listens on; 0: that of Ready's HTTP or TCP, if any.
	Port int
	// Starts is how many processes of one kind are expected to stand: workers under a master, or
	// the service itself. 0: not checked.
	Starts    int
	Supervise *assay.Supervise
}

// Ready says when a service can take load. At most one of its checks is set; with none, a service
// is ready when it executes.
type Ready struct {
	HTTP     string // URL that answers with status 200 to 299
	TCP      string // host:port that accepts a connection
	Log      string // regular expression on a line of its output
	Command  *Invocation
	Patience time.Duration // 0: a minute
}

// defaultPatience is how long a service may take to be ready where nobody said otherwise.
const defaultPatience = time.Minute

// ErrUnready is for a service that was started and ended, or did not become ready within its
// patience: its own doing, other than a port that somebody else holds or a program that is missing.
var ErrUnready = errors.New("it did not become ready")

// A Kind is a kind of incident.
type Kind string

// The kinds of incident.
const (
	Exited    Kind = "exited"    // ended by itself
	Crashed   Kind = "crashed"   // ended by a signal of its own making: SIGSEGV, SIGABRT, …
	OOM       Kind = "oom"       // killed by the kernel for want of memory
	Killed    Kind = "killed"    // ended by a signal that somebody else sent
	Restarted Kind = "restarted" // started again, whole or a worker of it
	Replaced  Kind = "replaced"  // another process listens on its port
	Missing   Kind = "missing"   // fewer processes stand than are expected
	Silent    Kind = "silent"    // nobody listens on its port any more
	Lost      Kind = "lost"      // its guardian was killed, and so it was ended
)

// An Incident is something that happened to a service and that its figures must not hide.
type Incident struct {
	At   time.Time
	Kind Kind
	PID  int
	// OnPurpose says that Signal or Restart caused it.
	OnPurpose bool
	// Text says what happened with cause and process id, for people.
	Text string
}

// A State is what is known of a service at a moment.
type State struct {
	PID      int   // that stands for the service, as Service.PID
	PIDs     []int // of everything that lives below it, itself included, ascending
	Listener int   // process that listens on the port; 0: none, or no port
	// ColdStart is from just before the last spawn until the service was ready.
	ColdStart time.Duration
	// Restarts counts what started it again: Supervise, Restart, and workers that took the place of
	// another where Starts is set.
	Restarts  int
	Incidents []Incident // in order of time
	Notes     []string
}

// Since are the incidents from the moment on.
func (s State) Since(moment time.Time) []Incident {
	for i, incident := range s.Incidents {
		if !incident.At.Before(moment) {
			return s.Incidents[i:]
		}
	}
	return nil
}
