// Package servers runs and reaches the MCP servers.
//
// # Lifecycle and ownership
//
// A Host holds one server for each configured entry, and each server is one
// goroutine that owns its connection from the first attempt to the last
// goodbye: connect, list the tools, wait for the connection to be lost, wait a
// little longer after each failure, connect again; one whose process crashes
// again and again is left alone (see backoff). Nobody else opens or closes
// a connection, so two attempts can never run at once; a call that finds its
// server away wakes that goroutine and waits for the outcome of its attempt,
// together with all the others that wait.
//
// Host.Run starts these goroutines, waits for them, and returns when the last
// one has ended. Host.Apply only says what is wanted: an entry that changed is
// a new server, which begins when the old one of that name has ended. Start,
// Stop and Restart replace a server in the same way.
//
// A stdio server is a process group, whose end is the server goroutine's work, or
// a guard process's if we are killed ourselves (see package process).
//
// # What is ours and what is the SDK's
//
// The SDK does the handshake, version negotiation, notifications and the HTTP
// transports. Its types lose fields of tools and results, so tools/list,
// tools/call and the methods of Host.Request are sent as messages of our own
// beside it (see wire), and what the server answered is handed on as it came.
package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers/diagnostics"
	"pointsman/gateway/servers/process"
	"pointsman/gateway/servers/sandbox"
	"pointsman/gateway/servers/signin"
)

// Options configures a Host.
type Options struct {
	// Resolve returns what a reference stands for: keychain:NAME,
	// os.environ/NAME, or one of ${NAME}, ${NAME:-default}, ${env:NAME} and
	// ${keychain:NAME}. If nil, they are used as they are.
	Resolve func(ctx context.Context, ref string) (string, error)
	// Redact takes credentials out of what a server says that is not a result:
	// errors, and lines on its standard error. If nil, only what Resolve
	// returned is taken out.
	Redact func(text string) string
	// RedactJSON is Redact for what a server says of itself, a JSON document.
	// If nil, as for Redact.
	RedactJSON func(raw json.RawMessage) json.RawMessage
	// Logger takes the servers' comings and goings. If nil, nothing is logged.
	Logger *slog.Logger
	// HTTPClient reaches remote servers. If nil, one of the host's own.
	HTTPClient *http.Client
	// Version is ours, as told to the servers. If empty, "dev".
	Version string
	// Guard is the command line of the guard process, which must call process.RunGuard.
	// If empty, there is no guard: servers that ignore a closed stdin outlive
	// us when we are killed.
	Guard []string
	// Records is the directory in which it is noted which processes run, so that
	// the next host ends them should this one and its guard be killed. Hosts may
	// share one. If empty, nothing is noted.
	Records string
	// Builtin are servers of our own, by name. An entry of the same name that
	// has a command or a url takes the place of one.
	Builtin map[string]func(ctx context.Context) (mcp.Transport, error)
	// Bundled are servers of our own that are there while an entry of that name
	// has the type builtin.
	Bundled map[string]func(ctx context.Context) (mcp.Transport, error)
	// Admit returns why a server must not be started or reached; nil when it may
	// be. It is asked before each attempt. If nil, all may.
	Admit func(name string, entry config.MCPServer) error
	// Sandbox is what confined servers have in common. If zero, none can be
	// confined, and those that are to be do not start.
	Sandbox sandbox.Options
	// OnChange is called, without locks held, when a status or a tool list may
	// have changed.
	OnChange func()
	// OnNotice is called, without locks held, when a server says that its prompts
	// or resources have changed. It must not wait: the server's further messages
	// come after it.
	OnNotice func(Notice)
	// Path is the PATH to look for commands in after our own. If empty, the
	// login shell is asked for it when a command is not found.
	Path string
	// Client answers what servers ask of their client. If nil, nothing but roots is
	// answered, unless a call has a client of its own.
	Client Client
	// Announce says what servers are told, when they are connected, that can be
	// asked: of the clients of calls to come, or of Client. If nil, what Client can.
	Announce func() Abilities
	// Keychain keeps the sign-ins to remote servers. If nil, they are kept in
	// memory alone.
	Keychain secrets.Keychain
	// Learn is told the tokens of sign-ins, to be kept out of what is written
	// down. May be nil: then only what servers say is rid of them.
	Learn func(secret string)
	// Tokens is asked for tokens to remote servers before anything else; those
	// whose entry sets Authorization need none. May be nil.
	Tokens signin.TokenHook
	// OnSignIn is told what came of sign-ins, without locks held. May be nil.
	OnSignIn func(signin.Event)
	// Roots are the directories told to servers that ask for them, until SetRoots
	// changes them. The first is what ${workspaceFolder} stands for.
	Roots []string
}

