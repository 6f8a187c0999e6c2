package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/servers/diagnostics"
	"pointsman/gateway/servers/process"
	"pointsman/gateway/servers/sandbox"
)

// connect makes a connection, shakes hands and lists the tools, all within the
// server's start time-out. id is the connection's.
func (s *server) connect(ctx context.Context, id string) (*session, []Tool, error) {
	if err := s.admitted(); err != nil {
		return nil, nil, fmt.Errorf("starting server %q: %w", s.name, err)
	}
	limit := s.startTimeout()
	late := fmt.Errorf("it was not ready within %s (raise `startTimeout` if it needs longer)", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	sess := newSession(id)
	sess.mark = newMarker(func(flight int64, params json.RawMessage) { s.onLog(sess, flight, params) })
	err := s.open(ctx, sess)
	var tools []Tool
	if err == nil {
		tools, err = s.listTools(ctx, sess)
	}
	if err == nil {
		s.setLogLevel(ctx, sess)
	}
	if err != nil {
		crash := sess.process != nil && ctx.Err() == nil
		if crash {
			err = sess.process.Explain(err)
		}
		sess.close()
		err = s.explain(ctx, sess, err)
		if crash {
			err = &crashError{err}
		}
		return nil, nil, err
	}
	return sess, tools, nil
}

// admitted returns why the server must not be started or reached, or nil.
func (s *server) admitted() error {
	if s.host.opts.Admit == nil {
		return nil
	}
	return s.host.opts.Admit(s.name, s.entry)
}

// crashError says that a process was started, and failed: not that it was slow.
type crashError struct{ error }

func (e *crashError) Unwrap() error { return e.error }

// explain adds what is known of why a connection could not be made.
func (s *server) explain(ctx context.Context, sess *session, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if sess.remote != nil {
		err = sess.remote.explain(err)
	}
	if sess.process == nil {
		return fmt.Errorf("connecting to server %q: %w", s.name, err)
	}
	err = fmt.Errorf("starting server %q (%s): %w", s.name, s.entry.Command, err)
	if line := s.stderr.last(); line != "" {
		err = fmt.Errorf("%w; its last line on stderr: %s", err, line)
	}
	return s.explainConfined(err)
}

// open makes the connection and shakes hands. What it has made when it fails is
// in sess, to be closed.
func (s *server) open(ctx context.Context, sess *session) error {
	switch s.kind {
	case "http":
		remote, err := s.newRemote(ctx, sess)
		if err != nil {
			return err
		}
		sess.remote = remote
		return sess.handshake(ctx, s, remote.streamable())
	case "sse":
		remote, err := s.newRemote(ctx, sess)
		if err != nil {
			return err
		}
		sess.remote = remote
		return s.openWire(ctx, sess, func(ctx context.Context) (mcp.Connection, error) { return connectSSE(ctx, sess) })
	case "builtin":
		reach, _ := s.host.builtin(s.name)
		transport, err := reach(ctx)
		if err != nil {
			return err
		}
		return s.openWire(ctx, sess, transport.Connect)
	default:
		return s.openWire(ctx, sess, func(ctx context.Context) (mcp.Connection, error) { return s.startStdio(ctx, sess) })
	}
}

func (s *server) openWire(ctx context.Context, sess *session, connect func(context.Context) (mcp.Connection, error)) error {
	transport := &wireTransport{connect: connect, onEnd: sess.fail, saw: func(arrow string, msg jsonrpc.Message) { s.see(sess, arrow, msg) }}
	err := sess.handshake(ctx, s, transport)
	sess.wire = transport.wire
	return err
}

// see is shown each message that passes over a wire.
func (s *server) see(sess *session, arrow string, msg jsonrpc.Message) {
	s.noteMessage(sess.id, arrow, msg)
	if arrow != receivedArrow {
		return
	}
	sess.hear()
	if req, ok := msg.(*jsonrpc.Request); ok {
		sess.mark.request(req)
	}
}

// connectSSE opens the stream of events. The SDK ties it to the context it is
// opened with, which must therefore live as long as the session, but not longer
// than ctx as long as it is being opened.
func connectSSE(ctx context.Context, sess *session) (mcp.Connection, error) {
	streaming, cancel := context.WithCancel(context.WithoutCancel(ctx))
	sess.cancel = cancel
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	return sess.remote.sse().Connect(streaming)
}

// startStdio starts the server's process.
func (s *server) startStdio(ctx context.Context, sess *session) (mcp.Connection, error) {
	cmd, hidden, err := s.command(ctx)
	if err != nil {
		return nil, err
	}
	watch, err := watchHidden(hidden)
	if err != nil {
		process.CloseAll(cmd.ExtraFiles)
		return nil, err
	}
	opts := process.Options{
		Guard:  s.host.guard,
		Stderr: func(stderr io.Reader) { s.stderr.follow(stderr, s.noteStderr(sess.id)) },
		Told:   func(what string) { s.note(diagnostics.Debug, diagnostics.Lifecycle, sess.id, "%s", what) },
	}
	if s.confined() {
		opts.Inner = sandbox.Inner
	}
	running, err := process.Start(cmd, opts)
	if err != nil {
		watch.close()
		return nil, err
	}
	sess.wg.Go(func() { watch.run(sess, running) })
	s.note(diagnostics.Debug, diagnostics.Lifecycle, sess.id, "started %s as process %d", cmd.Path, running.PID())
	sess.process = running
	junk := func(line []byte) {
		s.junk.Add(1)
		s.note(diagnostics.Warning, diagnostics.Protocol, sess.id, "a line on stdout is no JSON-RPC and was skipped: %s", line[:min(len(line), maxTailLine)])
	}
	return newStdioConn(running.Stdout, running.Stdin, running.Stop, junk), nil
}

// command returns the entry's command, its references resolved, ready to start,
// and what is hidden from it only as long as nothing else takes its name.
func (s *server) command(ctx context.Context) (_ *exec.Cmd, hidden []string, err error) {
	dir, err := s.directory(ctx)
	if err != nil {
		return nil, nil, err
	}
	box, err := s.box(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	env, path, err := s.environment(ctx, box)
	if err != nil {
		return nil, nil, err
	}
	name, err := s.expand(ctx, "command", s.entry.Command)
	if err != nil {
		return nil, nil, err
	}
	file, path, err := s.host.paths.Find(name, dir, path)
	if err != nil {
		return nil, nil, err
	}
	args := []string{name}
	for i, arg := range s.entry.Args {
		arg, err := s.expand(ctx, fmt.Sprintf("args[%d]", i), arg)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, arg)
	}
	cmd := &exec.Cmd{Path: file, Args: args, Dir: dir, Env: append(env, "PATH="+path, s.host.guard.Variable())}
	if box == nil {
		return cmd, nil, nil
	}
	err = box.Confine(cmd)
	return cmd, box.Fragile(), err
}

// environment returns what the server inherits and what its entry sets, and the
// PATH that the entry sets, or "". box is nil when it is not confined.
func (s *server) environment(ctx context.Context, box *sandbox.Box) (env []string, path string, err error) {
	env = process.Inherited()
	if box != nil {
		env = append(env, box.Env()...)
	}
	for name, ref := range s.entry.Env {
		value, err := s.expandSecret(ctx, "env "+name, string(ref))
		if err != nil {
			return nil, "", err
		}
		env = append(env, name+"="+value)
		if strings.EqualFold(name, "PATH") {
			path = value
		}
	}
	return env, path, nil
}

// directory returns the working directory: the entry's, or the user's home.
func (s *server) directory(ctx context.Context) (string, error) {
	dir := s.entry.Cwd
	if dir == "" {
		dir = s.entry.WorkingDirectory
	}
	if dir == "" {
		return os.UserHomeDir()
	}
	dir, err := s.expand(ctx, "cwd", dir)
	if err != nil {
		return "", err
	}
	dir = process.ExpandHome(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("the working directory %s is not there: correct `cwd`", dir)
	}
	return dir, nil
}
