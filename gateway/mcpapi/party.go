package mcpapi

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates roots, sampling and logging; clients in use have them all the same.

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/servers"
)

// party is one session's client, as the servers see it whose tools it calls: what
// they ask because of its calls is asked of it. It lasts as long as it has
// errands under way, so those that overlap are known to belong together.
type party struct {
	name    string
	session *mcp.ServerSession

	mu      sync.Mutex // guards the field below
	errands []*errand  // under way, the oldest first
}

// parties knows who has errands under way. The zero value is ready.
type parties struct {
	mu   sync.Mutex // guards the field below, and errands of parties when both are held
	list map[*mcp.ServerSession]*party
}

// join counts an errand in with its party's.
func (p *parties) join(e *errand) *party {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.list[e.peer.ss]
	if own == nil {
		own = &party{name: rand.Text(), session: e.peer.ss}
		if p.list == nil {
			p.list = map[*mcp.ServerSession]*party{}
		}
		p.list[e.peer.ss] = own
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	own.errands = append(own.errands, e)
	return own
}

// leave counts an errand out.
func (p *parties) leave(own *party, e *errand) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own.mu.Lock()
	defer own.mu.Unlock()
	kept := own.errands[:0:0]
	for _, other := range own.errands {
		if other != e {
			kept = append(kept, other)
		}
	}
	own.errands = kept
	if len(kept) == 0 {
		delete(p.list, own.session)
	}
}

// errand returns the errand that caused a question: that of the newest call that
// may have, when it is known, else the newest. It is nil when none is under way.
func (p *party) errand(from servers.Origin) *errand {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(from.Calls) - 1; i >= 0; i-- {
		for _, e := range p.errands {
			if e.call != "" && e.call == from.Calls[i].ID {
				return e
			}
		}
	}
	if len(p.errands) == 0 {
		return nil
	}
	return p.errands[len(p.errands)-1]
}

// Abilities says what the client has said it can.
func (p *party) Abilities() servers.Abilities {
	e := p.errand(servers.Origin{})
	if e == nil {
		return servers.Abilities{}
	}
	sampling, elicitation := e.peer.caps.Sampling, e.peer.caps.Elicitation
	return servers.Abilities{
		Sampling: sampling != nil, SamplingTools: sampling != nil && sampling.Tools != nil,
		Form: e.peer.elicits(), URL: elicitation != nil && elicitation.URL != nil,
	}
}

// Sample asks the client's model.
func (p *party) Sample(ctx context.Context, from servers.Origin, params json.RawMessage) (json.RawMessage, error) {
	return p.ask(ctx, from, methodSample, params)
}

// Elicit asks the client's user.
func (p *party) Elicit(ctx context.Context, from servers.Origin, params json.RawMessage) (json.RawMessage, error) {
	return p.ask(ctx, from, methodElicit, params)
}

// HasRoots reports whether the client has said that it has.
func (p *party) HasRoots() bool {
	e := p.errand(servers.Origin{})
	return e != nil && e.peer.caps.RootsV2 != nil
}

// Roots asks the client for the folders it works in.
func (p *party) Roots(ctx context.Context, from servers.Origin) (json.RawMessage, error) {
	return p.ask(ctx, from, methodRoots, raw("{}"))
}

func (p *party) ask(ctx context.Context, from servers.Origin, method string, params raw) (raw, error) {
	e := p.errand(from)
	if e == nil {
		return nil, errors.New("the client's call has ended")
	}
	return e.peer.ask(ctx, origin{from.Key, from.Together}, method, params)
}

// Elicited tells the client that what it was asked to do elsewhere has been done.
func (p *party) Elicited(_, elicitationID string) {
	e := p.errand(servers.Origin{})
	if e == nil {
		return
	}
	e.service.work.begin(func() {
		_ = p.session.NotifyElicitationComplete(e.ctx, &mcp.ElicitationCompleteParams{ElicitationID: elicitationID}) // a client that has gone cannot be told
	})
}
