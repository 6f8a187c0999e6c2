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
// in step with them, watch the configuration and do the debug marathons; Close ends
// them, and all that they started, before it returns. Serve's goroutines end with Serve.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/approvals"
	"pointsman/gateway/calls"
	"pointsman/gateway/config"
	"pointsman/gateway/elicit"
	"pointsman/gateway/hooks"
	"pointsman/gateway/httpapi"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/marathon"
	"pointsman/gateway/mcpapi"
	"pointsman/gateway/models"
	"pointsman/gateway/policy"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/signin"
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
	// Elicit puts a question of a server's to a person, in the place of the desk of
	// questions. If nil, that desk is asked.
	Elicit func(context.Context, elicit.Question) (elicit.Answer, error)
	// Attended reports whether a person could answer at the desk. If nil, nobody
	// can, and what the desk is asked is denied at once.
	Attended func() bool
	// HTTPClient reaches the model providers. If nil, one of the gateway's own.
	HTTPClient *http.Client
	// NoMCP keeps the MCP servers from being connected.
	NoMCP bool
	// LeaveMarathons leaves the debug marathons alone that processes which are gone
	// have not ended; otherwise Start goes on with them.
	LeaveMarathons bool
	// Policy returns what the administrator has settled, as it is now. If nil, the
	// machine's own; see policy.System.
	Policy func() *policy.Policy
	// Builtin are MCP servers inside this process, by name.
	Builtin map[string]func(context.Context) (mcp.Transport, error)
	// Bundled are the same, but there only while the configuration has an entry
	// of that name and the type builtin.
	Bundled map[string]func(context.Context) (mcp.Transport, error)
	// Demo offers the scripted demo model.
	Demo bool
	// Keychain holds the secrets. If nil, the system's.
	Keychain secrets.Keychain
	// Tokens is asked for tokens to remote MCP servers, before a sign-in of ours.
	// If nil, there is only that.
	Tokens signin.TokenHook
	// OnSignIn is told what came of sign-ins to MCP servers, and of what Tokens has
	// handed back. It must not block. May be nil.
	OnSignIn func(signin.Event)
	// Guard is the command line of the guard process; see servers.Options.
	Guard []string
	// OnIdle is called some seconds after Start, and after the last run has ended,
	// if none has begun by then. May be nil.
	OnIdle func()
	// OnAlarm is told, in a sentence for a person, of a call that Copilot ran
	// although it was not allowed. It must not wait for long. May be nil.
	OnAlarm func(text string)
	// Redactor learns the secrets, for whatever else of the program tells
	// something. If nil, one of the gateway's own.
	Redactor *secrets.Redactor
	// Listen opens the address of a door that the configuration switches on while
	// the gateway runs. If nil, the system's listener.
	Listen func(ctx context.Context, address string) (net.Listener, error)
	// LogFile is where the program's log is kept, to be told to a person; "" when
	// it is in no file.
	LogFile string
	// LogLevel follows log.level as it changes. May be nil.
	LogLevel *slog.LevelVar
	// Logger takes the program's log. If nil, nothing is logged. What it gets
	// is redacted.
	Logger *slog.Logger
}

