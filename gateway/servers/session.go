package servers

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/servers/process"
)

// firstStateless is the first protocol version in which each request carries
// what initialize used to say.
const firstStateless = "2026-07-28"

// cancelTimeout bounds telling a server that a call was cancelled.
const cancelTimeout = time.Second

// session is one connection to a server, from the handshake to the end.
type session struct {
	// Fixed when the handshake is done.
	id      string
	cs      *mcp.ClientSession
	wire    *wire            // nil over streamable HTTP
	remote  *remote          // nil for a local server
	process *process.Process // nil for a remote server
	client  *mcp.Client
	info    *mcp.Implementation // what we say that we are
	roots   []string            // that the SDK's client answers with; the server goroutine's own
	mark    *marker             // of what the server sends to its client
	began   time.Time
	cancel  func() // ends what the transport does in the background

	calls    context.Context // of all requests that the SDK sends for us; ends with the session
	endCalls context.CancelFunc

	changed  chan struct{} // size 1: the tool list changed
	lost     chan struct{} // closed when the connection has ended
	released chan struct{} // closed when the server has seen that

	lastID     atomic.Int64
	lastFlight atomic.Int64
	questions  atomic.Int32 // of the server's that are open
	heard      atomic.Int64 // nanoseconds from began to when something last came
	wg         sync.WaitGroup

	mu        sync.Mutex // guards the fields below
	err       error      // why the connection ended
	listeners map[int64]chan Progress
	flights   map[int64]*flight
	elicited  map[string]elicited // by the elicitation's id
	asked     chan struct{}       // closed when the server has said whether it is there; nil when it is not asked
}

// pending is a request that was sent.
type pending struct {
	id       int64
	reply    <-chan reply
	progress <-chan Progress
	cancel   func(reason string)
}

func newSession(id string) *session {
	sess := &session{
		id:        id,
		cancel:    func() {},
		changed:   make(chan struct{}, 1),
		lost:      make(chan struct{}),
		released:  make(chan struct{}),
		listeners: map[int64]chan Progress{},
		flights:   map[int64]*flight{},
		elicited:  map[string]elicited{},
		began:     time.Now(),
	}
	sess.calls, sess.endCalls = context.WithCancel(context.Background())
	sess.lastID.Store(firstWireID)
	return sess
}

// handshake connects the SDK's client over the transport.
func (sess *session) handshake(ctx context.Context, s *server, t mcp.Transport) error {
	h := s.host
	sess.info = &mcp.Implementation{Name: "pointsman", Version: h.opts.Version}
	opts := s.clientOptions(sess, h.announced())
	sess.client = mcp.NewClient(sess.info, opts)
	sess.client.AddReceivingMiddleware(unchecked(opts.ElicitationHandler))
	sess.setRoots(h.roots())
	for _, method := range append(Methods(), "tools/call", "tools/list") {
		if err := mcp.AddSendingCustomMethod[*rawParams, *rawResult](sess.client, rawPrefix+method); err != nil {
			return err
		}
	}
	if _, wired := t.(*wireTransport); !wired {
		sess.client.AddSendingMiddleware(s.notingMethods(sess.id, sentArrow, receivedArrow))
		sess.client.AddReceivingMiddleware(s.notingMethods(sess.id, receivedArrow, sentArrow))
	}
	cs, err := sess.client.Connect(ctx, t, nil)
	if err != nil {
		return err
	}
	sess.cs = cs
	s.secret.setSession(cs.ID())
	sess.wg.Go(func() { sess.fail(cs.Wait()) })
	return nil
}

// stateless reports whether each request carries what initialize used to say.
func (sess *session) stateless() bool {
	return sess.cs.InitializeResult().ProtocolVersion >= firstStateless
}

func (sess *session) toolsChanged() {
	select {
	case sess.changed <- struct{}{}:
	default: // they will be listed again anyway
	}
}

// fail notes why the connection ended; the first reason counts.
func (sess *session) fail(err error) {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	if sess.err != nil {
		return
	}
	if err == nil {
		err = errors.New("the server closed the connection")
	}
	sess.err = err
	close(sess.lost)
}

func (sess *session) cause() error {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	return sess.err
}

func (sess *session) isLost() bool {
	select {
	case <-sess.lost:
		return true
	default:
		return false
	}
}

// close ends the connection, and the process if there is one.
func (sess *session) close() {
	sess.endCalls()
	if sess.wire != nil {
		_ = sess.wire.Close() // first: closing the SDK's session waits for requests in flight
	}
	if sess.cs != nil {
		_ = sess.cs.Close()
	}
	if sess.process != nil {
		sess.process.Stop()
	}
	sess.cancel()
	sess.wg.Wait()
}

func (sess *session) live() Live {
	live := Live{Status: Connected, ConnectionID: sess.id}
	if sess.process != nil {
		live.PID = sess.process.PID()
	}
	if res := sess.cs.InitializeResult(); res != nil {
		live.Protocol = res.ProtocolVersion
		live.ServerInfo, _ = json.Marshal(res.ServerInfo) // plain strings
	}
	return live
}

// sendsHeaders reports whether a call's arguments go into headers, too (see
// withCallHeaders).
func (sess *session) sendsHeaders() bool { return sess.wire == nil && sess.stateless() }

