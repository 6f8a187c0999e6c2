package servers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers/signin"
)

// defaultTimeout is of a call and of a start, where the entry names none.
const defaultTimeout = 60 * time.Second

// server is one configured server. Its goroutine, run, owns the connection.
type server struct {
	// Fixed at creation.
	host    *Host
	name    string
	entry   config.MCPServer
	kind    string // stdio, http, sse, builtin, or "" when not configured
	idle    bool   // there is nothing to run: disabled, not configured, or stopped by the user
	stderr  *tail
	secret  redactor
	onTrial bool // an entry that is only tried out, and signed in to nowhere
	junk    atomic.Int64
	sign    atomic.Pointer[signin.Account] // nil: not remote, or its entry holds the credentials, or not reached yet
	wake    chan struct{}                  // size 1: connect now
	look    chan struct{}                  // size 1: see whether the connection is alive; see Host.Check
	moved   chan struct{}                  // size 1: the roots have changed
	ended   chan struct{}                  // closed when run has returned

	// Set by the host before run starts, under the host's lock.
	cancel context.CancelFunc

	failure    Live   // what was last told of a server that is not connected; run's own
	connection string // the id of the attempt that runs, or ran last; run's own

	mu      sync.Mutex // guards the fields below
	live    Live
	tools   []Tool
	session *session      // nil unless connected
	attempt chan struct{} // closed at the end of the attempt that runs or is next; nil when connected or not running
	prev    *server       // the server of this name before, which ends or has ended; or nil
}

// newServer returns a server that is to run, unless it is not configured to, or
// the user has stopped it.
func newServer(h *Host, name string, entry config.MCPServer, halted bool) *server {
	s := &server{
		host:  h,
		name:  name,
		entry: entry,
		kind:  transportOf(h, name, entry),
		wake:  make(chan struct{}, 1),
		look:  make(chan struct{}, 1),
		moved: make(chan struct{}, 1),
		ended: make(chan struct{}),
		live:  Live{Status: Stopped, Since: time.Now()},
	}
	s.secret.options = &h.opts
	s.stderr = newTail(200, s.secret.clean)
	switch {
	case entry.Disabled:
		s.live.Status = Disabled
	case s.kind == "":
		s.live.Status, s.live.Error = NotConfigured, "the entry has neither command nor url"
	case !halted:
		s.attempt = make(chan struct{})
	}
	s.idle = s.attempt == nil
	return s
}

// builtin is how a server of our own is reached, if there is one of that name.
func (h *Host) builtin(name string) (func(context.Context) (mcp.Transport, error), bool) {
	if reach, ok := h.opts.Builtin[name]; ok {
		return reach, true
	}
	reach, ok := h.opts.Bundled[name]
	return reach, ok
}

func transportOf(h *Host, name string, entry config.MCPServer) string {
	_, builtin := h.builtin(name)
	switch {
	case entry.Command != "" && entry.Type != "http" && entry.Type != "sse" && entry.Type != "streamable-http":
		return "stdio"
	case entry.URL != "" && entry.Type == "sse":
		return "sse"
	case entry.URL != "" && entry.Type != "local" && entry.Type != "stdio":
		return "http"
	case builtin && entry.Command == "" && entry.URL == "":
		return "builtin"
	}
	return ""
}

// end makes run return soon. Called with the host's lock held.
func (s *server) end() {
	if s.cancel != nil {
		s.cancel()
	}
}

// run connects, and connects again, until ctx ends or the server has crashed too
// often.
func (s *server) run(ctx context.Context) {
	defer close(s.ended)
	s.awaitPrevious()
	var past backoff
	for ctx.Err() == nil {
		past.note(s.connectOnce(ctx))
		switch {
		case ctx.Err() != nil:
		case past.exhausted():
			s.rest()
			return
		default:
			s.pause(ctx, past.delay())
		}
	}
	s.stopped()
}

