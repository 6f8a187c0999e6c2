package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"
)

// asking is one request of ours to a server: a tool call, or another one.
type asking struct {
	server     string // its name, for errors
	method     string
	tool       string // the tool that is called; "" of another request
	params     params
	onProgress func(Progress) // or nil
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
		server: s.name, method: "tools/call", tool: call.Tool, onProgress: call.OnProgress,
		params: params{name: call.Tool, arguments: call.Arguments, progress: true},
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

// askOn sends the request over one connection and waits for its result.
func (s *server) askOn(ctx context.Context, sess *session, a asking) (json.RawMessage, error) {
	tool := s.tool(a.tool)
	if tool.Fault != "" {
		return nil, fmt.Errorf("calling tool %q of server %q: %s", a.tool, s.name, tool.Fault)
	}
	a.params.definition = tool.Raw
	timeout := s.timeout()
	sending, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := sess.begin(sending, a.method, a.params)
	if err != nil {
		return nil, s.sendError(ctx, sending, a, err)
	}
	defer sess.end(req)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case r := <-req.reply:
			a.report(req.progress)
			return s.result(sess, a, r)
		case p := <-req.progress:
			timer.Reset(timeout)
			a.progress(p)
		case <-timer.C:
			req.cancel("no answer in time")
			return nil, &TimeoutError{Server: s.name, Tool: a.tool, Method: a.method, After: timeout}
		case <-ctx.Done():
			req.cancel("cancelled by the caller")
			return nil, a.cancelled(ctx)
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
	return fmt.Errorf("%s: %w", doing(a.server, a.tool, a.method), context.Cause(ctx))
}

// sendError returns the error of a request that could not be sent, or not wholly.
func (s *server) sendError(ctx, sending context.Context, a asking, err error) error {
	switch {
	case neverSent(err):
		return errors.Join(errNotSent, err)
	case ctx.Err() != nil:
		return a.cancelled(ctx)
	case sending.Err() != nil:
		return &TimeoutError{Server: s.name, Tool: a.tool, Method: a.method, After: s.timeout()}
	}
	return &LostError{Server: s.name, Tool: a.tool, Method: a.method, Reason: s.secret.clean(err.Error())}
}

// progress passes one report on.
func (a asking) progress(p Progress) {
	if a.onProgress != nil {
		a.onProgress(p)
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
	case errors.Is(r.err, errNotSent):
		return nil, r.err
	case errors.As(r.err, &rpc):
		return nil, &ProtocolError{Server: s.name, Tool: a.tool, Method: a.method, Code: rpc.Code, Message: s.secret.clean(rpc.Message), Data: s.secret.cleanJSON(rpc.Data)}
	case errors.As(r.err, &auth):
		sess.fail(auth)
		return nil, &UnavailableError{Server: s.name, Status: NeedsAuth, Reason: s.secret.clean(auth.Error())}
	case r.err != nil:
		return nil, &LostError{Server: s.name, Tool: a.tool, Method: a.method, Reason: s.secret.clean(r.err.Error())}
	}
	if sess.meta != nil && gjson.GetBytes(r.result, "resultType").Str == "input_required" {
		return nil, &ProtocolError{
			Server: s.name, Tool: a.tool, Method: a.method, Code: jsonrpc.CodeInvalidRequest,
			Message: "the server asks for input from the user before it goes on, which is not supported",
		}
	}
	return r.result, nil
}
