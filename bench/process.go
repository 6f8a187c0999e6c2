package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// farewell is how long a process may take to end before it is killed.
const farewell = 5 * time.Second

// process is one that we have started. Its standard input is a pipe of ours: our
// own parts end when it closes.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	said  *bytes.Buffer // its standard error; to be read after it has ended
	read  sync.WaitGroup
}

// discard reads what the process prints, until it ends, so that it never waits
// for a reader.
func (p *process) discard(stdout io.Reader) {
	p.read.Go(func() { _, _ = io.Copy(io.Discard, stdout) })
}

// start starts a command and returns its standard output.
func start(ctx context.Context, env []string, name string, args ...string) (*process, io.Reader, error) {
	p := &process{cmd: exec.CommandContext(ctx, name, args...), said: &bytes.Buffer{}}
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(os.Interrupt) }
	p.cmd.WaitDelay = farewell
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = p.said
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, stdout, nil
}

// startPart starts one of our own parts and returns the address it listens on.
func startPart(ctx context.Context, args ...string) (*process, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	p, stdout, err := start(ctx, nil, self, args...)
	if err != nil {
		return nil, "", err
	}
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, "", fmt.Errorf("the part %q did not start: %w\n%s", args[0], err, p.end())
	}
	return p, strings.TrimSpace(addr), nil
}

// end ends the process and returns what it wrote to its standard error.
func (p *process) end() string {
	_ = p.stdin.Close() // one that has ended already took its pipe with it
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		_ = p.cmd.Process.Kill() // no such signal on this system
	}
	timer := time.AfterFunc(farewell, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	p.read.Wait()    // before Wait, which closes the pipe
	_ = p.cmd.Wait() // how it ended is no figure of ours
	return p.said.String()
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// serveUntilEOF serves HTTP on a free port, which it prints, until stdin ends.
func serveUntilEOF(handler http.Handler, stdin io.Reader, stdout io.Writer) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ln) }()
	if _, err := fmt.Fprintln(stdout, ln.Addr()); err != nil {
		return errors.Join(err, server.Close())
	}
	_, err = io.Copy(io.Discard, stdin)
	err = errors.Join(err, server.Close())
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// freePort returns an address that nobody listens on, as far as one can know.
func freePort() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}
