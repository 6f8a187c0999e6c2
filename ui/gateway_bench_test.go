package ui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/models/local"
	"pointsman/gateway/secrets"
	"pointsman/ui/desktop"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// gatewayBench is a whole gateway with its configuration file, reached over its
// control socket as in earnest.
type gatewayBench struct {
	tb       testing.TB
	gateway  *gateway.Gateway
	store    *config.Store
	client   *control.Client
	home     config.Home
	path     string // of the configuration file
	keychain secrets.Keychain

	mu    sync.Mutex // guards the field below
	state func(*model.State)
}

// gatewaySetup is how a gatewayBench is. The zero value is a program that nobody
// has configured.
type gatewaySetup struct {
	yaml     string
	env      map[string]string
	keychain secrets.Keychain // nil: one in memory
	tools    int              // of the server "scratch"
	face     theme.Choice     // of a formsBench
	manager  func(control.Manager) control.Manager
	control  func(*control.Options)
	first    bool // nobody has seen the first steps
	noMCP    bool // no server is started
	// local finds the model servers of this machine. If nil, there are none.
	local func(context.Context, *gateway.Gateway) []local.Server
}

// found are the model servers of this machine.
func (s gatewaySetup) found(ctx context.Context, g *gateway.Gateway) []local.Server {
	if s.local == nil {
		return []local.Server{}
	}
	return s.local(ctx, g)
}

func newGatewayBench(t testing.TB, setup gatewaySetup) *gatewayBench {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	b := &gatewayBench{tb: t, path: path, keychain: setup.keychain,
		home: config.Home{Config: path, State: filepath.Join(dir, "state"), Runtime: dir}}
	if b.keychain == nil {
		b.keychain = secrets.Memory()
	}
	b.write(setup.yaml)
	var err error
	if b.store, err = config.Load(config.Options{Path: path, Getenv: func(name string) string { return setup.env[name] }}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	b.gateway, err = gateway.New(ctx, gateway.Options{
		Config: b.store, Home: b.home, Keychain: b.keychain, Version: "test", NoMCP: setup.noMCP, Demo: true, Attended: func() bool { return true },
		Builtin: map[string]func(context.Context) (mcp.Transport, error){"scratch": manyTools(setup.tools)},
	})
	if err != nil {
		stop()
		t.Fatal(err)
	}
	b.gateway.Start()
	wait := b.serve(ctx, setup)
	t.Cleanup(func() { // after what else uses the client
		b.client.Close()
		stop()
		wait()
		if err := b.gateway.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// serve serves the gateway's control socket until ctx ends, and returns what
// waits for that.
func (b *gatewayBench) serve(ctx context.Context, setup gatewaySetup) (wait func()) {
	ln, client := control.Local(control.Info{})
	client.Secret = "secret"
	b.client = client
	opts := control.Options{Gateway: b.gateway, Manager: b.gateway.Manager(), Secret: client.Secret,
		Views: map[string]func(context.Context) any{
			desktop.View: func(context.Context) any { return b.stateNow() },
			"servers":    func(context.Context) any { return b.gateway.Servers() },
			"tools":      func(context.Context) any { return b.gateway.Tools() },
			"models":     func(context.Context) any { return b.models() },
			"health":     func(context.Context) any { return b.gateway.Models().Health() },
			"local":      func(ctx context.Context) any { return setup.found(ctx, b.gateway) },
		}}
	if setup.manager != nil {
		opts.Manager = setup.manager(opts.Manager)
	}
	if setup.control != nil {
		setup.control(&opts)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = control.NewServer(opts).Serve(ctx, ln) }) // it ends when it is told to
	return serving.Wait
}

func (b *gatewayBench) models() []model.CatalogueRow {
	rows := []model.CatalogueRow{}
	for _, m := range b.gateway.Models().List() {
		rows = append(rows, model.CatalogueRow{ID: m.ID, Aliases: m.Aliases, Label: m.Label, Tier: m.Tier, ContextWindow: m.ContextWindow, MaxOutput: m.MaxOutput, Provider: m.OwnedBy, InputCost: m.InputCost, OutputCost: m.OutputCost})
	}
	return rows
}

func (b *gatewayBench) stateNow() model.State {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := desktop.StateOf(b.gateway)
	s.Serving = "127.0.0.1:8640"
	if b.state != nil {
		b.state(&s)
	}
	return s
}

// setState changes what the program's state is said to be.
func (b *gatewayBench) setState(change func(*model.State)) {
	b.mu.Lock()
	defer b.mu.Unlock() // nobody sees the pause
	b.state = change
	b.gateway.Pause(!b.gateway.Paused()) // something that is told of
	b.gateway.Pause(!b.gateway.Paused())
}

// write puts text into the configuration file, as another program does.
func (b *gatewayBench) write(text string) {
	b.tb.Helper()
	if err := os.WriteFile(b.path, []byte(text), 0o600); err != nil {
		b.tb.Fatal(err)
	}
}

// file is what the configuration file holds.
func (b *gatewayBench) file() string {
	b.tb.Helper()
	data, err := os.ReadFile(b.path)
	if err != nil {
		b.tb.Fatal(err)
	}
	return string(data)
}

// wantFile checks what the configuration file holds, and does not.
func (b *gatewayBench) wantFile(want []string, not ...string) {
	b.tb.Helper()
	text := b.file()
	for _, part := range want {
		if !strings.Contains(text, part) {
			b.tb.Errorf("the file does not hold %q:\n%s", part, text)
		}
	}
	for _, part := range not {
		if strings.Contains(text, part) {
			b.tb.Errorf("the file holds %q:\n%s", part, text)
		}
	}
}

// failingKeychain is one that cannot be used.
type failingKeychain struct{ err error }

func (k failingKeychain) Get(context.Context, string) (string, error) { return "", k.err }
func (k failingKeychain) Set(context.Context, string, string) error   { return k.err }
func (k failingKeychain) Delete(context.Context, string) error        { return k.err }
