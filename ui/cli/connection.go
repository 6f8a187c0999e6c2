package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/servers/scratch"
	"pointsman/ui/port"
)

// connection is a gateway that a command works with: the resident, or one in
// this process. Both are reached the same way.
type connection struct {
	*control.Client
	own *gateway.Gateway // nil when attached to the resident

	close func() error
}

// attached reports whether the gateway is the resident's.
func (c *connection) attached() bool { return c.own == nil }

// Close ends the gateway of this process, or the attachment.
func (c *connection) Close() error { return c.close() }

// opening says what a gateway of this process must be able to do.
type opening struct {
	loading
	noMCP     bool
	start     bool        // connect the MCP servers
	attended  func() bool // nil: nobody can be asked
	anyConfig bool        // a resident with another configuration than the named one will do
	marathons bool        // go on with the marathons that were left, too
}

// open attaches to the resident, or opens a gateway in this process.
func (a *app) open(ctx context.Context, how opening) (*connection, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	client, err := control.Dial(ctx, home)
	if err == nil {
		return a.attach(client, how)
	}
	if !errors.Is(err, control.ErrNoResident) {
		return nil, fmt.Errorf("looking for a running Pointsman: %w", err)
	}
	store, err := a.load(how.loading)
	if err != nil {
		return nil, err
	}
	for _, notice := range store.Notices() {
		a.tell("warning: %s", approvals.Visible(notice.Error()))
	}
	g, err := a.newGateway(ctx, store, home, gateway.Options{NoMCP: how.noMCP, Attended: how.attended, LeaveMarathons: !how.marathons})
	if err != nil {
		return nil, err
	}
	if how.start {
		g.Start()
	}
	return a.local(ctx, g), nil
}

// attach works with the resident, unless the user names another configuration
// than it has.
func (a *app) attach(client *control.Client, how opening) (*connection, error) {
	if other := a.otherConfig(client.Info); other != nil {
		if !how.anyConfig {
			client.Close()
			return nil, fmt.Errorf("%w; stop it first, leave that out, or give this one a home of its own with POINTSMAN_HOME", other)
		}
		a.tell("note: %v", other)
	}
	return &connection{Client: client, close: func() error { client.Close(); return nil }}, nil
}

// otherConfig returns what is wrong when the user names a configuration, and it
// is not the resident's; nil when there is nothing wrong.
func (a *app) otherConfig(info control.Info) error {
	if a.configPath == "" && a.Getenv("POINTSMAN_CONFIG") == "" && a.Getenv("ORCHESTRATOR_CONFIG") == "" {
		return nil
	}
	named, err := config.Find(a.configPath, a.Getenv)
	if err != nil {
		return err
	}
	if info.Config == "" || sameConfig(named, info.Config) {
		return nil
	}
	return fmt.Errorf("the running Pointsman (process %d) has the configuration %s, not %s", info.PID, approvals.Visible(info.Config), approvals.Visible(named))
}

// sameConfig reports whether two paths name the same file.
func sameConfig(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return a == b
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// newGateway makes a gateway of this user's, with what opts leave open filled in.
func (a *app) newGateway(ctx context.Context, store *config.Store, home config.Home, opts gateway.Options) (*gateway.Gateway, error) {
	opts.Config, opts.Home, opts.Version, opts.Keychain, opts.Policy, opts.Demo = store, home, a.Version, a.Keychain, a.Policy, true
	opts.Listen = port.Listen // which says who has an address
	if self, err := os.Executable(); err == nil {
		opts.Guard = []string{self, "guard"}
	}
	if opts.Builtin == nil {
		opts.Bundled = scratchIn(filepath.Join(home.State, "scratch"))
	}
	return gateway.New(ctx, opts)
}

// scratchIn is the built-in scratch server over a folder, which is made when the
// server is first reached.
func scratchIn(folder string) map[string]func(context.Context) (mcp.Transport, error) {
	return map[string]func(context.Context) (mcp.Transport, error){"scratch": func(ctx context.Context) (mcp.Transport, error) {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("making the folder of the scratch server: %w", err)
		}
		return scratch.Transport(folder)(ctx)
	}}
}

// local serves a gateway of this process to its own client.
func (a *app) local(ctx context.Context, g *gateway.Gateway) *connection {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ln, client := control.Local(control.Info{PID: os.Getpid(), Since: time.Now()})
	client.Secret = rand.Text()
	server := controlServer(g, control.Options{Secret: client.Secret})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ctx, ln) }) // it ends when it is told to, and its client sees if it fails
	return &connection{Client: client, own: g, close: func() error {
		g.Desk().Close()
		client.Close()
		stop()
		serving.Wait()
		return g.Close()
	}}
}

// controlServer serves a gateway's control socket. opts says what it has more
// than every gateway.
func controlServer(g *gateway.Gateway, opts control.Options) *control.Server {
	all := views(g)
	maps.Copy(all, opts.Views)
	opts.Gateway, opts.Manager, opts.Views = g, g.Manager(), all
	opts.Open = func() bool { return g.Config().Approvals.Control }
	return control.NewServer(opts)
}

// desk is how this command answers approvals: at its own gateway's desk, or
// through the resident.
func (c *connection) desk() desk {
	if c.own != nil {
		return ownDesk{c.own.Desk()}
	}
	return c.Client
}

// connectPatience is how long a command waits for the MCP servers.
const connectPatience = 15 * time.Second

// awaitServers waits until the servers of this process's gateway are connected,
// and tells which are not. A resident's are as they are.
func (a *app) awaitServers(ctx context.Context, c *connection) error {
	if c.attached() {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	slow := time.AfterFunc(time.Second, func() { a.tell("connecting to the MCP servers …") })
	defer slow.Stop()
	err := c.own.Ready(bounded)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, s := range c.own.Servers() {
		switch {
		case !s.Enabled || s.Live.Status == "connected":
		case err != nil && s.Live.Error == "":
			a.tell("server %s is missing: not connected within %s", approvals.Visible(s.Name), connectPatience)
		default:
			a.tell("server %s is missing: %s", approvals.Visible(s.Name), approvals.Visible(s.Live.Error))
		}
	}
	return nil
}
