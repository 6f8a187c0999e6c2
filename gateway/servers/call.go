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

// call calls a tool of the server, connecting it first if it is away. A request
// that certainly did not reach the server is sent once more, over a new
// connection; one that may have reached it is not.
func (s *server) call(ctx context.Context, call Call) (*Result, error) {
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage("{}")
	}
	if !gjson.ValidBytes(call.Arguments) || !gjson.ParseBytes(call.Arguments).IsObject() {
		return nil, fmt.Errorf("calling tool %q of server %q: the arguments are not a JSON object", call.Tool, s.name)
	}
	var err error
	for range 2 {
		var sess *session
		if sess, err = s.ready(ctx); err != nil {
			return nil, err
		}
		var res *Result
		if res, err = s.callOn(ctx, sess, call); !errors.Is(err, errNotSent) {
			return res, err
		}
		sess.fail(err) // its server goroutine sees to the rest
	}
	return nil, &UnavailableError{Server: s.name, Status: Failed, Reason: s.secret.clean(err.Error())}
}

// callOn sends the call over one connection and waits for its result.
func (s *server) callOn(ctx context.Context, sess *session, call Call) (*Result, error) {
	tool := s.tool(call.Tool)
	if tool.Fault != "" {
		return nil, fmt.Errorf("calling tool %q of server %q: %s", call.Tool, s.name, tool.Fault)
	}
	timeout := s.timeout()
	sending, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := sess.begin(sending, "tools/call", params{
		name:       call.Tool,
		definition: tool.Raw,
		arguments:  call.Arguments,
		progress:   true,
	})
	if err != nil {
		return nil, s.sendError(ctx, sending, call, err)
	}
	defer sess.end(req)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case r := <-req.reply:
			call.report(req.progress)
			return s.result(sess, call, r)
		case p := <-req.progress:
			timer.Reset(timeout)
			call.progress(p)
		case <-timer.C:
			req.cancel("no answer in time")
			return nil, &TimeoutError{Server: s.name, Tool: call.Tool, After: timeout}
		case <-ctx.Done():
			req.cancel("cancelled by the caller")
			return nil, s.cancelled(ctx, call)
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

func (s *server) cancelled(ctx context.Context, call Call) error {
	return fmt.Errorf("calling tool %q of server %q: %w", call.Tool, s.name, context.Cause(ctx))
}

// sendError returns the error of a call that could not be sent, or not wholly.
func (s *server) sendError(ctx, sending context.Context, call Call, err error) error {
	switch {
	case neverSent(err):
		return errors.Join(errNotSent, err)
	case ctx.Err() != nil:
		return s.cancelled(ctx, call)
	case sending.Err() != nil:
		return &TimeoutError{Server: s.name, Tool: call.Tool, After: s.timeout()}
	}
	return &LostError{Server: s.name, Tool: call.Tool, Reason: s.secret.clean(err.Error())}
}

// progress passes one report on.
func (c Call) progress(p Progress) {
	if c.OnProgress != nil {
		c.OnProgress(p)
	}
}

// report passes on what came before the reply.
func (c Call) report(ch <-chan Progress) {
	for {
		select {
		case p := <-ch:
			c.progress(p)
		default:
			return
		}
	}
}

// result turns a reply into a result or a typed error.
func (s *server) result(sess *session, call Call, r reply) (*Result, error) {
	var rpc *jsonrpc.Error
	var auth *authError
	switch {
	case errors.Is(r.err, errNotSent):
		return nil, r.err
	case errors.As(r.err, &rpc):
		return nil, &ProtocolError{Server: s.name, Tool: call.Tool, Code: rpc.Code, Message: s.secret.clean(rpc.Message), Data: s.secret.cleanJSON(rpc.Data)}
	case errors.As(r.err, &auth):
		sess.fail(auth)
		return nil, &UnavailableError{Server: s.name, Status: NeedsAuth, Reason: s.secret.clean(auth.Error())}
	case r.err != nil:
		return nil, &LostError{Server: s.name, Tool: call.Tool, Reason: s.secret.clean(r.err.Error())}
	}
	if sess.meta != nil && gjson.GetBytes(r.result, "resultType").Str == "input_required" {
		return nil, &ProtocolError{
			Server: s.name, Tool: call.Tool, Code: jsonrpc.CodeInvalidRequest,
			Message: "the server asks for input from the user before it goes on, which is not supported",
		}
	}
	return &Result{Raw: r.result, IsError: gjson.GetBytes(r.result, "isError").Bool()}, nil
}
