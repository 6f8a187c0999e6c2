// Package gateway gives any model access to MCP tools. A Gateway owns everything
// below it: the MCP servers, the loop, the approval desk, the journal and the
// HTTP door. It is also the Go API of the program:
//
//	g, err := gateway.New(ctx, gateway.Options{})
//	…
//	defer g.Close()
//	g.Start()
//	answer, err := g.Chat(ctx, gateway.ChatRequest{Prompt: "What is in my folder?"})
//
// Start begins goroutines that host the MCP servers, keep the catalogue of tools
// in step with them, and watch the configuration; Close ends them, and all that
// they started, before it returns. Serve's goroutines end with Serve.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/approvals"
	"pointsman/gateway/calls"
	"pointsman/gateway/config"
	"pointsman/gateway/httpapi"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/models"
	"pointsman/gateway/models/demo"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// Options say what a Gateway is made of. The zero value is a whole gateway with
// the user's own configuration, which denies every risky call: nobody is there
// to be asked.
type Options struct {
	// Config is the configuration. If nil, the user's own is loaded.
	Config *config.Store
	// Home says where state is kept. If zero, the user's own directories.
	Home config.Home
	// Version is our own, as told to servers, providers and clients.
	Version string
	// Approver is asked about risky calls, in the place of the desk, when the
	// configuration says to ask. If nil, the desk is asked.
	Approver approvals.Approver
	// Attended reports whether a person could answer at the desk. If nil, nobody
	// can, and what the desk is asked is denied at once.
	Attended func() bool
	// HTTPClient reaches the model providers. If nil, one of the gateway's own.
	HTTPClient *http.Client
	// NoMCP keeps the MCP servers from being connected.
	NoMCP bool
	// Builtin are MCP servers inside this process, by name.
	Builtin map[string]func(context.Context) (mcp.Transport, error)
	// Demo offers the scripted demo model.
	Demo bool
	// Keychain holds the secrets. If nil, the system's.
	Keychain secrets.Keychain
	// Guard is the command line of the guard process; see servers.Options.
	Guard []string
	// OnIdle is called some seconds after the last run has ended, if no other
	// has begun by then. May be nil.
	OnIdle func()
	// Logger takes the program's log. If nil, nothing is logged. What it gets
	// is redacted.
	Logger *slog.Logger
}

// Gateway runs requests. It is safe for concurrent use.
type Gateway struct {
	// fixed at creation
	opts     Options
	log      *slog.Logger
	started  time.Time
	store    *config.Store
	redactor *secrets.Redactor
	resolver *secrets.Resolver
	client   *http.Client
	journal  *journal.Journal
	pins     *tools.Pins
	rules    *approvals.Rules
	desk     *approvals.Desk
	gate     *approvals.Gate
	host     *servers.Host
	caller   *calls.Caller
	loop     *loop.Loop
	events   *loop.Bus
	key      *accessKey

	live      atomic.Pointer[live] // what the configuration in force comes to
	catalogue atomic.Pointer[tools.Catalogue]
	address   atomic.Pointer[string] // where Serve listens; nil before
	active    atomic.Int64           // runs
	runs      sync.WaitGroup         // the same, to wait for
	idle      *time.Timer            // tells Options.OnIdle; nil when nobody wants to know
	changed   chan struct{}          // the servers' tools may have changed
	paused    atomic.Bool            // no call may run
	notices   notices                // what Status tells may have changed

	building sync.Mutex    // guards the fields below
	built    chan struct{} // closed when the catalogue is next built

	entering sync.Mutex // held while a run begins, and while stop is called

	stop     context.CancelCauseFunc // ends what Start began, and the runs
	stopping context.Context
	running  sync.WaitGroup
	closing  sync.Once
}

// live is what follows from one configuration. It never changes.
type live struct {
	cfg        *config.Config
	router     *models.Router
	classifier *tools.Classifier
}

// New returns a gateway. It opens the journal and starts nothing else.
func New(_ context.Context, opts Options) (*Gateway, error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	g := &Gateway{opts: opts, started: time.Now(), store: opts.Config, redactor: &secrets.Redactor{}, changed: make(chan struct{}, 1), built: make(chan struct{})}
	g.log = slog.New(secrets.NewHandler(opts.Logger.Handler(), g.redactor))
	g.resolver = secrets.NewResolver(opts.Keychain, g.store.LookupEnv, g.redactor)
	g.client = opts.HTTPClient
	if g.client == nil {
		g.client = models.NewHTTPClient()
	}
	g.stopping, g.stop = context.WithCancelCause(context.Background())
	g.events = loop.NewBus()
	if opts.OnIdle != nil {
		g.idle = stoppedTimer(g.tellIdle)
	}
	if err := g.openState(); err != nil {
		return nil, err
	}
	g.buildApprovals()
	g.buildServers()
	g.buildLoop()
	if err := g.apply(g.store.Config()); err != nil {
		return nil, errors.Join(err, g.journal.Close())
	}
	return g, nil
}