func (s *server) awaitPrevious() {
	s.mu.Lock()
	prev := s.prev
	s.mu.Unlock()
	if prev == nil {
		return
	}
	<-prev.ended // bounded: it was told to end, and does within seconds
	s.mu.Lock()
	s.prev = nil
	s.mu.Unlock()
}

// connectOnce makes one attempt and, if it succeeds, keeps the connection until
// it is lost or ctx ends.
func (s *server) connectOnce(ctx context.Context) outcome {
	select {
	case <-s.wake: // this attempt answers it
	default:
	}
	select {
	case <-s.look: // and this, too
	default:
	}
	s.connection = rand.Text()
	s.setLive(Live{Status: Pending}, nil)
	sess, tools, err := s.connect(ctx, s.connection)
	if err != nil {
		s.attemptFailed(ctx, err)
		var crash *crashError
		return outcome{crashed: errors.As(err, &crash)}
	}
	start := time.Now()
	s.attemptSucceeded(sess, tools)
	err = s.keep(ctx, sess)
	s.leave(ctx, sess, err)
	sess.close()
	return outcome{held: time.Since(start), crashed: sess.process != nil && !isExposed(err)}
}

// relistEvery is how often the tools are listed again at most, however often
// the server says that they have changed.
const relistEvery = 500 * time.Millisecond

// keep lists the tools again when the server says they changed, and returns
// when the connection is lost or ctx ends.
func (s *server) keep(ctx context.Context, sess *session) error {
	changed, quiet := sess.changed, (<-chan time.Time)(nil)
	sess.setRoots(s.host.roots()) // they may have changed while it was being connected
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-sess.lost:
			return sess.cause()
		case <-changed:
			s.relist(ctx, sess)
			changed, quiet = nil, time.After(relistEvery)
		case <-quiet:
			changed, quiet = sess.changed, nil
		case <-s.moved:
			sess.setRoots(s.host.roots())
		case <-s.look:
			s.check(ctx, sess)
		}
	}
}

func (s *server) relist(ctx context.Context, sess *session) {
	ctx, cancel := context.WithTimeout(ctx, s.startTimeout())
	defer cancel()
	tools, err := s.listTools(ctx, sess)
	if err != nil {
		s.host.opts.Logger.Warn("listing the tools again", "server", s.name, "error", s.secret.clean(err.Error()))
		if errors.Is(err, errNotSent) {
			sess.fail(err)
		}
		return
	}
	s.mu.Lock()
	s.tools = tools
	s.mu.Unlock()
	s.tellNotice(ToolsChanged, "")
	s.host.opts.OnChange()
}

// pause waits for the delay to pass, a call to need the server, or ctx to end.
func (s *server) pause(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wake:
	case <-s.look:
	case <-ctx.Done():
	}
}

// setLive makes change and sets live in one step, then says so. Whoever reads
// the fields under the lock sees them agree.
func (s *server) setLive(live Live, change func()) {
	live.Since, live.Error, live.ServerInfo = time.Now(), s.secret.clean(live.Error), s.secret.cleanJSON(live.ServerInfo)
	s.mu.Lock()
	if change != nil {
		change()
	}
	s.live = live
	s.mu.Unlock()
	s.noteLive(live)
	told := []any{"server", s.name, "status", live.Status}
	if live.Error != "" {
		told = append(told, "error", live.Error)
	}
	s.host.opts.Logger.Log(context.Background(), s.levelOf(live), "MCP server", told...)
	s.host.opts.OnChange()
}

// levelOf is how loudly a change is told. A server that fails again and again in
// the same way is told of once.
func (s *server) levelOf(live Live) slog.Level {
	last := s.failure
	switch live.Status {
	case Pending:
		if last.Status != "" {
			return slog.LevelDebug
		}
	case Failed, NeedsAuth, Stopped:
		s.failure = live
		if live.Status == last.Status && live.Error == last.Error {
			return slog.LevelDebug
		}
	case Connected:
		s.failure = Live{}
	}
	return slog.LevelInfo
}

func (s *server) attemptSucceeded(sess *session, tools []Tool) {
	s.setLive(sess.live(), func() {
		s.session, s.tools = sess, tools
		close(s.attempt)
		s.attempt = nil
	})
}

