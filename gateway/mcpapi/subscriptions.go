package mcpapi

import (
	"context"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/models"
	"pointsman/gateway/servers"
)

// subscriptions are the resources that clients want to be told of. Each is asked
// of its server once, and again when that is connected anew. The zero value is
// ready.
type subscriptions struct {
	mu   sync.Mutex // guards the field below
	list map[place]*subscription
}

type subscription struct {
	clients    int
	connection string // over which it was asked for
}

// subscribe is asked by the SDK when a client subscribes, in either era.
func (s *service) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	places := s.likely(ctx, req.Params.URI)
	if len(places) == 0 {
		return invalid("unknown resource %q", req.Params.URI)
	}
	at := places[0]
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	sub := s.subs.list[at]
	if sub == nil {
		connection := s.connection(at.server)
		if err := s.tellSubscribed(ctx, at, "resources/subscribe"); err != nil {
			return passedOn(err)
		}
		if s.subs.list == nil {
			s.subs.list = map[place]*subscription{}
		}
		sub = &subscription{connection: connection}
		s.subs.list[at] = sub
	}
	sub.clients++
	return nil
}

// unsubscribe is its end. A server that is away has forgotten it by itself.
func (s *service) unsubscribe(ctx context.Context, req *mcp.UnsubscribeRequest) error {
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	for _, at := range s.places(req.Params.URI) {
		sub := s.subs.list[at]
		if sub == nil {
			continue
		}
		if sub.clients--; sub.clients == 0 {
			delete(s.subs.list, at)
			if s.connection(at.server) == sub.connection {
				return passedOn(s.tellSubscribed(context.WithoutCancel(ctx), at, "resources/unsubscribe"))
			}
		}
		return nil
	}
	return nil
}

// tellSubscribed tells a server that a resource is watched, or is not any more.
func (s *service) tellSubscribed(ctx context.Context, at place, method string) error {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	_, err := s.door.opts.Library.Request(ctx, servers.Request{Server: at.server, Method: method, Params: fmt.Appendf(nil, `{"uri":%s}`, models.Quote(at.uri))})
	return err
}

// connection returns the id of a server's connection; "" when it has none.
func (s *service) connection(server string) string {
	for _, status := range s.door.opts.Library.Servers() {
		if status.Name == server && status.Live.Status == servers.Connected {
			return status.Live.ConnectionID
		}
	}
	return ""
}

// renew asks for the subscriptions again whose servers were connected anew.
func (s *service) renew() {
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	for at, sub := range s.subs.list {
		connection := s.connection(at.server)
		if connection == "" || connection == sub.connection {
			continue
		}
		if err := s.tellSubscribed(s.ctx, at, "resources/subscribe"); err != nil {
			s.door.opts.Logger.Debug("subscribing to a resource again", "server", at.server, "error", err)
			continue
		}
		sub.connection = connection
	}
}

// endSubscriptions ends what the clients have not ended.
func (s *service) endSubscriptions() {
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	for at, sub := range s.subs.list {
		if s.connection(at.server) == sub.connection {
			_ = s.tellSubscribed(context.Background(), at, "resources/unsubscribe") // nobody waits for it
		}
	}
	s.subs.list = nil
}
