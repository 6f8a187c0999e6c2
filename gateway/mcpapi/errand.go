package mcpapi

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates roots, sampling and logging; clients in use have them all the same.

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/servers"
)

// An errand is what a request of a client has us do. Before 2026-07-28 it takes
// as long as the request, and what the client is asked meanwhile are requests of
// ours. Since then there are none: the client gets a result that says what input
// is required, and sends its request again, with the answers and a token by which
// the errand, which waited, is found (SEP-2322). It goes on where it was, so a
// call that was asked about is the one that runs, whatever else is sent with the
// token.
type errand struct {
	service   *service
	peer      *peer
	party     *party
	call      string // the id of its tool call in the record; "" when it is none
	ctx       context.Context
	cancel    context.CancelCauseFunc
	questions chan *question
	done      chan struct{} // closed when result and err are set
	result    mcp.Result
	err       error

	mu     sync.Mutex           // guards the fields below
	waiter waiter               // zero while the client is asked
	given  mcp.InputResponseMap // what the client has answered before it was asked
}

// waiter is the request that waits for an errand's result.
type waiter struct {
	ctx     context.Context
	session *mcp.ServerSession
	token   any // of progress notifications, or nil
}

// question is one thing that the client is asked.
type question struct {
	key    string // under which it is asked; "" makes one up
	method string
	params raw
	more   int      // how many others are asked with it, by whoever asks
	answer chan raw // size 1
}

// origin says what a question belongs with; the zero value is one by itself.
type origin struct {
	key      string
	together int
}

// errandParams are the parts of a request that an errand is about.
type errandParams struct {
	state   string
	answers mcp.InputResponseMap
	token   any
	call    string // see errand.call
}

// errand begins an errand for a request, or finds the one it goes on with, and
// waits for its result or for what the client has to be asked.
func (s *service) errand(ctx context.Context, req request, p errandParams, do func(context.Context, *errand) (mcp.Result, error)) (mcp.Result, error) {
	if p.state != "" {
		kept := s.kept.take(p.state)
		if kept == nil {
			return nil, invalid("the request state is not known: the call has ended, or was gone on with before")
		}
		kept.e.deliver(kept.asked, p.answers)
		return kept.e.await(ctx, req, p.token)
	}
	e := &errand{service: s, call: p.call, given: p.answers, questions: make(chan *question), done: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	e.peer = newPeer(s, e, req)
	e.attach(ctx, req, p.token)
	if !e.peer.modern {
		return e.atOnce(ctx, req, do)
	}
	if !s.work.begin(func() { e.run(do) }) {
		e.cancel(nil)
		return nil, context.Cause(s.ctx)
	}
	return e.await(ctx, req, p.token)
}

// atOnce does what the errand is for, of a request that takes as long.
func (e *errand) atOnce(ctx context.Context, req request, do func(context.Context, *errand) (mcp.Result, error)) (mcp.Result, error) {
	ctx, unbind := e.service.posts.bind(ctx, req)
	defer unbind()
	defer context.AfterFunc(ctx, func() { e.cancel(errGone) })()
	if !e.service.work.run(func() { e.run(do) }) {
		e.cancel(nil)
		return nil, context.Cause(e.service.ctx)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return e.result, e.err
}

// run does what the errand is for. It ends with its service.
func (e *errand) run(do func(context.Context, *errand) (mcp.Result, error)) {
	s := e.service
	defer context.AfterFunc(s.ctx, func() { e.cancel(context.Cause(s.ctx)) })()
	defer e.cancel(nil)
	defer close(e.done)
	defer e.recovered()
	e.party = s.parties.join(e)
	defer s.parties.leave(e.party, e)
	e.result, e.err = do(context.WithValue(e.ctx, peerKey{}, e.peer), e)
}

// recovered ends the errand, and nothing else, when doing it panics.
func (e *errand) recovered() {
	if p := recover(); p != nil {
		e.service.door.opts.Logger.Error("a request of an MCP client made the gateway panic", "panic", fmt.Sprint(p))
		e.err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "an error inside Pointsman; its log tells more"}
	}
}

// await waits for the end of the errand, or for what the client has to be asked.
// When the request is cancelled, so is the errand.
func (e *errand) await(ctx context.Context, req request, token any) (mcp.Result, error) {
	ctx, cancel := e.service.posts.bind(ctx, req)
	defer cancel()
	e.attach(ctx, req, token)
	select {
	case <-e.done:
		return e.result, e.err
	case q := <-e.questions:
		e.detach()
		return e.require(q)
	case <-ctx.Done():
		e.cancel(errGone)
		<-e.done // soon: everything it waits for has ended
		return nil, context.Cause(ctx)
	}
}

// attach notes that a request waits for the errand, and is told how it gets on.
func (e *errand) attach(ctx context.Context, req request, token any) {
	session, _ := req.GetSession().(*mcp.ServerSession)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiter = waiter{ctx, session, token}
}

func (e *errand) detach() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiter = waiter{}
}

