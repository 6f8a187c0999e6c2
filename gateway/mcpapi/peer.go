package mcpapi

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates roots, sampling and logging; clients in use have them all the same.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// peer is the client that made a request, as far as that request tells.
type peer struct {
	program string // name and version
	session string
	errand  *errand
	ss      *mcp.ServerSession
	caps    *mcp.ClientCapabilities
	modern  bool // it speaks the stateless protocol
}

// peerKey is under which the context of an errand holds its peer.
type peerKey struct{}

func newPeer(s *service, e *errand, req request) *peer {
	p := &peer{program: program(req), session: s.who.Session, errand: e, caps: req.ClientCapabilities(), modern: stateless(req)}
	p.ss, _ = req.GetSession().(*mcp.ServerSession)
	if extra := req.GetExtra(); extra != nil { // over HTTP, where clients of the stateless protocol share a service, and no session
		p.session = cmp.Or(bounded(extra.Header.Get("X-Pointsman-Session")), p.ss.ID())
	}
	if p.caps == nil {
		p.caps = &mcp.ClientCapabilities{}
	}
	return p
}

// elicits reports whether the client can show a form to its user. One that does
// not say which kind it can can do forms.
func (p *peer) elicits() bool {
	e := p.caps.Elicitation
	return e != nil && (e.Form != nil || e.URL == nil)
}

// What clients are asked.
const (
	methodElicit = "elicitation/create"
	methodSample = "sampling/createMessage"
	methodRoots  = "roots/list"
)

// routed returns a context that ends as ctx does and goes, over HTTP, to the client
// with what it waits for: a server's question comes with a context of its own.
func (p *peer) routed(ctx context.Context) context.Context {
	return routed{ctx, p.errand.ctx}
}

// routed has one context's end and another one's values.
type routed struct {
	context.Context
	values context.Context
}

func (r routed) Value(key any) any { return r.values.Value(key) }

// ask asks the client something and returns its result.
func (p *peer) ask(ctx context.Context, from origin, method string, params raw) (raw, error) {
	if p.modern {
		return p.errand.ask(ctx, from, method, params)
	}
	var result any
	var err error
	switch method {
	case methodElicit:
		var asked mcp.ElicitParams
		if err = json.Unmarshal(params, &asked); err == nil {
			result, err = p.ss.Elicit(withForm(p.routed(ctx), &asked), &asked)
		}
	case methodSample:
		var asked mcp.CreateMessageWithToolsParams
		if err = json.Unmarshal(params, &asked); err == nil {
			result, err = p.ss.CreateMessageWithTools(p.routed(ctx), &asked)
		}
	case methodRoots:
		result, err = p.ss.ListRoots(p.routed(ctx), nil)
	default:
		err = fmt.Errorf("clients are not asked for %s", method)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// formKey is under which a context holds the form of an elicitation.
type formKey struct{}

// withForm takes the form out of an elicitation, for send to put it in again: the
// SDK refuses some that the protocol has, and whoever asked checks the answer.
func withForm(ctx context.Context, asked *mcp.ElicitParams) context.Context {
	if asked.URL != "" {
		return ctx
	}
	form := asked.RequestedSchema
	asked.Mode, asked.RequestedSchema = "form", nil
	return context.WithValue(ctx, formKey{}, form)
}

// send is what goes out to clients.
func (s *service) send(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if asked, ok := req.GetParams().(*mcp.ElicitParams); ok {
			asked.RequestedSchema = ctx.Value(formKey{})
			defer func() { asked.RequestedSchema = nil }() // before the SDK looks at the answer
		}
		return next(ctx, method, req)
	}
}