// complete fills what the caller left open.
func (o *Options) complete() error {
	var err error
	if o.Home == (config.Home{}) {
		if o.Home, err = config.Locate(os.Getenv); err != nil {
			return err
		}
	}
	if o.Config == nil {
		if o.Config, err = config.Load(config.Options{}); err != nil {
			return err
		}
	}
	if o.Keychain == nil {
		o.Keychain = secrets.System()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	return nil
}

// openState opens the journal and the pins.
func (g *Gateway) openState() error {
	state := g.opts.Home.State
	if err := os.MkdirAll(state, 0o700); err != nil {
		return fmt.Errorf("making the state directory %s: %w; set POINTSMAN_HOME to a directory that can be written", state, err)
	}
	cfg := g.store.Config()
	var err error
	g.journal, err = journal.Open(filepath.Join(state, "journal.db"), journal.Options{
		KeepDays: cfg.Journal.KeepDays, MaxMB: cfg.Journal.MaxMB, Results: cfg.Journal.Results,
		Redact: g.redactor.Redact, RedactJSON: g.redactor.RedactJSON, Logger: g.log,
	})
	if err != nil {
		return fmt.Errorf("opening the journal: %w", err)
	}
	if aside := g.journal.SetAside(); aside != "" {
		g.log.Error("the journal was damaged; it was kept aside and a new one was begun", "kept", aside)
	}
	g.pins, err = tools.OpenPins(filepath.Join(state, "pins.json"))
	if err != nil {
		g.log.Warn("the pinned tool definitions cannot be read; every tool asks until it is accepted again", "error", err)
	}
	return nil
}

func (g *Gateway) buildApprovals() {
	g.rules = approvals.NewRules(nil, g.saveRules)
	g.desk = approvals.NewDesk(approvals.DeskOptions{Attended: g.attended})
	g.gate = approvals.NewGate(approvals.GateOptions{Require: true, Rules: g.rules, Logger: g.log})
}

// attended reports whether somebody could answer at the desk.
func (g *Gateway) attended() bool {
	return g.opts.Attended != nil && g.opts.Attended() || g.live.Load().cfg.Approvals.Control
}

// person is who is asked when a person has to be.
func (g *Gateway) person() approvals.Approver {
	if g.opts.Approver != nil {
		return g.opts.Approver
	}
	return g.desk
}

func (g *Gateway) buildServers() {
	g.host = servers.New(servers.Options{
		Resolve: g.resolver.Resolve, Logger: g.log, HTTPClient: nil, Version: g.opts.Version, Guard: g.opts.Guard,
		Builtin: g.opts.Builtin, OnChange: g.noteChange, Roots: g.store.Config().Roots,
	})
}

func (g *Gateway) buildLoop() {
	g.catalogue.Store(tools.NewCatalogue(nil, tools.Settings{}))
	g.caller = calls.New(calls.Options{
		Catalogue: g.catalogue.Load, Pins: g.pins, Servers: g.host, Gate: g.gate, Rules: g.rules,
		Recorder: g.journal, OwnFile: ownFiles(g.opts.Home, g.store.Path()), Logger: g.log,
		Paused: g.whyPaused,
	})
	g.loop = loop.New(loop.Options{
		Caller: g.caller, Catalogue: g.catalogue.Load, Settings: g.loopSettings, Recorder: g.journal, Events: g.events,
	})
	g.key = &accessKey{gateway: g}
}

func (g *Gateway) loopSettings() loop.Settings {
	t := g.live.Load().cfg.Tools
	s := loop.Settings{MaxRounds: t.MaxRounds, Parallel: t.Parallel, PlanMode: t.PlanMode}
	if t.LoopDetection.Enabled {
		s.LoopSoft, s.LoopHard = t.LoopDetection.Soft, t.LoopDetection.Hard
	}
	return s
}

// apply puts a configuration in force, touching only what differs.
func (g *Gateway) apply(cfg *config.Config) error {
	next := &live{cfg: cfg}
	var err error
	options := models.Options{Resolve: g.resolver.Resolve, Client: g.client, Redact: g.redactor.Redact, UserAgent: "pointsman/" + g.opts.Version, Logger: g.log}
	if g.opts.Demo {
		options.Demo = demo.Transport{Pace: 25 * time.Millisecond}
	}
	if next.router, err = models.NewRouter(cfg, options); err != nil {
		return err
	}
	if next.classifier, err = tools.NewClassifier(cfg.Tools.Risky, cfg.Tools.Safe); err != nil {
		return fmt.Errorf("reading tools.risky and tools.safe: %w", err)
	}
	approver, err := approvals.ForMode(cfg.Approvals.Approver, g.person(), cfg.Approvals.Allow, cfg.Approvals.Deny)
	if err != nil {
		return err
	}
	if err := g.rules.Load(fromConfig(cfg.Approvals.Rules)); err != nil {
		g.log.Warn("some remembered approvals are not usable", "error", err)
	}
	for _, secret := range cfg.LiteralSecrets() {
		g.redactor.Add(secret)
	}
	if old := g.live.Load(); old != nil {
		next.router.Inherit(old.router)
	}
	g.live.Store(next)
	g.gate.Configure(approvals.Settings{
		Require: cfg.Approvals.Require, Approver: approver, Person: g.person(), Timeout: time.Duration(cfg.Approvals.Timeout),
	})
	if !g.opts.NoMCP {
		g.host.Apply(cfg.MCPServers, cfg.DisabledMCPServers)
	}
	g.noteChange()
	return nil
}

// watchConfig puts the file's changes in force as they are made. A change that
// is not valid, or that would loosen a gate, is reported and not applied.
func (g *Gateway) watchConfig() {
	err := g.store.Watch(g.stopping, func(change config.Change) {
		switch {
		case change.Err != nil:
			g.log.Error("the changed configuration is not valid; the running settings stay", "error", change.Err)
			return
		case len(change.Held) > 0:
			g.log.Warn("parts of the changed configuration loosen a gate; they wait for the next start", "held", change.Held)
		}
		if parts := needRestart(change.Old, change.New); len(parts) > 0 {
			g.log.Warn("parts of the changed configuration take effect at the next start", "parts", parts)
		}
		if err := g.apply(change.New); err != nil {
			g.log.Error("the changed configuration cannot be applied; the running settings stay", "error", err)
			return
		}
		if !reflect.DeepEqual(change.Old.Providers, change.New.Providers) {
			g.running.Go(g.discover)
		}
	})
	if err != nil && g.stopping.Err() == nil {
		g.log.Warn("the configuration file is not watched; changes need a restart", "error", err)
	}
}

// needRestart names what differs and is read at the start alone.
func needRestart(old, new *config.Config) []string {
	var parts []string
	if old.Gateway.Listen != new.Gateway.Listen {
		parts = append(parts, "gateway.listen")
	}
	if old.Journal != new.Journal {
		parts = append(parts, "journal")
	}
	if !slices.Equal(old.Roots, new.Roots) {
		parts = append(parts, "roots")
	}
	if old.Log != new.Log {
		parts = append(parts, "log")
	}
	return parts
}

// noteChange makes the catalogue be built anew soon.
func (g *Gateway) noteChange() {
	g.notices.notify()
	select {
	case g.changed <- struct{}{}:
	default: // it will be, already
	}
}

// Start connects the MCP servers, in the background. It must be called once;
// Close ends what it starts.
func (g *Gateway) Start() {
	g.running.Go(func() {
		if err := g.host.Run(g.stopping); err != nil && g.stopping.Err() == nil {
			g.log.Error("hosting the MCP servers", "error", err)
		}
	})
	g.running.Go(g.keepCatalogue)
	g.running.Go(g.watchConfig)
	g.running.Go(g.discover)
}

// discover asks the providers for their models.
func (g *Gateway) discover() { g.Models().Discover(g.stopping) }

// keepCatalogue builds the catalogue whenever the servers' tools have changed.
func (g *Gateway) keepCatalogue() {
	for {
		select {
		case <-g.changed:
			g.buildCatalogue()
		case <-g.stopping.Done():
			return
		}
	}
}

// Ready waits until no MCP server is connecting any more (each is connected, or
// has failed to) and the tools of the connected ones can be called, or until
// ctx ends.
func (g *Gateway) Ready(ctx context.Context) error {
	for {
		g.building.Lock()
		built := g.built
		g.building.Unlock()
		if !g.connecting() {
			g.buildCatalogue()
			return nil
		}
		select {
		case <-built:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// connecting reports whether a server is on its way.
func (g *Gateway) connecting() bool {
	for _, status := range g.host.Status() {
		if status.Enabled && (status.Live.Status == servers.Pending || status.Live.Status == servers.Stopped) {
			return true
		}
	}
	return false
}

func (g *Gateway) buildCatalogue() {
	g.building.Lock()
	defer g.building.Unlock()
	defer func() { close(g.built); g.built = make(chan struct{}) }()
	live := g.live.Load()
	var defs []tools.Definition
	for _, t := range g.host.Tools() {
		def, err := tools.Parse(t.Server, t.Raw, t.Trusted)
		if err != nil {
			g.log.Warn("a tool is left out", "server", t.Server, "tool", t.Name, "error", err)
			continue
		}
		if g.pins.Check(def).Changed {
			if err := g.rules.Void(def.Server, def.Name, def.Hash); err != nil {
				g.log.Error("ending the remembered approvals of a changed tool", "server", def.Server, "tool", def.Name, "error", err)
			}
		}
		defs = append(defs, def)
	}
	g.catalogue.Store(tools.NewCatalogue(defs, toolSettings(live)))
	g.notices.notify()
	if err := g.pins.Save(); err != nil {
		g.log.Error("saving the pinned tool definitions", "error", err)
	}
}

func toolSettings(live *live) tools.Settings {
	s := tools.Settings{
		Allowed: live.cfg.Tools.Allowed, PerServer: map[string][]string{}, Prefix: map[string]string{},
		Classifier: live.classifier, MaxOffered: live.cfg.Tools.MaxOffered,
	}
	for name, entry := range live.cfg.MCPServers {
		s.PerServer[name] = entry.Tools
		if entry.Prefix != nil {
			s.Prefix[name] = *entry.Prefix
		}
	}
	return s
}

// Close ends everything: what waits for approval is denied, calls and streams
// are cancelled, the MCP servers are ended, the journal is closed. It may be
// called more than once.
func (g *Gateway) Close() error {
	var err error
	g.closing.Do(func() {
		g.desk.Close()
		g.entering.Lock()
		g.stop(approvals.ErrShuttingDown)
		g.entering.Unlock()
		g.running.Wait()
		g.awaitRuns()
		if g.idle != nil {
			g.idle.Stop()
		}
		g.client.CloseIdleConnections()
		err = errors.Join(g.pins.Save(), g.journal.Close())
	})
	return err
}

// awaitRuns lets the runs end their rows in the journal. One whose caller does
// not read does not keep us for long.
func (g *Gateway) awaitRuns() {
	ended := make(chan struct{})
	go func() { g.runs.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(shutdownPatience):
		g.log.Warn("not all runs have ended", "runs", g.active.Load())
	}
}

// enter counts a run in, unless the gateway closes.
func (g *Gateway) enter() bool {
	g.entering.Lock()
	defer g.entering.Unlock()
	if g.stopping.Err() != nil {
		return false
	}
	g.runs.Add(1)
	g.active.Add(1)
	g.notices.notify()
	return true
}

// Desk is the queue of what waits for a person.
func (g *Gateway) Desk() *approvals.Desk { return g.desk }

// Events tells what happens in the runs.
func (g *Gateway) Events() *loop.Bus { return g.events }

// Config is the configuration in force.
func (g *Gateway) Config() *config.Config { return g.live.Load().cfg }

// Models knows who answers.
func (g *Gateway) Models() *models.Router { return g.live.Load().router }

// Tools returns every tool of every server, offered or not, and why not.
func (g *Gateway) Tools() []tools.Row {
	rows := []tools.Row{}
	for _, entry := range g.catalogue.Load().Entries() {
		rows = append(rows, entry.Row())
	}
	return rows
}

// Servers returns the state of every configured MCP server.
func (g *Gateway) Servers() []servers.Status { return g.host.Status() }

// ServerLog returns the last lines that a server wrote to its standard error.
func (g *Gateway) ServerLog(name string) []string { return g.host.Stderr(name) }

// Handler is the HTTP door's handler, guarded, for a listener of the caller's.
func (g *Gateway) Handler() http.Handler {
	return httpapi.New(httpapi.Options{
		Runner: g, Models: g.Models, Status: g.statusAny, Settings: g.doorSettings,
		Version: g.opts.Version, Started: g.started, Logger: g.log,
	})
}

// TrustedHandler serves the HTTP door's routes to our own programs, which came
// through the control socket and need no key.
func (g *Gateway) TrustedHandler(door string) http.Handler {
	return httpapi.New(httpapi.Options{
		Runner: g, Models: g.Models, Status: g.statusAny, Settings: g.doorSettings,
		Version: g.opts.Version, Started: g.started, Logger: g.log, Door: door, Trusted: true,
	})
}

// Run runs one request; it is what the doors call. When the gateway closes, the
// request ends.
func (g *Gateway) Run(ctx context.Context, req loop.Request) (*loop.Result, error) {
	if !g.enter() {
		return nil, approvals.ErrShuttingDown
	}
	defer g.ended()
	defer g.runs.Done()
	defer g.rules.EndRun(req.Run)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(g.stopping, func() { cancel(approvals.ErrShuttingDown) })()
	return g.loop.Run(ctx, req)
}
