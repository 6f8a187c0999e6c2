package mcpapi

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionTimeout is how long an HTTP session may be idle. Clients of those that
// have ended are told so and begin another.
const sessionTimeout = 24 * time.Hour

// newHTTP returns the handler of HTTP clients. The SDK serves sessions, or the
// protocol that has none, and not both with one handler.
func (d *Door) newHTTP() http.Handler {
	server := func(*http.Request) *mcp.Server { return d.web.server }
	opts := mcp.StreamableHTTPOptions{
		SessionTimeout: sessionTimeout, MaxRequestBodyBytes: d.opts.MaxBodyBytes,
		DisableLocalhostProtection: true, // whoever comes here has passed a stricter guard
	}
	sessions := mcp.NewStreamableHTTPHandler(server, &opts)
	opts.Stateless, opts.PropagateRequestCancellation = true, true
	sessionless := mcp.NewStreamableHTTPHandler(server, &opts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, done := d.web.posts.note(r)
		defer done()
		if r.Header.Get("Mcp-Protocol-Version") >= firstStateless {
			sessionless.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
}

// Handler serves MCP over streamable HTTP. Who may come in is not its business.
func (d *Door) Handler() http.Handler { return d.http }

// postHeader tells a request's handler which HTTP request brought it: the SDK
// hands on headers, and of sessions no context.
const postHeader = "X-Pointsman-Post"

// posts knows the HTTP requests that are open, so that what one waits for ends
// when its client goes away. The zero value is ready.
type posts struct {
	mu   sync.Mutex // guards the field below
	open map[string]context.Context
}

// note notes an HTTP request until done is called.
func (p *posts) note(r *http.Request) (noted *http.Request, done func()) {
	id := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]context.Context{}
	}
	p.open[id] = r.Context()
	r = r.Clone(r.Context())
	r.Header.Set(postHeader, id)
	return r, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, id)
	}
}

// bind returns a context that also ends with the HTTP request that brought req.
func (p *posts) bind(ctx context.Context, req request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	end := func() { cancel(nil) }
	extra := req.GetExtra()
	if extra == nil {
		return ctx, end
	}
	p.mu.Lock()
	post := p.open[extra.Header.Get(postHeader)]
	p.mu.Unlock()
	if post == nil {
		if extra.Header.Get(postHeader) != "" {
			cancel(errGone) // it has ended already
		}
		return ctx, end
	}
	stop := context.AfterFunc(post, func() { cancel(errGone) })
	return ctx, func() { stop(); end() }
}
