package servers

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

// process is a running stdio server: a group of processes of its own.
type process struct {
	cmd      *exec.Cmd
	group    group
	guard    *guard
	told     func(what string) // is told of what is done to end it
	confined bool              // what was started confines the server, and is not the server itself
	stdin    *os.File          // our ends of its pipes
	stdout   *os.File
	stderr   *os.File
	exited   chan struct{} // closed when the leader was waited for
	err      error         // how the leader ended; read after exited
	wg       sync.WaitGroup
	once     sync.Once // stops once
}

// startProcess starts cmd in a group of its own, known to the guard, its stderr
// read by follow, which returns when it ends.
func startProcess(cmd *exec.Cmd, guard *guard, follow func(stderr io.Reader)) (*process, error) {
	defer closeAll(cmd.ExtraFiles)
	if err := keepFiles(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	guard.start()
	p := &process{cmd: cmd, guard: guard, told: func(string) {}, exited: make(chan struct{})}
	theirs, err := p.openPipes()
	if err == nil {
		p.group, err = startGroup(cmd)
	}
	closeAll(theirs)
	if err != nil {
		p.closePipes()
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	guard.add(cmd.Process.Pid)
	p.wg.Go(p.wait)
	p.wg.Go(func() { follow(p.stderr) })
	return p, nil
}

// openPipes connects the command's standard streams with ours. It returns the
// command's ends, which are to be closed when it has started.
func (p *process) openPipes() (theirs []*os.File, err error) {
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
	open(&p.stdin, &in, true)
	open(&p.stdout, &out, false)
	open(&p.stderr, &errs, false)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, errs
	return theirs, err
}

func (p *process) closePipes() { closeAll([]*os.File{p.stdin, p.stdout, p.stderr}) }

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // a second close does nothing, nor does that of none
	}
}

// wait reaps the leader. A server whose leader is gone is gone: a child of it
// may hold stdout open for ever, so reading ends soon after.
func (p *process) wait() {
	p.err = p.cmd.Wait()
	close(p.exited)
	time.AfterFunc(exitGrace, func() { p.stdout.Close() })
}

// explain returns why the connection to the process has failed: that the process
// has ended, if it has, or does in a moment, and how; else err.
func (p *process) explain(err error) error {
	timer := time.NewTimer(exitGrace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return fmt.Errorf("its process has ended (%s)", p.cmd.ProcessState)
	case <-timer.C:
		return err
	}
}

// stop ends the whole group and returns when it is gone: it closes stdin, then
// sends TERM, then KILL. Only the first call acts; the others wait for it.
func (p *process) stop() {
	p.once.Do(func() {
		p.told("closing its stdin")
		p.stdin.Close()
		if !p.goneWithin(stdinGrace) {
			p.told("it did not end by itself: TERM")
			p.terminate()
			if !p.goneWithin(termGrace) {
				p.told("it did not end: KILL")
				p.group.kill()
				p.goneWithin(killGrace)
			}
		}
		p.guard.remove(p.cmd.Process.Pid)
		p.closePipes()
		p.group.close()
		p.wg.Wait()
		p.told("its processes have ended")
	})
}

// kill ends the server at once. What is left of it is stop's to end.
func (p *process) kill() { p.group.kill() }

// terminate asks the server to end. A confined one is told itself: what confines
// it would end at once, and end it without asking.
func (p *process) terminate() {
	if !p.confined || !terminateInner(p.cmd.Process.Pid) {
		p.group.terminate()
	}
}

// goneWithin reports whether every process of the group is gone within d.
func (p *process) goneWithin(d time.Duration) bool {
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