// Gateway runs requests. It is safe for concurrent use.
type Gateway struct {
	// fixed at creation
	opts      Options
	log       *slog.Logger
	started   time.Time
	began     *config.Config // what was in force then
	store     *config.Store
	redactor  *secrets.Redactor
	resolver  *secrets.Resolver
	client    *http.Client
	journal   *journal.Journal
	pins      *tools.Pins
	rules     *approvals.Rules
	desk      *approvals.Desk
	questions *elicit.Desk
	gate      *approvals.Gate
	host      *servers.Host
	caller    *calls.Caller
	loop      *loop.Loop
	marathons *marathon.Runner
	events    *loop.Bus
	doorCalls *doorCalls
	door      *mcpapi.Door
	key       *accessKey
	ollama    *ollamaDoor
	hooks     *hooks.Keeper
	attached  attached // sessions of the MCP door

	live      atomic.Pointer[live] // what the configuration in force comes to
	catalogue atomic.Pointer[tools.Catalogue]
	address   atomic.Pointer[string] // where Serve listens; nil before
	active    atomic.Int64           // runs
	runs      sync.WaitGroup         // the same, to wait for
	idle      *time.Timer            // tells Options.OnIdle; nil when nobody wants to know
	changed   chan struct{}          // the servers' tools may have changed
	paused    atomic.Bool            // no call may run
	notices   notices                // what Status tells may have changed
	listeners listeners              // told of what the servers say has changed
	stops     stops                  // cancel the runs
	clocks    clocks                 // tell that the machine has slept
	plans     plans                  // the latest of each session and client

	applying sync.Mutex // held while a configuration is put in force

	building sync.Mutex    // guards the fields below
	built    chan struct{} // closed when the catalogue is next built
	builtFor *live         // the settings that it was built for
	builtOf  []servers.Tool

	entering sync.Mutex // held while a run begins, and while stop is called

	stop     context.CancelCauseFunc // ends what Start began, and the runs
	stopping context.Context
	running  sync.WaitGroup
	closing  sync.Once
}

