package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"pointsman/gateway/servers/diagnostics"
)

// asking is one request of ours to a server: a tool call, or another one.
type asking struct {
	method string
	call   Call // of another request, what it has in common with a call: its Tool is ""
	params params
}

// call calls a tool of the server.
func (s *server) call(ctx context.Context, call Call) (*Result, error) {
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage("{}")
	}
	if !isObject(call.Arguments) {
		return nil, fmt.Errorf("calling tool %q of server %q: the arguments are not a JSON object", call.Tool, s.name)
	}
	raw, err := s.ask(ctx, asking{
		method: "tools/call", call: call, params: params{name: call.Tool, arguments: call.Arguments, given: call.Meta, progress: true},
	})
	if err != nil {
		return nil, err
	}
	return &Result{Raw: raw, IsError: gjson.GetBytes(raw, "isError").Bool()}, nil
}

func isObject(raw json.RawMessage) bool {
	return gjson.ValidBytes(raw) && gjson.ParseBytes(raw).IsObject()
}

// ask sends a request and waits for its result, connecting the server first if
// it is away. A request that certainly did not reach the server is sent once
// more, over a new connection; one that may have reached it is not.
func (s *server) ask(ctx context.Context, a asking) (json.RawMessage, error) {
	var err error
	for range 2 {
		var sess *session
		if sess, err = s.ready(ctx); err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if raw, err = s.askOn(ctx, sess, a); !errors.Is(err, errNotSent) {
			return raw, err
		}
		sess.fail(err) // its server goroutine sees to the rest
	}
	return nil, &UnavailableError{Server: s.name, Status: Failed, Reason: s.secret.clean(err.Error())}
}

// askOn sends the request over one connection, and repeats it with what the
// server asks for before it answers.
func (s *server) askOn(ctx context.Context, sess *session, a asking) (json.RawMessage, error) {
	tool := s.tool(a.call.Tool)
	if tool.Fault != "" {
		return nil, fmt.Errorf("calling tool %q of server %q: %s", a.call.Tool, s.name, tool.Fault)
	}
	f, end := sess.beginFlight(ctx, a.call)
	defer end()
	a.params.definition, a.params.flight, a.params.says = tool.Raw, f.id, s.says(a.call)
	rounds := inputRounds{}
	for {
		r, err := s.exchange(ctx, sess, f, a)
		if err != nil {
			return nil, rounds.explain(a, err)
		}
		again, err := s.input(f.ctx, sess, f, r, &rounds)
		switch {
		case ctx.Err() != nil:
			return nil, a.cancelled(ctx)
		case err != nil:
			return nil, &ProtocolError{Server: s.name, Tool: a.call.Tool, Method: a.method, Code: jsonrpc.CodeInvalidRequest, Message: s.secret.clean(err.Error())}
		case again == nil:
			return s.result(sess, a, r)
		}
		a.params.again = *again
	}
}

// says is what a stateless server is told with a request.
func (s *server) says(call Call) statelessMeta {
	says := statelessMeta{able: abilities(call.Client).and(abilities(s.host.opts.Client)), logLevel: call.LogLevel}
	if says.logLevel == "" && (call.OnLog != nil || s.host.notes.Level() != diagnostics.Off) {
		says.logLevel = s.logLevel()
	}
	return says
}

// exchange sends the request once and waits for the reply, at most for the
// server's time-out, which progress extends, and which rests while somebody
// answers a question of the server's.
func (s *server) exchange(ctx context.Context, sess *session, f *flight, a asking) (reply, error) {
	timeout := s.timeout()
	sending, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := sess.begin(sending, a.method, a.params)
	if err != nil {
		if auth := (*authError)(nil); errors.As(err, &auth) {
			return reply{err: auth}, nil
		}
		return reply{}, s.sendError(ctx, sending, a, err)
	}
	defer sess.end(req)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case r := <-req.reply:
			a.report(req.progress)
			if errors.Is(r.err, errNotSent) {
				return reply{}, r.err
			}
			return r, nil
		case p := <-req.progress:
			f.run(timer, timeout)
			a.progress(p)
		case <-f.changed:
			f.run(timer, timeout)
		case <-timer.C:
			req.cancel("no answer in time")
			return reply{}, &TimeoutError{Server: s.name, Tool: a.call.Tool, Method: a.method, After: timeout}
		case <-ctx.Done():
			req.cancel("cancelled by the caller")
			return reply{}, a.cancelled(ctx)
		}
	}
}

// tool returns a tool as the server lists it, or none if it lists none of that
// name: it may have one all the same.
func (s *server) tool(name string) Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tools {
		if t.Name == name {
			return t
		}
	}
	return Tool{}
}

func (a asking) cancelled(ctx context.Context) error {
	return fmt.Errorf("%s: %w", doing(a.call.Server, a.call.Tool, a.method), context.Cause(ctx))
}

// sendError returns the error of a request that could not be sent, or not wholly.
func (s *server) sendError(ctx, sending context.Context, a asking, err error) error {
	switch {
	case neverSent(err):
		return errors.Join(errNotSent, err)
	case ctx.Err() != nil:
		return a.cancelled(ctx)
	case sending.Err() != nil:
		return &TimeoutError{Server: s.name, Tool: a.call.Tool, Method: a.method, After: s.timeout()}
	}
	return &LostError{Server: s.name, Tool: a.call.Tool, Method: a.method, Reason: s.secret.clean(err.Error())}
}

// progress passes one report on.
func (a asking) progress(p Progress) {
	if a.call.OnProgress != nil {
		a.call.OnProgress(p)
	}
}

// report passes on what came before the reply.
func (a asking) report(ch <-chan Progress) {
	for {
		select {
		case p := <-ch:
			a.progress(p)
		default:
			return
		}
	}
}

// result turns a reply into a result or a typed error.
func (s *server) result(sess *session, a asking, r reply) (json.RawMessage, error) {
	var rpc *jsonrpc.Error
	var auth *authError
	switch {
	case errors.As(r.err, &rpc):
		return nil, &ProtocolError{Server: s.name, Tool: a.call.Tool, Method: a.method, Code: rpc.Code, Message: s.secret.clean(rpc.Message), Data: s.secret.cleanJSON(rpc.Data)}
	case errors.As(r.err, &auth):
		if !auth.narrow() {
			sess.fail(auth)
		}
		return nil, &UnavailableError{Server: s.name, Status: NeedsAuth, Reason: s.secret.clean(auth.Error())}
	case r.err != nil:
		return nil, &LostError{Server: s.name, Tool: a.call.Tool, Method: a.method, Reason: s.secret.clean(r.err.Error())}
	}
	return r.result, nil
}
