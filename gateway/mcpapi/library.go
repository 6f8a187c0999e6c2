package mcpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// Library is what the servers have beside tools: prompts, resources, completions.
type Library interface {
	Request(ctx context.Context, r servers.Request) (json.RawMessage, error)
	Servers() []servers.Status
	// Prefix returns what stands before the names of what a server has; "" for
	// nothing.
	Prefix(server string) string
}

// listPatience bounds what one server may take to list what it has: some wait for
// something of their own, and nobody should have to wait for them.
const listPatience = 10 * time.Second

// maxPages bounds the pages of one server's list.
const maxPages = 100

// shelves are the servers whose prompts and resources are served.
func (s *service) shelves() []string {
	var names []string
	if !s.serves("servers") {
		return nil
	}
	for _, status := range s.door.opts.Library.Servers() {
		if status.Live.Status == servers.Connected && s.sees(status.Name) && !Mirror(status) {
			names = append(names, status.Name)
		}
	}
	return names
}

// list asks all servers for what they have of a kind, side by side. A server that
// has none, or does not tell, adds none.
func (s *service) list(ctx context.Context, method, member string, served func(server string, element raw) item) []item {
	names := s.shelves()
	lists := make([][]item, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, listPatience)
			defer cancel()
			elements, err := s.listOf(ctx, name, method, member)
			var lacking *servers.LackingError
			if err != nil && !errors.As(err, &lacking) && ctx.Err() == nil {
				s.door.opts.Logger.Debug("listing what a server has", "server", name, "method", method, "error", err)
			}
			for _, element := range elements {
				lists[i] = append(lists[i], served(name, element))
			}
		})
	}
	wg.Wait()
	var all []item
	seen := map[string]bool{}
	for _, list := range lists {
		for _, it := range list {
			if !seen[it.key] {
				seen[it.key] = true
				all = append(all, it)
			}
		}
	}
	return all
}

// listOf returns the elements of one server's list.
func (s *service) listOf(ctx context.Context, server, method, member string) ([]raw, error) {
	var elements []raw
	cursor := ""
	for range maxPages {
		params := raw("{}")
		if cursor != "" {
			params = fmt.Appendf(nil, `{"cursor":%s}`, models.Quote(cursor))
		}
		body, err := s.door.opts.Library.Request(ctx, servers.Request{Server: server, Method: method, Params: params})
		if err != nil {
			return elements, err
		}
		for _, element := range gjson.GetBytes(body, member).Array() {
			elements = append(elements, raw(element.Raw))
		}
		if cursor = gjson.GetBytes(body, "nextCursor").Str; cursor == "" {
			break
		}
	}
	return elements, nil
}

// listPrompts lists the servers' prompts under names that are made as tools' are.
func (s *service) listPrompts(ctx context.Context, req *mcp.ListPromptsRequest) (mcp.Result, error) {
	s.awaitServers(ctx)
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	return page(req, "prompts", cursor, s.prompts(ctx))
}

func (s *service) prompts(ctx context.Context) []item {
	return s.list(ctx, "prompts/list", "prompts", func(server string, element raw) item {
		name := gjson.GetBytes(element, "name").Str
		offered := tools.OfferedName(s.door.opts.Library.Prefix(server), name)
		return item{key: offered, body: models.WithMember(element, "name", models.Quote(offered)), server: server, own: name}
	})
}

// prompt finds a prompt by the name it is served under.
func (s *service) prompt(ctx context.Context, offered string) (item, bool) {
	for _, it := range s.prompts(ctx) {
		if it.key == offered {
			return it, true
		}
	}
	return item{}, false
}

// getPrompt gets a prompt from its server.
func (s *service) getPrompt(ctx context.Context, req *mcp.GetPromptRequest) (mcp.Result, error) {
	p := req.Params
	return s.errand(ctx, req, errandParams{state: p.RequestState, answers: p.InputResponses, token: p.GetProgressToken()},
		func(ctx context.Context, e *errand) (mcp.Result, error) {
			found, ok := s.prompt(ctx, p.Name)
			if !ok {
				return nil, invalid("unknown prompt %q", p.Name)
			}
			params := map[string]any{"name": found.own}
			if p.Arguments != nil {
				params["arguments"] = p.Arguments
			}
			body, err := s.requestOf(ctx, e, found.server, "prompts/get", params)
			if err != nil {
				return nil, err
			}
			return answered(req, body), nil
		})
}

// complete asks the server of a prompt or resource for completions.
func (s *service) complete(ctx context.Context, req *mcp.CompleteRequest) (mcp.Result, error) {
	p := req.Params
	if p.Ref == nil {
		return nil, invalid("completion needs a ref")
	}
	return s.errand(ctx, req, errandParams{}, func(ctx context.Context, e *errand) (mcp.Result, error) {
		ref, server := *p.Ref, ""
		switch ref.Type {
		case "ref/prompt":
			found, ok := s.prompt(ctx, ref.Name)
			if !ok {
				return nil, invalid("unknown prompt %q", ref.Name)
			}
			server, ref.Name = found.server, found.own
		case "ref/resource":
			places := s.places(ref.URI)
			if len(places) == 0 {
				return nil, invalid("unknown resource %q", ref.URI)
			}
			server, ref.URI = places[0].server, places[0].uri
		default:
			return nil, invalid("completion of %q is not known", ref.Type)
		}
		params := map[string]any{"ref": &ref, "argument": p.Argument}
		if p.Context != nil {
			params["context"] = p.Context
		}
		body, err := s.requestOf(ctx, e, server, "completion/complete", params)
		var lacking *servers.LackingError
		switch {
		case errors.As(err, &lacking):
			body = raw(`{"completion":{"values":[]}}`)
		case err != nil:
			return nil, err
		}
		return answered(req, body), nil
	})
}

// requestOf sends a request to a server for an errand.
func (s *service) requestOf(ctx context.Context, e *errand, server, method string, params map[string]any) (raw, error) {
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("asking server %q for %s: %w", server, method, err)
	}
	body, err := s.door.opts.Library.Request(ctx, servers.Request{Server: server, Method: method, Params: encoded, Party: e.party.name, Client: e.party})
	return body, passedOn(err)
}

// passedOn makes of a server's error the same of ours.
func passedOn(err error) error {
	var refused *servers.ProtocolError
	if errors.As(err, &refused) {
		return &jsonrpc.Error{Code: refused.Code, Message: refused.Message, Data: refused.Data}
	}
	return err
}

// Mirror reports whether a server is a Pointsman: what it serves is ours, or
// another one's that has its own user.
func Mirror(s servers.Status) bool {
	info := gjson.ParseBytes(s.Live.ServerInfo)
	return info.Get("name").Str == ourName && info.Get("title").Str == ourTitle
}

// Who we are, to clients.
const (
	ourName  = "pointsman"
	ourTitle = "Pointsman"
)