// New returns a gateway. It opens the journal and starts nothing else.
func New(_ context.Context, opts Options) (*Gateway, error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	g := &Gateway{opts: opts, started: time.Now(), began: opts.Config.Config(), store: opts.Config, redactor: opts.Redactor, changed: make(chan struct{}, 1), built: make(chan struct{})}
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
	g.buildMarathons()
	if err := g.apply(g.store.Config()); err != nil {
		return nil, errors.Join(err, g.journal.Close())
	}
	g.buildDoor()
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
	if o.Policy == nil {
		o.Policy = policy.System
	}
	if o.Config == nil {
		if o.Config, err = config.Load(config.Options{Check: policyCheck(o.Policy)}); err != nil {
			return err
		}
	}
	if o.Keychain == nil {
		o.Keychain = secrets.System()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Redactor == nil {
		o.Redactor = &secrets.Redactor{}
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Listen == nil {
		o.Listen = func(ctx context.Context, address string) (net.Listener, error) {
			var l net.ListenConfig
			return l.Listen(ctx, "tcp", address)
		}
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
		return fmt.Errorf("opening the journal: %w; if %s cannot be used, set POINTSMAN_HOME to a directory that can be written", err, state)
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
	g.rules.Conceal(func(arguments string) bool {
		return string(g.redactor.RedactJSON(json.RawMessage(arguments))) != arguments
	})
	g.desk = approvals.NewDesk(approvals.DeskOptions{Attended: g.attended})
	g.questions = elicit.NewDesk(elicit.Options{Attended: g.opts.Attended})
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
		Resolve: g.resolver.Resolve, Redact: g.redactor.Redact, RedactJSON: g.redactor.RedactJSON, Logger: g.log, Version: g.opts.Version, Guard: g.opts.Guard, Records: filepath.Join(g.opts.Home.State, "servers"),
		Builtin: g.opts.Builtin, Bundled: g.opts.Bundled, OnChange: g.noteChange, OnNotice: g.listeners.notify, Roots: g.store.Config().Roots, Client: person{g}, Announce: g.announced,
		Admit: g.admit, Sandbox: sandboxOf(g.opts.Home, g.store.Path()),
		Keychain: g.opts.Keychain, Learn: g.redactor.Add, Tokens: g.opts.Tokens, OnSignIn: g.opts.OnSignIn,
	})
}

func (g *Gateway) buildLoop() {
	g.doorCalls = newDoorCalls(g.journal, g.gate, g.events, g.redactor.RedactJSON)
	g.catalogue.Store(tools.NewCatalogue(nil, tools.Settings{}))
	opts := g.callOptions()
	opts.Catalogue, opts.Pins, opts.Servers = g.catalogue.Load, g.pins, g.host
	g.caller = calls.New(opts)
	g.hooks = hooks.NewKeeper(hooks.Options{
		Judge: g.hookJudge(calls.Own{File: opts.OwnFile, Folder: opts.OwnFolder}), Gate: opts.Gate, Rules: g.rules, Recorder: opts.Recorder,
		Served: g.served, Paused: g.whyPaused, Alarm: g.alarm, Redact: g.redactor.Redact, Logger: g.log,
	})
	g.loop = loop.New(loop.Options{
		Caller: g.caller, Catalogue: g.catalogue.Load, Settings: g.loopSettings, Recorder: g.journal, Events: g.events,
	})
	g.key = &accessKey{gateway: g}
	g.ollama = &ollamaDoor{gateway: g, again: make(chan struct{}, 1)}
}

// callOptions are what every caller of ours needs, whatever it calls.
func (g *Gateway) callOptions() calls.Options {
	own := newOwnFiles(g.opts.Home, g.store.Path())
	return calls.Options{
		Gate: g.doorCalls, Rules: g.rules, Recorder: g.doorCalls, OwnFile: own.Named, OwnFolder: own.Held,
		Redact: g.redactor.Redact, Logger: g.log, Paused: g.whyPaused,
	}
}

// Start connects the MCP servers and does the debug marathons, in the background.
// It must be called once; Close ends what it starts.
func (g *Gateway) Start() {
	g.running.Go(func() {
		if err := g.host.Run(g.stopping); err != nil && g.stopping.Err() == nil {
			g.log.Error("hosting the MCP servers", "error", err)
		}
	})
	g.running.Go(g.keepCatalogue)
	g.running.Go(g.watchConfig)
	g.running.Go(g.discover)
	g.running.Go(func() { g.marathons.Run(g.stopping) })
	g.idleLater()
}

// Close ends everything: what waits for approval is denied, calls and streams
// are cancelled, the MCP servers are ended, the journal is closed. It may be
// called more than once.
func (g *Gateway) Close() error {
	var err error
	g.closing.Do(func() {
		g.desk.Close()
		g.questions.Close()
		g.entering.Lock()
		g.stop(approvals.ErrShuttingDown)
		g.entering.Unlock()
		g.host.Close()
		g.door.Close()
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

// Desk is the queue of what waits for a person.
func (g *Gateway) Desk() *approvals.Desk { return g.desk }

// Events tells what happens in the runs.
func (g *Gateway) Events() *loop.Bus { return g.events }

// Config is the configuration in force.
func (g *Gateway) Config() *config.Config { return g.live.Load().cfg }

// Models knows who answers.
func (g *Gateway) Models() *models.Router { return g.live.Load().router }

// Servers returns the state of every configured MCP server.
func (g *Gateway) Servers() []servers.Status { return g.host.Status() }

// ServerLog returns the last lines that a server wrote to its standard error,
// without the credentials in them, also those of several lines.
func (g *Gateway) ServerLog(name string) []string {
	return g.cleanLines(g.host.Stderr(name))
}

// cleanLines takes credentials out of lines that belong together.
func (g *Gateway) cleanLines(lines []string) []string {
	if len(lines) == 0 {
		return []string{}
	}
	return strings.Split(g.redactor.Redact(strings.Join(lines, "\n")), "\n")
}

// Handler is the HTTP door's handler, guarded, for a listener of the caller's.
func (g *Gateway) Handler() http.Handler {
	opts := g.doorOptions()
	opts.MCP = g.door.Handler()
	return httpapi.New(opts)
}

// TrustedHandler serves the HTTP door's routes to our own programs, which came
// through the control socket and need no key.
func (g *Gateway) TrustedHandler(door string) http.Handler {
	opts := g.doorOptions()
	opts.Door, opts.Trusted = door, true
	return httpapi.New(opts)
}

func (g *Gateway) doorOptions() httpapi.Options {
	return httpapi.Options{
		Runner: g, Models: g.Models, Status: g.statusAny, Diagnostics: g.Diagnostics, Settings: g.doorSettings,
		Ask: g.askHTTP, Capabilities: func() any { return g.Capabilities() }, Marathons: marathonDoor{g.marathons},
		Version: g.opts.Version, Started: g.started, Logger: g.log,
	}
}
