package driver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

// A program carries out operations by asking any other program; the package's comment has the
// protocol. It has as many processes as there are operations in flight.
type program struct {
	command assay.Command
	args    []string
	env     []string
	pool    pool[*process]
}

// A process is one running program.
type process struct {
	cmd     *exec.Cmd
	in      *os.File
	out     *os.File
	lines   *bufio.Reader
	waited  chan struct{}
	waitErr error
}

// maxLine bounds an answer.
const maxLine = 64 << 10

func newProcess(c assay.Command, values map[string]string) (load.Driver, error) {
	p := &program{command: c}
	for _, t := range c.Args {
		filled, open, err := fill(t, values)
		if err == nil && open {
			err = errors.New("expand {operation}: a program serves many operations; it reads their indexes from its input")
		}
		if err != nil {
			return nil, fmt.Errorf("driver process: %w", err)
		}
		text, err := expand(filled, 0)
		if err != nil {
			return nil, fmt.Errorf("driver process: %w", err)
		}
		p.args = append(p.args, text)
	}
	if c.Shell {
		p.args = append([]string{"sh", "-c"}, p.args...)
	}
	if len(p.args) == 0 {
		return nil, errors.New("driver process: want a command")
	}
	p.env = os.Environ()
	for _, v := range c.Env {
		p.env = deleteEnv(p.env, v.Name)
		if v.Unset {
			continue
		}
		filled, _, err := fill(v.Value, values)
		if err != nil {
			return nil, fmt.Errorf("driver process: env %s: %w", v.Name, err)
		}
		text, err := expand(filled, 0)
		if err != nil {
			return nil, fmt.Errorf("driver process: env %s: %w", v.Name, err)
		}
		p.env = append(p.env, v.Name+"="+text)
	}
	p.pool.open = p.start
	return p, nil
}

func deleteEnv(env []string, name string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			kept = append(kept, e)
		}
	}
	return kept
}

// start starts one more process of the program.
func (p *program) start(ctx context.Context, op *load.Operation) (*process, error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, failure(err, load.Refused)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		inRead.Close()
		inWrite.Close()
		return nil, failure(err, load.Refused)
	}
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = p.command.Dir, p.env, inRead, outWrite
	err = cmd.Start()
	inRead.Close()
	outWrite.Close()
	if err != nil {
		inWrite.Close()
		outRead.Close()
		return nil, failure(fmt.Errorf("start %s: %w", p.args[0], err), load.Refused)
	}
	op.Mark(load.Connect)
	pr := &process{cmd: cmd, in: inWrite, out: outRead, lines: bufio.NewReaderSize(outRead, maxLine), waited: make(chan struct{})}
	go func() {
		pr.waitErr = cmd.Wait()
		close(pr.waited)
	}()
	return pr, nil
}

// Do asks the program for one operation.
func (p *program) Do(ctx context.Context, op *load.Operation) error {
	pr, _, waited, err := p.pool.take(ctx, op)
	if err != nil {
		return failure(err, load.Refused)
	}
	if waited {
		op.Send()
	}
	line, err := pr.ask(ctx, op)
	if err != nil {
		pr.end(0) // it is in the middle of something: its next answer would be to this operation
		p.pool.drop()
		return failure(err, load.Protocol)
	}
	if !p.pool.give(pr) {
		pr.end(patience)
	}
	return verdict(line)
}

// ask writes the operation's line and reads the answer's.
func (pr *process) ask(ctx context.Context, op *load.Operation) (string, error) {
	unhook := context.AfterFunc(ctx, func() {
		pr.out.SetDeadline(time.Unix(1, 0))
		pr.in.SetDeadline(time.Unix(1, 0))
	})
	defer unhook()
	if err := errors.Join(pr.in.SetWriteDeadline(op.Deadline()), pr.out.SetReadDeadline(op.Deadline())); err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if _, err := pr.in.WriteString(strconv.FormatInt(op.Index, 10) + "\n"); err != nil {
		return "", err
	}
	op.Mark(load.Write)
	line, err := pr.lines.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF):
		return "", load.Fail(load.Closed, errors.New("the program ended, or closed its output"))
	case errors.Is(err, bufio.ErrBufferFull):
		return "", load.Fail(load.Protocol, fmt.Errorf("the program's answer is longer than %d bytes", maxLine))
	case err != nil:
		return "", err
	}
	op.Mark(load.Wait)
	return strings.TrimRight(string(line), "\r\n"), nil
}

// verdict reads the program's answer.
func verdict(line string) error {
	word, remark, _ := strings.Cut(line, " ")
	if word == "ok" {
		return nil
	}
	var class load.Class
	if err := class.UnmarshalText([]byte(word)); err != nil {
		return load.Fail(load.Protocol, fmt.Errorf("the program answered %.80q, want ok or a class", line))
	}
	return load.Fail(class, fmt.Errorf("the program says: %s", remark))
}

// patience is how long a program may take to end after its input has.
const patience = 2 * time.Second

// end closes the program's input, and kills it if that has not ended it after a while.
func (pr *process) end(patience time.Duration) {
	pr.in.Close()
	pr.out.Close()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-pr.waited:
	case <-timer.C:
		pr.cmd.Process.Kill()
		<-pr.waited
	}
}

// Connections counts the processes.
func (p *program) Connections() load.Connections { return p.pool.connections() }

// Close ends the processes.
func (p *program) Close() error {
	idle := p.pool.empty()
	for _, pr := range idle {
		pr.in.Close() // all of them, so that they end at the same time
	}
	for _, pr := range idle {
		pr.end(patience)
	}
	return nil
}

var _ load.Driver = (*program)(nil)
