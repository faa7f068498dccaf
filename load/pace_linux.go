package load

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// The pacer stops sleeping some time before an intended one, and spins: a core that sleeps takes
	// 50 to 100 us to wake up, one that spins none. How long follows what wake-ups take here, so that
	// one in a hundred is later, and is spinFor at first.
	spinFor     = 100 * time.Microsecond
	leastSpin   = 50 * time.Microsecond
	longestSpin = 200 * time.Microsecond
	// spinStep is what a wake-up in time shortens the spin by; a late one lengthens it by 99 of them,
	// so that it rests where one in a hundred is late (Robbins and Monro 1951, as for any quantile).
	spinStep = 200 * time.Nanosecond
	// denseGap is the mean gap below which there is no room for a sleep before a spin: spinning
	// would take the whole core. Below it the pacer takes short naps instead, and sends what has
	// become due when it wakes up.
	denseGap = 60 * time.Microsecond
	// Naps are as short as the processor time allows: at 40,000/s naps of 25 and of 120 us are 17 and
	// 44 us off the schedule in the middle, and cost 0.79 and 0.62 of a core (0.86 and 0.73 on a slower
	// one), the operations themselves included. napBudget is the processor time per time that the
	// generator may have taken, as the process sees it, over the last napEvery.
	shortestNap = 25 * time.Microsecond
	longestNap  = 120 * time.Microsecond
	napBudget   = 0.79
	napEvery    = 20 * time.Millisecond
	napGain     = 4 // of the logarithm of the nap, for each core beyond the budget
	// pollEvery is how long, with one processor, the pacer may keep answers from being seen by
	// having no time to wait. Without it a pacer that is late once would stay late: no answer is
	// seen, so every operation opens a connection of its own, which takes longer than its gap.
	pollEvery = 50 * time.Microsecond
	// pollLate is the same with several processors: another one polls, but may be held up itself.
	pollLate = 2 * time.Millisecond
	// idleTurn is the longest turn of a spin in which nothing but the spin took place; where another
	// goroutine had work to do, a turn takes longer.
	idleTurn = 4 * time.Microsecond
)

// precisePacer sleeps on a timer of the kernel's, whose file the runtime's own poller watches, and
// spins for the last stretch. The timer is used because the runtime rounds its sleeps up to whole
// milliseconds, and because a thread that sleeps in a system call keeps its processor from the
// senders for a while.
//
// With one processor (GOMAXPROCS = 1, as in a generator that is pinned to a core) a plain spin
// would keep answers from being seen: the runtime polls the network only when nothing else can be
// done. There each turn of the spin goes through the poller once, by way of an event that is
// already there, at about 1 us a turn.
type precisePacer struct {
	clock   clock
	timer   *os.File
	raw     syscall.RawConn
	event   *os.File
	rawEv   syscall.RawConn
	single  bool
	polled  time.Duration // when the poller last had its turn
	last    time.Duration
	gap     time.Duration // mean of the gaps between intended times, exponentially weighted
	stopped context.Context
	unhook  func() bool
	idle    time.Duration // spent in spins, see spun
	spin    time.Duration // see spinFor
	nap     time.Duration
	tuned   time.Duration // when the nap was last set
	spent   time.Duration // processor time of the process then
	spec    unix.ItimerSpec
	one     uint64 // what is written to the event
	set     bool   // within a read: the timer is set, or the event is there
	// Methods of p as values, which would be made anew for each read.
	arm, post func(fd uintptr) bool
}

// newPacer is the pacer of this system.
func newPacer(ctx context.Context, c clock) (pacer, error) {
	timerFD, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create timer of the pacer: %w", err)
	}
	eventFD, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		unix.Close(timerFD)
		return nil, fmt.Errorf("create event of the pacer: %w", err)
	}
	p := &precisePacer{
		clock: c, stopped: ctx, gap: time.Millisecond, one: 1, single: runtime.GOMAXPROCS(0) == 1, spin: spinFor, nap: longestNap,
		timer: os.NewFile(uintptr(timerFD), "timerfd"), event: os.NewFile(uintptr(eventFD), "eventfd"),
	}
	p.arm, p.post = p.armed, p.posted
	if p.raw, err = p.timer.SyscallConn(); err == nil {
		p.rawEv, err = p.event.SyscallConn()
	}
	if err != nil {
		p.timer.Close()
		p.event.Close()
		return nil, fmt.Errorf("watch timer of the pacer: %w", err)
	}
	// A deadline in the past ends a sleep that is under way, and every later one.
	p.unhook = context.AfterFunc(ctx, func() { p.timer.SetReadDeadline(time.Unix(1, 0)) })
	return p, nil
}