// maxAway is how long a client may take to answer what it was asked.
const maxAway = 30 * time.Minute

// require answers the request with what the client is asked, and keeps the errand
// for when it comes back.
func (e *errand) require(first *question) (mcp.Result, error) {
	asked := e.gather(first)
	type input struct {
		Method string `json:"method"`
		Params raw    `json:"params"`
	}
	inputs := map[string]input{}
	for i, q := range asked {
		if _, taken := inputs[q.key]; taken || q.key == "" {
			q.key = fmt.Sprintf("input_%d", i+1)
		}
		inputs[q.key] = input{q.method, q.params}
	}
	state := rand.Text()
	body, err := json.Marshal(map[string]any{"resultType": "input_required", "inputRequests": inputs, "requestState": state})
	if err != nil {
		e.cancel(err)
		return nil, fmt.Errorf("asking the client: %w", err)
	}
	e.service.kept.put(state, kept{e: e, asked: asked})
	return &answer{body: body}, nil
}

// together is how long it is waited for what else is asked at the same time.
const together = 250 * time.Millisecond

// gather takes what is asked at the same time: the client answers it at once.
func (e *errand) gather(first *question) []*question {
	asked := []*question{first}
	timer := time.NewTimer(together)
	defer timer.Stop()
	for len(asked) <= first.more {
		select {
		case q := <-e.questions:
			asked = append(asked, q)
		case <-timer.C:
			return asked
		}
	}
	for {
		select {
		case q := <-e.questions:
			asked = append(asked, q)
		default:
			return asked
		}
	}
}

// deliver hands on what the client answered. What it did not answer is asked of
// nobody any more.
func (e *errand) deliver(asked []*question, answers mcp.InputResponseMap) {
	for _, q := range asked {
		body, err := json.Marshal(answers[q.key])
		if err != nil {
			body = nil
		}
		q.answer <- body
	}
}

var errUnanswered = errors.New("the client did not answer")

// answered returns, once, what the client has answered to a question of a server's
// before it was asked: it knows from another call what is asked. Questions of our
// own have no key, and cannot be answered so.
func (e *errand) answered(key string) raw {
	e.mu.Lock()
	defer e.mu.Unlock()
	answer, ok := e.given[key]
	if !ok || key == "" {
		return nil
	}
	delete(e.given, key)
	body, err := json.Marshal(answer)
	if err != nil {
		return nil
	}
	return body
}

// ask puts a question to a client of the stateless protocol.
func (e *errand) ask(ctx context.Context, from origin, method string, params raw) (raw, error) {
	if body := e.answered(from.key); body != nil {
		return body, nil
	}
	q := &question{key: from.key, more: from.together - 1, method: method, params: params, answer: make(chan raw, 1)}
	select {
	case e.questions <- q:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case body := <-q.answer:
		if len(body) == 0 || string(body) == "null" {
			return nil, errUnanswered
		}
		return body, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// notify sends progress, if the client wants it and waits.
func (e *errand) notify(progress, total float64, message string) {
	e.mu.Lock()
	w := e.waiter
	e.mu.Unlock()
	if w.token == nil || w.session == nil || w.ctx.Err() != nil {
		return
	}
	_ = w.session.NotifyProgress(w.ctx, &mcp.ProgressNotificationParams{ // a client that has gone cannot be told
		ProgressToken: w.token, Progress: progress, Total: total, Message: message,
	})
}

// log passes on what a server logs because of the errand, if the client wants
// messages of that level and waits.
func (e *errand) log(m servers.LogMessage) {
	e.mu.Lock()
	w := e.waiter
	e.mu.Unlock()
	if w.session == nil || w.ctx.Err() != nil {
		return
	}
	_ = w.session.Log(w.ctx, &mcp.LoggingMessageParams{Level: mcp.LoggingLevel(m.Level), Logger: m.Logger, Data: m.Data}) // as above
}

// kept is an errand whose client was asked something.
type kept struct {
	e     *errand
	asked []*question
	timer *time.Timer
}

// shelf keeps errands by the token under which they are gone on with. The zero
// value is ready.
type shelf struct {
	mu   sync.Mutex // guards the field below
	kept map[string]kept
}

// put keeps an errand until it ends or its client stays away too long.
func (s *shelf) put(state string, k kept) {
	k.timer = time.AfterFunc(maxAway, func() { k.e.cancel(errUnanswered) })
	s.mu.Lock()
	if s.kept == nil {
		s.kept = map[string]kept{}
	}
	s.kept[state] = k
	s.mu.Unlock()
	context.AfterFunc(k.e.ctx, func() { s.take(state) })
}

// take returns an errand once; nil when there is none.
func (s *shelf) take(state string) *kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.kept[state]
	if !ok {
		return nil
	}
	delete(s.kept, state)
	k.timer.Stop()
	return &k
}
