package load

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Driver carries out operations. Its methods are called by many goroutines at once.
type Driver interface {
	// Do carries out one operation and returns when it is done: nil if the answer was right, a
	// *Failure that says what went wrong, or any error that wraps one. It gives up when
	// op.Deadline has passed or ctx is done. It sends the operation once: no retry, no redirect.
	Do(ctx context.Context, op *Operation) error
	// Connections says how many connections there were.
	Connections() Connections
	// Close ends what the driver holds open. Nothing is under way when it is called.
	Close() error
}

// Connections counts the connections of a driver.
type Connections struct {
	Peak   int // most that were open at once
	Opened int // opened in all
	// Remotes are the addresses behind the target's name, if there is more than one of them.
	Remotes []Remote
	Moves   int // times that the name was resolved to other addresses than before
}

// A Remote is one of several addresses behind a name.
type Remote struct {
	Address    string
	Operations int64 // sent to it, the warm-up included
}

// A Class says in what way an operation failed. The zero Class is none of them.
type Class uint8

// The classes. Ports and Descriptors are the generator's own shortage, never the target's doing.
const (
	Refused     Class = iota + 1 // no connection: nobody listens
	Reset                        // the peer broke the connection off
	Closed                       // the peer closed it before the answer was whole
	DNS                          // the name did not resolve
	TLS                          // no agreement on encryption
	Shed                         // the target said that it has too much to do
	Status                       // a status that was not expected
	Wrong                        // an answer that was not expected
	Protocol                     // not an answer in the protocol's form
	Ports                        // no local port left
	Descriptors                  // no file descriptor left
	TimedOut                     // no answer by the deadline; a column of its own in the ledger
	classes
)

var classNames = [classes]string{"", "refused", "reset", "closed", "dns", "tls", "shed", "status", "wrong", "protocol", "ports", "descriptors", "timed_out"}

func (c Class) String() string {
	if c == 0 || c >= classes {
		return fmt.Sprintf("class(%d)", uint8(c))
	}
	return classNames[c]
}

// MarshalText makes a class the key of a JSON object.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Class) UnmarshalText(b []byte) error {
	for i := Class(1); i < classes; i++ {
		if classNames[i] == string(b) {
			*c = i
			return nil
		}
	}
	return fmt.Errorf("class %q: want one of %v", b, classNames[1:])
}

// A Failure is an operation that did not go well.
type Failure struct {
	Class Class
	Err   error
}

// Fail is a failure of class c.
func Fail(c Class, err error) *Failure { return &Failure{Class: c, Err: err} }

func (f *Failure) Error() string { return f.Class.String() + ": " + f.Err.Error() }

// Unwrap is the cause.
func (f *Failure) Unwrap() error { return f.Err }

// classOf finds the class of what Do returned. An error without a class is a driver's mistake; it
// is counted where it accuses the target least precisely, as Protocol, and its text is kept.
func classOf(err error) Class {
	if err == nil {
		return 0
	}
	var f *Failure
	switch {
	case errors.As(err, &f) && f.Class > 0 && f.Class < classes:
		return f.Class
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	}
	return Protocol
}

// A Phase is a part of an operation, ended by the driver's Mark.
type Phase uint8

// The phases of an operation, in order; an operation need not have all of them.
const (
	Resolve Phase = iota // the name is known
	Connect              // the connection stands
	Encrypt              // so does its encryption
	Write                // the request is written
	Wait                 // the first byte of the answer is here
	Read                 // and so is the last
	phases
)

var phaseNames = [phases]string{"resolve", "connect", "tls", "write", "wait", "read"}

func (p Phase) String() string { return phaseNames[p] }

// An Operation is one request as the generator hands it to a driver.
type Operation struct {
	// Index counts the operations of a trial from 0, in order of their intended times.
	Index int64

	clock    clock
	timeout  time.Duration
	intended time.Duration
	freed    time.Duration // when the slot that it had to wait for became free
	handed   time.Duration
	sent     time.Duration
	phased   bool
	marked   time.Duration
	spent    [phases]time.Duration
}

// NewOperation is an operation that is handed over now and times out after timeout. Run makes its
// own; this is for whoever calls a driver without a schedule.
func NewOperation(index int64, timeout time.Duration) *Operation {
	op := &Operation{clock: clock{zero: time.Now()}}
	op.begin(index, 0, timeout)
	return op
}

// begin starts the operation on its way.
func (op *Operation) begin(index int64, intended, timeout time.Duration) {
	now := op.clock.now()
	op.Index, op.intended, op.timeout = index, intended, timeout
	op.handed, op.sent, op.marked = now, now, now
	if op.phased {
		clear(op.spent[:])
	}
}

// Send says that the operation goes out now. A driver calls it when it had to wait, for one of a
// bounded number of connections, say: that wait then counts as lag and not as service time.
func (op *Operation) Send() {
	op.sent = op.clock.now()
	op.marked = op.sent
}

// Mark says that a phase has ended; it began where the one before it ended.
func (op *Operation) Mark(p Phase) {
	if !op.phased {
		return
	}
	now := op.clock.now()
	op.spent[p] += now - op.marked
	op.marked = now
}

// Deadline is the moment at which the operation has timed out: timeout after it was handed over.
func (op *Operation) Deadline() time.Time { return op.clock.zero.Add(op.handed + op.timeout) }

// Expired reports whether the deadline has passed.
func (op *Operation) Expired() bool { return op.clock.now() >= op.handed+op.timeout }

// A clock counts from the beginning of the window, on the monotonic clock.
type clock struct{ zero time.Time }

func (c clock) now() time.Duration { return time.Since(c.zero) }
