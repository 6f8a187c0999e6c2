// Package mcpapi is the MCP door: it serves the gateway's own tools, and
// everybody's, to MCP clients, over streams of messages (stdio) and over
// streamable HTTP, in both eras of the protocol: the stateless one of 2026-07-28
// and, from initialize on, those down to 2024-11-05.
//
// The SDK does transport, handshake, versions and cancellation. Its types lose
// fields of definitions and results, and its AddTool panics on definitions that
// real servers have. So lists and results are answered here, before the SDK
// looks at them, and pass as the servers sent them (see answer). Over a stream,
// calls do not go through the SDK at all (see stream).
//
// Every call takes the gates of package calls. What a call needs of a person or
// of the client while it runs is asked of the client that made it (see peer);
// how that is told apart by era is an errand's business.
//
// Serve owns the goroutines of one stream and ends them. Those of HTTP clients
// are the Door's, and end with Close.
package mcpapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"hash/maphash"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/calls"
	"pointsman/gateway/tools"
)

// Caller takes one tool call through the gates and runs it.
type Caller interface {
	Call(ctx context.Context, call calls.Call) calls.Result
}

// Source is a kind of tools: the gateway's own, or the servers'.
type Source struct {
	Catalogue func() *tools.Catalogue
	Caller    Caller
}

// Options are what a Door is made of.
type Options struct {
	Version string
	Own     Source
	Servers Source
	Library Library
	// Tools returns what is served: all, own or servers.
	Tools func() string
	// Ready waits until no server is connecting any more, or ctx ends.
	Ready func(ctx context.Context) error
	// MaxBodyBytes returns how long an HTTP client's message may be, and any other
	// one's.
	MaxBodyBytes int64
	Logger       *slog.Logger
}

// Client is who comes in over a stream, and what of it is served.
type Client struct {
	Session string   // correlates its calls with others of the same program; "" makes one up
	CWD     string   // where it works; "" when that is not known
	Tools   string   // all | own | servers; "" what the configuration says
	Servers []string // the servers whose tools are served; empty: all
}

// NewSession names a session for a client that has no name for its own.
func NewSession() string { return "mcp-" + rand.Text() }

// Door serves MCP clients. It is safe for concurrent use.
type Door struct {
	opts Options
	web  *service // all HTTP clients
	http http.Handler
	seed maphash.Seed

	notices notices

	mu       sync.Mutex // guards the fields below
	services map[*service]struct{}
	closed   bool
}

// New returns a door. It serves nobody yet.
func New(opts Options) *Door {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Door{opts: opts, seed: maphash.MakeSeed(), services: map[*service]struct{}{}}
	d.web = d.newService(Client{})
	d.http = d.newHTTP()
	return d
}

// closePatience is how long calls in flight may take to end when the door closes.
const closePatience = 5 * time.Second

// Close cancels what HTTP clients wait for and ends their sessions. Streams end
// with the context of Serve.
func (d *Door) Close() {
	d.mu.Lock()
	closed := d.closed
	d.closed = true
	d.mu.Unlock()
	if !closed {
		d.notices.close()
		d.web.end()
	}
}

// Changed is to be called when the tools, or the state of a server, may have
// changed. The clients are told of what has. Several changes soon after each other
// are told once.
func (d *Door) Changed() {
	for _, s := range d.list() {
		s.toolsChanged()
		s.serversChanged()
	}
}

func (d *Door) list() []*service {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]*service, 0, len(d.services))
	for s := range d.services {
		list = append(list, s)
	}
	return list
}

// Serve serves the client at the other end of a stream, one message a line, until
// it closes the stream or ctx ends. What it was waiting for is then cancelled,
// and conn closed.
func (d *Door) Serve(ctx context.Context, conn io.ReadWriteCloser, who Client) error {
	s := d.newService(who)
	defer s.end()
	limit := int(d.opts.MaxBodyBytes)
	if limit <= 0 {
		limit = mcp.DefaultMaxLineLength
	}
	messages := newStream(s, conn, limit)
	s.opened = messages.open
	session, err := s.server.Connect(ctx, &mcp.IOTransport{Reader: messages, Writer: messages, MaxLineLength: -1}, nil)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case <-ctx.Done():
		s.cancel(context.Cause(ctx))
		_ = conn.Close()
		<-ended
		return context.Cause(ctx)
	case err := <-ended:
		_ = conn.Close()
		return err
	}
}

// raw is a JSON document as it came.
type raw = json.RawMessage