// Host runs the configured servers. Make one with New.
type Host struct {
	opts  Options
	guard *process.Guard
	paths *process.Finder
	notes diagnostics.Log
	signs *signin.Keeper
	ran   atomic.Bool // Run was called

	mu      sync.Mutex         // guards the fields below
	ctx     context.Context    // Run's; nil before
	dirs    []string           // what Options.Roots or SetRoots said
	servers map[string]*server // what is wanted
	last    map[string]*server // by name: the server that was started last
	stopped map[string]bool    // by name: the user has stopped it
	wg      sync.WaitGroup
}

// New returns a host without servers. It starts nothing.
func New(opts Options) *Host {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Version == "" {
		opts.Version = "dev"
	}
	if opts.Redact == nil {
		opts.Redact = func(text string) string { return text }
	}
	if opts.RedactJSON == nil {
		opts.RedactJSON = func(raw json.RawMessage) json.RawMessage { return raw }
	}
	if opts.Resolve == nil {
		opts.Resolve = func(_ context.Context, ref string) (string, error) { return ref, nil }
	}
	if opts.OnChange == nil {
		opts.OnChange = func() {}
	}
	if opts.OnNotice == nil {
		opts.OnNotice = func(Notice) {}
	}
	if opts.HTTPClient == nil {
		opts.HTTPClient = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	h := &Host{
		opts:    opts,
		dirs:    slices.Clone(opts.Roots),
		guard:   process.NewGuard(opts.Guard, opts.Records, opts.Logger),
		paths:   process.NewFinder(opts.Path),
		servers: map[string]*server{},
		last:    map[string]*server{},
		stopped: map[string]bool{},
	}
	h.signs = h.newKeeper()
	return h
}

// Close ends what is done beside the servers: the sign-ins that are under way.
// It may be called more than once, and before Run has returned or without Run.
func (h *Host) Close() { h.signs.Close() }

// Run ends what a killed host has left behind (see Options.Records), connects the
// servers and keeps them connected until ctx ends. It then ends them all, within
// 5 seconds, and returns. It can be called once.
func (h *Host) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if h.ran.Swap(true) {
		return errors.New("running the MCP servers: the host was already run")
	}
	h.guard.Sweep() // what is left behind may be in the way of what is started
	h.mu.Lock()
	h.ctx = ctx
	for _, s := range h.servers {
		h.startLocked(s)
	}
	h.mu.Unlock()

	<-ctx.Done()
	h.awaitStarts()
	h.wg.Wait()
	h.guard.EndLeft()
	h.guard.Close()
	h.opts.HTTPClient.CloseIdleConnections()
	return nil
}

// awaitStarts waits for a start that is under way; later ones see the ended
// context.
func (h *Host) awaitStarts() {
	h.mu.Lock()
	defer h.mu.Unlock()
}

// startLocked starts a server, when the one of its name before it has ended.
func (h *Host) startLocked(s *server) {
	if h.ctx == nil || h.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	s.prev = h.last[s.name]
	s.mu.Unlock()
	if s.idle {
		return
	}
	h.last[s.name] = s
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(h.ctx)
	h.wg.Go(func() {
		defer s.cancel()
		s.run(ctx)
		h.opts.OnChange() // whoever waited for its end shows another state now
	})
}

