package gateway

import (
	"context"
	"encoding/json"
	"sync"

	"pointsman/gateway/servers"
)

// Request asks an MCP server for its prompts or resources, or for completions,
// and returns the result as the server sent it. See servers.Host.Request for its
// errors. What a server says is shown or passed on, never sent to a model here.
func (g *Gateway) Request(ctx context.Context, r servers.Request) (json.RawMessage, error) {
	return g.host.Request(ctx, r)
}

// ServerNotices has tell called with what the servers say of changes of their
// prompts and resources, until stop is called. tell must not wait: other messages
// of that server come after it.
func (g *Gateway) ServerNotices(tell func(servers.Notice)) (stop func()) {
	return g.listeners.add(tell)
}

// listeners are told of the servers' notices. The zero value is ready.
type listeners struct {
	mu   sync.Mutex // guards the field below
	tell map[*func(servers.Notice)]struct{}
}

func (l *listeners) add(tell func(servers.Notice)) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tell == nil {
		l.tell = map[*func(servers.Notice)]struct{}{}
	}
	l.tell[&tell] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.tell, &tell)
	}
}

func (l *listeners) notify(n servers.Notice) {
	l.mu.Lock()
	all := make([]*func(servers.Notice), 0, len(l.tell))
	for tell := range l.tell {
		all = append(all, tell)
	}
	l.mu.Unlock()
	for _, tell := range all {
		(*tell)(n)
	}
}
