package traps

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// processCases are those that need a target in a process of its own.
func processCases() []Case {
	return []Case{
		{"T2s", "the process of the server is stopped for a good part of the test", "quantiles from the intended times, and the stall by name",
			func(b *Bench) (Said, error) { return b.stopped(true) }, func(b *Bench) (Said, error) { return b.stopped(false) }},
		{"T15b", "another process takes the generator's core half the time", "void for guard:generator; the lag holds the wait, the service time is the target's",
			func(b *Bench) (Said, error) { return b.neighboured(true) }, func(b *Bench) (Said, error) { return b.neighboured(false) }},
	}
}

// start executes a subject until it is ended.
func start(subject string) (*os.Process, func(), error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), SubjectVariable+"="+subject)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return nil, nil, fmt.Errorf("start %s: %w", subject, err)
	}
	return c.Process, func() {
		c.Process.Kill()
		c.Wait()
	}, nil
}

// startServer executes the subject "server" with a service time, and waits until it listens.
func startServer(service time.Duration) (process *os.Process, url string, stop func(), err error) {
	port, err := freePort()
	if err != nil {
		return nil, "", nil, err
	}
	if process, stop, err = start("server " + port + " service=" + lasting(service)); err != nil {
		return nil, "", nil, err
	}
	for range 200 {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
			return process, "http://127.0.0.1:" + port + "/", stop, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	return nil, "", nil, fmt.Errorf("start server: nobody listens on port %s after 4s", port)
}

// send sends a signal by name.
func send(name string, p *os.Process) error {
	if out, err := exec.Command("kill", "-"+name, strconv.Itoa(p.Pid)).CombinedOutput(); err != nil {
		return fmt.Errorf("send %s: %w: %s", name, err, out)
	}
	return nil
}

// stopped is T2 with a real process, whose connections the kernel goes on to accept.
func (b *Bench) stopped(trap bool) (Said, error) {
	window := 2 * time.Second
	service, share := b.milliseconds(1, 5), b.between(0.3, 0.45)
	process, url, stop, err := startServer(service)
	if err != nil {
		return Said{}, err
	}
	defer stop()
	from, rate := time.Duration(b.between(0.15, 0.35)*float64(window)), b.between(60, 160)
	frozen := make(chan error, 1)
	if trap {
		go func() {
			time.Sleep(from)
			err := send("STOP", process)
			time.Sleep(time.Duration(share * float64(window)))
			if err == nil {
				err = send("CONT", process)
			}
			frozen <- err
		}()
	} else {
		frozen <- nil
	}
	a, err := b.load(url, "--rate", fmt.Sprintf("%.1f/s", rate), "--for", lasting(window))
	if stopErr := <-frozen; err == nil {
		err = stopErr
	}
	if err != nil {
		return Said{}, err
	}
	if !trap {
		share = 0
	}
	return a.stoodStill(service, share, window), nil
}

// neighboured lets a process of real-time priority take the core that the generator is bound to, for
// half of the time. The service times that its bursts do not touch are the target's.
func (b *Bench) neighboured(trap bool) (Said, error) {
	service, burst := b.milliseconds(4, 8), b.milliseconds(25, 40)
	_, url, stop, err := startServer(service)
	if err != nil {
		return Said{}, err
	}
	defer stop()
	exe, err := os.Executable()
	if err != nil {
		return Said{}, err
	}
	bound := *b
	if bound.Assay, err = script(b.Dir, fmt.Sprintf("%s='bound %s '\"$*\" exec %s", SubjectVariable, b.Assay, exe)); err != nil {
		return Said{}, err
	}
	if trap {
		_, end, err := start("neighbour " + burst.String() + " " + burst.String())
		if err != nil {
			return Said{}, err
		}
		defer end()
	}
	a, err := bound.load(url, "--rate", fmt.Sprintf("%.1f/s", b.between(250, 400)), "--for", "1500ms")
	if err != nil {
		return Said{}, err
	}
	s := a.said("guard:generator", "generator")
	s.Warned = a.voided("guard:generator") && a.exit == 3
	s.Text += fmt.Sprintf("; lag p95 %.1f ms, service p50 %.1f ms of %s", ms(a.Lag.P95), ms(a.Service.P50), service)
	switch {
	case !trap && s.Warned:
		s.Noise = "guard:generator"
	case trap && !(ms(a.Lag.P95) > 0.4*ms(nanoseconds(burst))):
		s.wrongf("the lag's p95 is %.1f ms with bursts of %s", ms(a.Lag.P95), burst)
	}
	s.near("p50 of the service time in ms", ms(a.Service.P50), ms(nanoseconds(service)), 0.3, 3)
	return s, nil
}

func nanoseconds(d time.Duration) *int64 { return (*int64)(&d) }