func (s *server) attemptFailed(ctx context.Context, err error) {
	done := s.attempt // only this goroutine sets it
	live := Live{Status: stateOf(err), Error: err.Error()}
	if ctx.Err() != nil {
		live = Live{Status: Stopped} // it was not the server that failed
	}
	s.setLive(live, func() {
		s.tools = nil
		s.attempt = make(chan struct{})
		close(done)
	})
}

// leave lets go of a connection that was lost, or that we end. One that we end
// is shown as it is until it has ended.
func (s *server) leave(ctx context.Context, sess *session, err error) {
	let := func() {
		s.session = nil
		s.attempt = make(chan struct{})
	}
	if ctx.Err() != nil {
		s.mu.Lock()
		let()
		s.mu.Unlock()
	} else {
		s.setLive(Live{Status: Failed, Error: s.whyLost(sess, err)}, let)
	}
	close(sess.released)
}

// whyLost tells why a connection was lost, and how the process has ended.
func (s *server) whyLost(sess *session, err error) string {
	if sess.process == nil || isExposed(err) {
		return fmt.Sprintf("the connection was lost: %v", err)
	}
	reason := fmt.Sprintf("the connection was lost: %v", sess.process.Explain(err))
	if line := s.stderr.last(); line != "" {
		reason += "; its last line on stderr: " + line
	}
	return reason
}

// rest leaves the server alone: it has crashed too often.
func (s *server) rest() {
	s.mu.Lock()
	last := s.live.Error
	s.mu.Unlock()
	reason := fmt.Sprintf("it has crashed %d times soon after its start, and rests until it is started again; the last time: %s", quickCrashes, last)
	s.setLive(Live{Status: Failed, Error: reason}, s.finish)
}

func (s *server) stopped() { s.setLive(Live{Status: Stopped}, s.finish) }

// finish lets go of the calls that wait: there will be no further attempt. It is
// called with the lock held.
func (s *server) finish() {
	s.tools = nil
	close(s.attempt)
	s.attempt = nil
}

func stateOf(err error) State {
	var auth *authError
	if errors.As(err, &auth) {
		return NeedsAuth
	}
	return Failed
}

// ready returns the connection, waiting for the attempt that is under way, or
// starting one.
func (s *server) ready(ctx context.Context) (*session, error) {
	s.mu.Lock()
	sess, attempt, live := s.session, s.attempt, s.live
	s.mu.Unlock()
	switch {
	case sess != nil && !sess.isLost() && sess.silent():
		if err := s.probeOnce(ctx, sess); err != nil {
			return nil, err
		}
		return s.ready(ctx)
	case sess != nil && !sess.isLost():
		return sess, nil
	case sess != nil: // lost a moment ago, and the server's goroutine has yet to see it
		return s.readyAfter(ctx, sess.released)
	case attempt == nil:
		return nil, s.unavailable(live)
	}
	if live.Status != Pending { // no attempt is under way: begin one
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	select {
	case <-attempt:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return nil, s.unavailable(s.live)
	}
	return s.session, nil
}

func (s *server) readyAfter(ctx context.Context, event <-chan struct{}) (*session, error) {
	select {
	case <-event:
		return s.ready(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *server) unavailable(live Live) error {
	reason := live.Error
	switch {
	case reason != "":
	case live.Status == Stopped:
		reason = "it was stopped; start it with `pointsman servers start`, or in the window"
	default:
		reason = "it is not connected"
	}
	return &UnavailableError{Server: s.name, Status: live.Status, Reason: reason}
}

func (s *server) toolList() []Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tools)
}

func (s *server) timeout() time.Duration { return millis(s.entry.Timeout) }

func (s *server) startTimeout() time.Duration { return millis(s.entry.StartTimeout) }

func millis(ms int64) time.Duration {
	if ms <= 0 {
		return defaultTimeout
	}
	return time.Duration(ms) * time.Millisecond
}