// begin sends a request of our own.
func (sess *session) begin(ctx context.Context, method string, p params) (*pending, error) {
	if sess.stateless() {
		p.fields = p.says.fields(sess.info, sess.cs.InitializeResult().ProtocolVersion)
	}
	req := &pending{id: sess.lastID.Add(1)}
	if p.progress {
		req.progress = sess.listen(req.id)
	}
	err := sess.send(ctx, req, method, p)
	if err != nil {
		sess.unlisten(req.id)
		return nil, err
	}
	return req, nil
}

func (sess *session) send(ctx context.Context, req *pending, method string, p params) (err error) {
	if subscribe := sess.subscription(method, p); subscribe != nil {
		sess.sendBySDK(ctx, req, subscribe)
		return nil
	}
	if sess.wire == nil {
		sess.sendHTTP(ctx, req, method, p)
		return nil
	}
	req.cancel = func(reason string) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
		defer cancel()
		_ = sess.wire.cancel(ctx, req.id, reason) // best effort: the caller leaves in any case
	}
	req.reply, err = sess.wire.begin(ctx, req.id, method, p)
	return err
}

// sendHTTP has the SDK send the request, and wait for its response.
func (sess *session) sendHTTP(ctx context.Context, req *pending, method string, p params) {
	raw := &rawParams{params: p}
	raw.Meta = mcp.Meta{}
	maps.Copy(raw.Meta, p.fields)
	if p.progress {
		raw.Meta["progressToken"] = req.id
	}
	sess.sendBySDK(withFlight(withCallHeaders(ctx, method, p), p.flight), req, func(ctx context.Context) (json.RawMessage, error) {
		res, err := mcp.CallCustomMethod[*rawParams, *rawResult](ctx, sess.cs, rawPrefix+method, raw)
		if err != nil {
			return nil, err
		}
		return res.raw, nil
	})
}

// sendBySDK runs what sends a request and waits for its response.
func (sess *session) sendBySDK(ctx context.Context, req *pending, send func(ctx context.Context) (json.RawMessage, error)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ch := make(chan reply, 1)
	req.reply = ch
	req.cancel = func(string) { cancel() } // the SDK tells the server
	stop := context.AfterFunc(sess.calls, cancel)
	sess.wg.Go(func() {
		defer cancel()
		defer stop()
		res, err := send(ctx)
		if err != nil {
			ch <- reply{err: sess.explain(err)}
			return
		}
		ch <- reply{result: res}
	})
}

// explain returns the SDK's error as one we tell apart.
func (sess *session) explain(err error) error {
	const rejectedByTransport = -32005 // the SDK's mark of a request its transport refused; not the server's word
	var rpc *jsonrpc.Error
	var denied *authError
	switch {
	case errors.As(err, &denied):
		return denied
	case errors.Is(err, errNotSent):
		return err
	case sess.calls.Err() != nil:
		return mcp.ErrConnectionClosed
	case neverSent(err):
		return errors.Join(errNotSent, err)
	case errors.As(err, &rpc) && rpc.Code != rejectedByTransport:
		return rpc
	}
	text := strings.ReplaceAll(err.Error(), rawPrefix, "")
	if sess.remote == nil {
		return errors.New(text)
	}
	return sess.remote.explain(errors.New(text)) // as text: the SDK's mark must not pass for the server's error
}

// neverSent reports whether err says that the server certainly did not take the
// request.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.Is(err, errNotSent) || errors.Is(err, mcp.ErrSessionMissing) || errors.Is(err, mcp.ErrConnectionClosed) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrClosed) ||
		errors.As(err, &op) && op.Op == "dial"
}

// end forgets a request that was answered or given up.
func (sess *session) end(req *pending) { sess.unlisten(req.id) }

func (sess *session) listen(id int64) <-chan Progress {
	ch := make(chan Progress, 16)
	sess.mu.Lock()
	sess.listeners[id] = ch
	sess.mu.Unlock()
	return ch
}

func (sess *session) unlisten(id int64) {
	sess.mu.Lock()
	delete(sess.listeners, id)
	sess.mu.Unlock()
}

// onProgress passes progress on to the call it is about. If that call does not
// keep up, some is dropped.
func (sess *session) onProgress(p *mcp.ProgressNotificationParams) {
	id, ok := tokenID(p.ProgressToken)
	if !ok {
		return
	}
	sess.mu.Lock()
	ch := sess.listeners[id]
	sess.mu.Unlock()
	select {
	case ch <- Progress{Progress: p.Progress, Total: p.Total, Message: p.Message}:
	default:
	}
}

func tokenID(token any) (int64, bool) {
	switch t := token.(type) {
	case float64:
		return int64(t), true
	case int64:
		return t, true
	}
	return 0, false
}

// roundTrip sends a request and waits for its result.
func (sess *session) roundTrip(ctx context.Context, method string, p params) (json.RawMessage, error) {
	req, err := sess.begin(ctx, method, p)
	if err != nil {
		return nil, err
	}
	defer sess.end(req)
	select {
	case r := <-req.reply:
		return r.result, r.err
	case <-ctx.Done():
		req.cancel("cancelled")
		return nil, context.Cause(ctx)
	}
}
