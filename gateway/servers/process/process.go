// Package process runs the programs of local MCP servers, and sees to it that none
// outlives us. Each is a group of processes of its own (on Windows a job object),
// and is ended as a whole: its stdin is closed, then the group gets TERM, then
// KILL. If we are killed ourselves, a guard process does the same for us (see
// RunGuard); should that be killed, too, the next Guard finds what was left behind
// in the record of the one before.
//
// A Process owns the goroutines that wait for it and read its stderr: they have
// ended when Stop returns. A Guard's have ended when Close returns.
package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	stdinGrace = 1200 * time.Millisecond // between closing stdin and TERM
	termGrace  = 1200 * time.Millisecond // between TERM and KILL
	killGrace  = 500 * time.Millisecond  // for the kernel to end the killed
	exitGrace  = 500 * time.Millisecond  // for the last output of a process that exited by itself
	pollEvery  = 10 * time.Millisecond
)

// Options says how a program is started.
type Options struct {
	// Guard is told of the program.
	Guard *Guard
	// Stderr reads what the program writes to its standard error, and returns when
	// that ends.
	Stderr func(io.Reader)
	// Told is told what is done to end the program, in the words of a log. If nil,
	// nobody is.
	Told func(what string)
	// Inner returns the leader of the group that the program proper runs in, or 0,
	// where the process with this pid only confines it. If nil, there is no other
	// group.
	Inner func(pid int) int
}

// Process is a running program: a group of processes of its own.
type Process struct {
	// Our ends of the program's standard streams. Stop closes them, and so does the
	// end of the program, soon after.
	Stdin, Stdout *os.File

	opts   Options
	cmd    *exec.Cmd
	group  group
	stderr *os.File
	exited chan struct{} // closed when the leader was waited for
	wg     sync.WaitGroup
	once   sync.Once // stops once
}

// Start starts cmd in a group of its own, known to the guard. What is in its
// ExtraFiles is closed, whatever comes of it; its Env should have the guard's
// Variable.
func Start(cmd *exec.Cmd, opts Options) (*Process, error) {
	defer CloseAll(cmd.ExtraFiles)
	if err := keepFiles(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	if opts.Told == nil {
		opts.Told = func(string) {}
	}
	opts.Guard.start()
	p := &Process{opts: opts, cmd: cmd, exited: make(chan struct{})}
	theirs, err := p.openPipes()
	if err == nil {
		p.group, err = startGroup(cmd)
	}
	CloseAll(theirs)
	if err != nil {
		p.closePipes()
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	opts.Guard.add(p.PID())
	p.wg.Go(p.wait)
	p.wg.Go(func() { opts.Stderr(p.stderr) })
	return p, nil
}

// PID returns the process id of the group's leader.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// openPipes connects the command's standard streams with ours. It returns the
// command's ends, which are to be closed when it has started.
func (p *Process) openPipes() (theirs []*os.File, err error) {
	open := func(ours, their **os.File, theyRead bool) {
		if err != nil {
			return
		}
		var r, w *os.File
		if r, w, err = os.Pipe(); err != nil {
			return
		}
		*ours, *their = r, w
		if theyRead {
			*ours, *their = w, r
		}
		theirs = append(theirs, *their)
	}
	var in, out, errs *os.File
	open(&p.Stdin, &in, true)
	open(&p.Stdout, &out, false)
	open(&p.stderr, &errs, false)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, errs
	return theirs, err
}

func (p *Process) closePipes() { CloseAll([]*os.File{p.Stdin, p.Stdout, p.stderr}) }

// CloseAll closes files; a nil one, and one that is closed, does no harm.
func CloseAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// wait reaps the leader. A server whose leader is gone is gone: a child of it
// may hold stdout open for ever, so reading ends soon after.
func (p *Process) wait() {
	_ = p.cmd.Wait() // how it ended is in its ProcessState
	close(p.exited)
	time.AfterFunc(exitGrace, func() { p.Stdout.Close() })
}

// Explain returns why the connection to the process has failed: that the process
// has ended, if it has, or does in a moment, and how; else err.
func (p *Process) Explain(err error) error {
	timer := time.NewTimer(exitGrace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return fmt.Errorf("its process has ended (%s)", p.cmd.ProcessState)
	case <-timer.C:
		return err
	}
}

// Stop ends the whole group and returns when it is gone: it closes stdin, then
// sends TERM, then KILL. Only the first call acts; the others wait for it.
func (p *Process) Stop() {
	p.once.Do(func() {
		p.opts.Told("closing its stdin")
		p.Stdin.Close()
		if !p.goneWithin(stdinGrace) {
			p.opts.Told("it did not end by itself: TERM")
			p.terminate()
			if !p.goneWithin(termGrace) {
				p.opts.Told("it did not end: KILL")
				p.group.kill()
				p.goneWithin(killGrace)
			}
		}
		p.opts.Guard.remove(p.PID())
		p.closePipes()
		p.group.close()
		p.wg.Wait()
		p.opts.Told("its processes have ended")
	})
}

// Kill ends the program at once. What is left of it is Stop's to end.
func (p *Process) Kill() { p.group.kill() }

// terminate asks the program to end. One that is confined is asked itself: what
// confines it would end at once, and end it without asking.
func (p *Process) terminate() {
	if p.opts.Inner != nil {
		if leader := p.opts.Inner(p.PID()); leader > 1 {
			terminateGroup(leader)
			return
		}
	}
	p.group.terminate()
}

// goneWithin reports whether every process of the group is gone within d.
func (p *Process) goneWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C:
		return false
	}
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for p.group.alive() {
		select {
		case <-ticker.C:
		case <-timer.C:
			return false
		}
	}
	return true
}
