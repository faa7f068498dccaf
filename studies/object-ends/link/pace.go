package link

import (
	"sync"
	"syscall"
	"time"
)

// slack is how far a pace lets a sender catch up after it slept too long. A sleep of the operating
// system ends some tens of microseconds late; without slack a link of 1 Gbit/s would lose a quarter
// of itself to that, with much more of it small answers would pass as a burst for nothing.
const slack = 200 * time.Microsecond

// A pace is the rate at which bytes leave, for all connections of one direction together. The zero
// pace is without limit.
type pace struct {
	perByte float64 // ns; 0: no limit

	mu   sync.Mutex
	free time.Time // when the bytes that were let go have left
}

// newPace is a pace of so many bytes per second; 0 is none.
func newPace(bytesPerSecond float64) *pace {
	if bytesPerSecond <= 0 {
		return &pace{}
	}
	return &pace{perByte: float64(time.Second) / bytesPerSecond}
}

// leave waits until n bytes have left.
func (p *pace) leave(n int) {
	if p.perByte == 0 {
		return
	}
	now := time.Now()
	p.mu.Lock()
	if earliest := now.Add(-slack); p.free.Before(earliest) {
		p.free = earliest
	}
	p.free = p.free.Add(time.Duration(float64(n) * p.perByte))
	left := p.free.Sub(now)
	p.mu.Unlock()
	if left > 0 {
		sleep(left)
	}
}

// sleep asks the kernel, which is late by tens of microseconds. The runtime's own timers are late by
// up to a millisecond when nothing else is to be done: a link of 1 Gbit/s would be one of a quarter.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	for syscall.Nanosleep(&t, &t) == syscall.EINTR {
	}
}