func (p *precisePacer) wait(until time.Duration) {
	p.gap += (until - p.last - p.gap) / 16
	p.last = until
	// Half of the gaps may be spun away for it, and where they are short the first guess.
	margin := min(p.spin, max(spinFor, p.gap/2))
	if p.gap < denseGap {
		margin = 0
	}
	for {
		now := p.clock.now()
		switch d := until - now; {
		case p.stopped.Err() != nil:
			return
		case d > 0 && margin == 0:
			p.tune(now)
			p.sleep(max(d, p.nap))
		case d > 0 && d > margin:
			p.sleep(d - margin)
			p.spin = nextSpin(p.spin, p.clock.now()-(until-margin))
		case p.single && (d > 0 || now-p.polled > pollEvery), -d > pollLate && now-p.polled > pollLate:
			p.yield()
		case d <= 0:
			return
		}
		p.polled = p.clock.now()
		if turn := p.polled - now; until >= 0 && until > now && until-now <= margin && turn <= idleTurn {
			p.idle += turn
		}
	}
}

func (p *precisePacer) spun() time.Duration { return p.idle }

// nextSpin is longer than the last one where a wake-up was later than that, else a little shorter.
func nextSpin(last, late time.Duration) time.Duration {
	if late > last {
		return min(last+99*spinStep, longestSpin)
	}
	return max(last-spinStep, leastSpin)
}

// tune sets the length of naps by what the process has used since it was last set.
func (p *precisePacer) tune(now time.Duration) {
	past := now - p.tuned
	if past < napEvery {
		return
	}
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return // the nap stays as it is
	}
	spent := time.Duration(ts.Nano())
	if p.tuned > 0 {
		p.nap = nextNap(p.nap, spent-p.spent, past)
	}
	p.tuned, p.spent = now, spent
}

// nextNap is shorter than the last one where less processor time was spent than the budget, and longer
// where more was: by half for a tenth of a core, so that it settles within some 0.2 s.
func nextNap(last, spent, past time.Duration) time.Duration {
	over := min(float64(spent)/float64(past)-napBudget, 1)
	return min(max(time.Duration(float64(last)*math.Exp(napGain*over)), shortestNap), longestNap)
}

// sleep parks the goroutine until the timer fires.
func (p *precisePacer) sleep(d time.Duration) {
	p.set, p.spec.Value = false, unix.NsecToTimespec(int64(d))
	p.raw.Read(p.arm)
}

// armed sets the timer within the read, after the poller has been told to look: set before, it could
// fire unseen.
func (p *precisePacer) armed(fd uintptr) bool {
	if p.set {
		return true
	}
	p.set = true
	return quick(unix.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&p.spec))) != nil
}

// yield lets the runtime's poller, and whatever it finds ready, go first.
func (p *precisePacer) yield() {
	p.set = false
	p.rawEv.Read(p.post)
}

// posted writes the event within the read.
func (p *precisePacer) posted(fd uintptr) bool {
	if p.set {
		return true
	}
	p.set = true
	return quick(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&p.one)), unsafe.Sizeof(p.one)) != nil
}

// quick makes a system call that never waits, without telling the scheduler. Being told wakes up
// the runtime's monitor thread, which then looks every 20 us whether the call has ended; at
// 40,000/s that thread alone took a tenth of the generator's processor time.
func quick(call, fd, a, b uintptr) error {
	if _, _, errno := syscall.RawSyscall6(call, fd, a, b, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func (p *precisePacer) close() {
	p.unhook()
	p.timer.Close()
	p.event.Close()
}
