package mcpapi

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates roots, sampling and logging; clients in use have them all the same.

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/approvals"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// errGone is why a call ends whose client has closed its stream.
var errGone = errors.New("the client has gone")

// service is one MCP server of the SDK's: of one stream's client, or of all HTTP
// clients.
type service struct {
	door   *Door
	who    Client
	server *mcp.Server

	ctx     context.Context // of all that its clients wait for
	cancel  context.CancelCauseFunc
	work    work
	kept    shelf // errands whose client is asked something
	posts   posts
	parties parties
	subs    subscriptions
	told    atomic.Uint64            // digest of the tools that the clients know, or have been told to look at; 0: they are to be told
	reached atomic.Uint64            // the same of the connections to servers
	opened  func(*mcp.ServerSession) // told when a client has initialized its session; of a stream
}

func (d *Door) newService(who Client) *service {
	who.Session = cmp.Or(who.Session, NewSession())
	s := &service{door: d, who: who}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.server = mcp.NewServer(&mcp.Implementation{Name: ourName, Title: ourTitle, Version: d.opts.Version}, &mcp.ServerOptions{
		Instructions: "Pointsman gives you the tools of the user's MCP servers. A risky call waits until the user has approved it, which may take minutes; a denial says why.",
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{ListChanged: true}, Prompts: &mcp.PromptCapabilities{ListChanged: true},
			Resources:   &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
			Completions: &mcp.CompletionCapabilities{}, Logging: &mcp.LoggingCapabilities{},
		},
		SubscribeHandler: s.subscribe, UnsubscribeHandler: s.unsubscribe, InitializedHandler: s.initialized,
	})
	s.server.AddReceivingMiddleware(s.receive)
	s.server.AddSendingMiddleware(s.send)
	s.told.Store(s.digest())
	s.reached.Store(s.connections())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.services[s] = struct{}{}
	return s
}

// initialized is told when a client of before 2026-07-28 has said that it has begun.
func (s *service) initialized(_ context.Context, req *mcp.InitializedRequest) {
	if s.opened != nil {
		s.opened(req.Session)
	}
}

// end cancels what the clients wait for, and waits for it, but not for long: a
// call that cannot be cancelled ends with its server.
func (s *service) end() {
	s.door.mu.Lock()
	delete(s.door.services, s)
	s.door.mu.Unlock()
	s.cancel(approvals.ErrShuttingDown)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for session := range s.server.Sessions() {
			_ = session.Close() // it is closing in any case
		}
		s.work.close()
		s.endSubscriptions()
	}()
	select {
	case <-ended:
	case <-time.After(closePatience):
		s.door.opts.Logger.Warn("not all calls of MCP clients have ended")
	}
}

// work is the goroutines of a service. The zero value is ready.
type work struct {
	mu     sync.Mutex // guards the fields below
	closed bool
	group  sync.WaitGroup
}

// begin runs f, and reports whether it does: not after close.
func (w *work) begin(f func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.group.Go(f)
	}
	return !w.closed
}

// run runs f, and reports whether it has: not after close, which waits for f.
func (w *work) run(f func()) bool {
	w.mu.Lock()
	closed := w.closed
	if !closed {
		w.group.Add(1)
	}
	w.mu.Unlock()
	if closed {
		return false
	}
	defer w.group.Done()
	f()
	return true
}

// close lets no more begin, and waits for what has.
func (w *work) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.group.Wait()
}

// toolsChanged tells the clients, when what is served is not what it was. The SDK
// tells of changes of its own features alone, to whom each era says: a tool that
// nobody sees is put there again.
func (s *service) toolsChanged() {
	if now := s.digest(); s.told.Swap(now) == now {
		return
	}
	s.server.AddTool(&mcp.Tool{Name: "changed", InputSchema: raw(`{"type":"object"}`)}, nil)
}

// serversChanged tells the clients, when other servers are connected than were,
// that there may be other prompts and resources.
func (s *service) serversChanged() {
	if now := s.connections(); s.reached.Swap(now) == now || s.ctx.Err() != nil {
		return
	}
	s.promptsChanged()
	s.resourcesChanged()
	s.work.begin(s.renew)
}