// Apply sets the servers that are wanted: entries, less those whose name is in
// disabled, plus the built-in ones. Only servers whose entry changed are
// restarted, and those not whose tools alone are offered otherwise. It does not
// wait for any of them.
func (h *Host) Apply(entries map[string]config.MCPServer, disabled []string) {
	wanted := h.wanted(entries, disabled)
	h.mu.Lock()
	for name, s := range h.servers {
		if entry, ok := wanted[name]; !ok || !sameConnection(s.entry, entry) {
			s.end()
			delete(h.servers, name)
		}
	}
	maps.DeleteFunc(h.stopped, func(name string, _ bool) bool { _, ok := wanted[name]; return !ok })
	h.notes.Retain(func(name string) bool { _, ok := wanted[name]; return ok })
	for name, entry := range wanted {
		if h.servers[name] == nil {
			s := newServer(h, name, entry, h.stopped[name])
			h.servers[name] = s
			h.startLocked(s)
		}
	}
	h.mu.Unlock()
	h.opts.OnChange()
}

// sameConnection reports whether two entries come to the same connection. Which
// of its tools are offered, and under what names, is not the connection's
// business.
func sameConnection(a, b config.MCPServer) bool {
	a.Tools, a.Prefix = b.Tools, b.Prefix
	return reflect.DeepEqual(a, b)
}

// wanted returns the entries with the disabled and the built-in ones worked in.
func (h *Host) wanted(entries map[string]config.MCPServer, disabled []string) map[string]config.MCPServer {
	wanted := maps.Clone(entries)
	if wanted == nil {
		wanted = map[string]config.MCPServer{}
	}
	for name := range h.opts.Builtin {
		if _, ok := wanted[name]; !ok {
			wanted[name] = config.MCPServer{}
		}
	}
	for name, entry := range wanted {
		if slices.Contains(disabled, name) {
			entry.Disabled = true
			wanted[name] = entry
		}
	}
	return wanted
}

func (h *Host) list() []*server {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*server, 0, len(h.servers))
	for _, name := range slices.Sorted(maps.Keys(h.servers)) {
		list = append(list, h.servers[name])
	}
	return list
}

func (h *Host) find(name string) *server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.servers[name]
}

// Status returns all configured servers, sorted by name.
func (h *Host) Status() []Status {
	list := h.list()
	status := make([]Status, 0, len(list))
	for _, s := range list {
		status = append(status, s.status())
	}
	return status
}

// Tools returns what the servers advertise, sorted by server, in each server's
// own order. A server that was lost keeps its tools until an attempt to
// reconnect it fails.
func (h *Host) Tools() []Tool {
	var tools []Tool
	for _, s := range h.list() {
		tools = append(tools, s.toolList()...)
	}
	return tools
}

// Stderr returns the last lines, at most 200, a server wrote to stderr.
func (h *Host) Stderr(name string) []string {
	if s := h.find(name); s != nil {
		return s.stderr.lines()
	}
	return nil
}

// Call calls a tool and waits for its result, at most for the server's
// time-out, which progress extends. A server that is away is connected first.
// The error is an UnavailableError, TimeoutError, LostError or ProtocolError,
// or ctx's own.
func (h *Host) Call(ctx context.Context, call Call) (*Result, error) {
	if err := h.awaitSignIn(ctx, call.Server); err != nil {
		return nil, fmt.Errorf("calling tool %q of server %q: waiting for its sign-in: %w", call.Tool, call.Server, err)
	}
	s := h.find(call.Server)
	if s == nil {
		return nil, &UnavailableError{Server: call.Server, Status: NotConfigured, Reason: "no server of this name is configured"}
	}
	return s.call(ctx, call)
}
