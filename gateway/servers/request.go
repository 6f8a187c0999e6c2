package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// Request is one request to a server that is no tool call.
type Request struct {
	Server string
	Method string          // one of Methods
	Params json.RawMessage // a JSON object, sent as it is; empty means {}
	// Party and Client are as in Call: who answers what the server asks for before
	// it answers the request.
	Party  string
	Client Client
}

// Methods are the methods that Host.Request sends.
func Methods() []string {
	return []string{
		"prompts/list", "prompts/get",
		"resources/list", "resources/templates/list", "resources/read",
		"resources/subscribe", "resources/unsubscribe",
		"completion/complete",
	}
}

// Notice says that something of a server has changed.
type Notice struct {
	Server string
	Method string // ToolsChanged, PromptsChanged, ResourcesChanged or ResourceUpdated
	URI    string // of the resource that was updated; else ""
}

// What a Notice tells: the methods of the servers' notifications.
const (
	ToolsChanged     = "notifications/tools/list_changed" // and they have been listed again
	PromptsChanged   = "notifications/prompts/list_changed"
	ResourcesChanged = "notifications/resources/list_changed"
	ResourceUpdated  = "notifications/resources/updated"
)

func (s *server) tellNotice(method, uri string) {
	s.host.opts.OnNotice(Notice{Server: s.name, Method: method, URI: uri})
}

// Request sends a request and returns its result as the server sent it: order,
// unknown members, and what is absent. It waits at most for the server's
// time-out. A server that is away is connected first.
//
// A *LackingError says that the server has nothing of the kind. A subscription
// ends with the connection: it is for whoever made it to make it again, when the
// server's Live.ConnectionID is another. The error is else an UnavailableError,
// TimeoutError, LostError or ProtocolError, or ctx's own.
func (h *Host) Request(ctx context.Context, r Request) (json.RawMessage, error) {
	if !slices.Contains(Methods(), r.Method) {
		return nil, fmt.Errorf("asking server %q for %q: that is none of %s", r.Server, r.Method, strings.Join(Methods(), ", "))
	}
	if len(r.Params) == 0 {
		r.Params = json.RawMessage("{}")
	}
	if !isObject(r.Params) {
		return nil, fmt.Errorf("asking server %q for %s: the parameters are not a JSON object", r.Server, r.Method)
	}
	s := h.find(r.Server)
	if s == nil {
		return nil, &UnavailableError{Server: r.Server, Status: NotConfigured, Reason: "no server of this name is configured"}
	}
	sess, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	if what := lacking(sess.cs.InitializeResult().Capabilities, r.Method); what != "" {
		return nil, &LackingError{Server: s.name, What: what}
	}
	raw, err := s.ask(ctx, asking{
		method: r.Method, params: params{body: r.Params}, call: Call{Server: s.name, Party: r.Party, Client: r.Client},
	})
	var answer *ProtocolError
	if errors.As(err, &answer) && answer.Code == jsonrpc.CodeMethodNotFound {
		err = &LackingError{Server: s.name, What: kindOf(r.Method)}
	}
	return raw, err
}

// kindOf is what a method is about.
func kindOf(method string) string {
	switch method {
	case "resources/templates/list":
		return "resource templates"
	case "resources/subscribe", "resources/unsubscribe":
		return "resource subscriptions"
	case "completion/complete":
		return "completions"
	case "prompts/list", "prompts/get":
		return "prompts"
	}
	return "resources"
}

// lacking says what a method needs that the server does not announce; "" when it
// announces it.
func lacking(caps *mcp.ServerCapabilities, method string) string {
	if caps == nil {
		caps = &mcp.ServerCapabilities{}
	}
	announced := map[string]bool{
		"prompts":                caps.Prompts != nil,
		"resources":              caps.Resources != nil,
		"resource templates":     caps.Resources != nil,
		"resource subscriptions": caps.Resources != nil && caps.Resources.Subscribe,
		"completions":            caps.Completions != nil,
	}
	if kind := kindOf(method); !announced[kind] {
		return kind
	}
	return ""
}

// subscription returns how a subscription is made or ended where the protocol has
// no requests for that (SEP-2575), else nil: the SDK keeps a stream for each.
func (sess *session) subscription(method string, p params) func(ctx context.Context) (json.RawMessage, error) {
	if !sess.stateless() {
		return nil
	}
	uri, none := gjson.GetBytes(p.body, "uri").Str, json.RawMessage("{}")
	switch method {
	case "resources/subscribe":
		return func(ctx context.Context) (json.RawMessage, error) {
			return none, sess.cs.Subscribe(ctx, &mcp.SubscribeParams{URI: uri})
		}
	case "resources/unsubscribe":
		return func(ctx context.Context) (json.RawMessage, error) {
			return none, sess.cs.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri})
		}
	}
	return nil
}