// connections tells two sets of connected servers apart.
func (s *service) connections() uint64 {
	var h maphash.Hash
	h.SetSeed(s.door.seed)
	for _, status := range s.door.opts.Library.Servers() {
		if status.Live.Status == servers.Connected && s.sees(status.Name) {
			_, _ = h.WriteString(status.Name + "\x00" + status.Live.ConnectionID + "\x00") // it never fails
		}
	}
	return h.Sum64()
}

// digest tells two lists of tools apart.
func (s *service) digest() uint64 {
	var h maphash.Hash
	h.SetSeed(s.door.seed)
	for _, e := range s.tools() {
		_, _ = h.WriteString(e.Offered) // it never fails
		_ = h.WriteByte(0)
		_, _ = h.Write(e.Raw)
	}
	return h.Sum64() | 1
}

// request is what every request of a client tells.
type request interface {
	mcp.Request
	ProtocolVersion() string
	ClientInfo() *mcp.Implementation
	ClientCapabilities() *mcp.ClientCapabilities
}

// receive answers what is ours to answer, and leaves the rest to the SDK.
func (s *service) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			return s.listTools(ctx, req)
		case *mcp.CallToolRequest:
			return s.callTool(ctx, req)
		case *mcp.ListPromptsRequest:
			return s.listPrompts(ctx, req)
		case *mcp.GetPromptRequest:
			return s.getPrompt(ctx, req)
		case *mcp.ListResourcesRequest:
			return s.listResources(ctx, req)
		case *mcp.ListResourceTemplatesRequest:
			return s.listTemplates(ctx, req)
		case *mcp.ReadResourceRequest:
			return s.readResource(ctx, req)
		case *mcp.CompleteRequest:
			return s.complete(ctx, req)
		}
		return next(ctx, method, req)
	}
}

// firstStateless is the first protocol version in which each request says what
// initialize used to, and results say of what type they are.
const firstStateless = "2026-07-28"

func stateless(req request) bool { return req.ProtocolVersion() >= firstStateless }

// serves reports whether tools of a kind, own or servers, are served.
func (s *service) serves(kind string) bool {
	what := cmp.Or(s.who.Tools, s.door.opts.Tools())
	return what == "all" || what == kind
}

// tools returns the tools that are served: our own, then the servers'.
func (s *service) tools() []*tools.Entry {
	var list []*tools.Entry
	ours := map[string]bool{}
	if s.serves("own") {
		for _, e := range s.door.opts.Own.Catalogue().Entries() {
			list, ours[e.Offered] = append(list, e), true
		}
	}
	if s.serves("servers") {
		for _, e := range s.door.opts.Servers.Catalogue().Entries() {
			if e.Allowed && s.sees(e.Server) && !ours[e.Offered] { // a server without a prefix may use a name of ours
				list = append(list, e)
			}
		}
	}
	return list
}

// sees reports whether what a server has is served.
func (s *service) sees(server string) bool {
	return len(s.who.Servers) == 0 || slices.Contains(s.who.Servers, server)
}

// find returns a tool by the name it is served under, and what runs it; nil when
// there is none.
func (s *service) find(name string) (*tools.Entry, Caller) {
	if e := s.door.opts.Own.Catalogue().Lookup(name); e != nil && s.serves("own") {
		return e, s.door.opts.Own.Caller
	}
	if e := s.door.opts.Servers.Catalogue().Lookup(name); e != nil && s.serves("servers") && s.sees(e.Server) {
		return e, s.door.opts.Servers.Caller
	}
	return nil, nil
}

// readyPatience is how long a client waits, at most, for servers that are still
// connecting: those that list tools once would else miss them. Whoever is later
// is told of with list_changed.
const readyPatience = 3 * time.Second

func (s *service) awaitServers(ctx context.Context) {
	if !s.serves("servers") {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	_ = s.door.opts.Ready(ctx) // what is there is served
}

// program names the client's program and version, as for requests over HTTP.
func program(req request) string {
	info := req.ClientInfo()
	if info == nil {
		return ""
	}
	name := strings.Join(strings.Fields(info.Name), "-")
	if info.Version != "" {
		name += "/" + info.Version
	}
	return bounded(name)
}

// bounded is a name that a client gives, in valid UTF-8 and not longer than each
// record of its calls can repeat.
func bounded(name string) string {
	const longest = 100 // bytes
	return strings.ToValidUTF8(name[:min(len(name), longest)], "")
}
