package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/mcpapi"
	"pointsman/gateway/mcpapi/relay"
	"pointsman/gateway/servers/process"
)

// sessionVariable is where the Copilot CLI and SDK name their session.
const sessionVariable = "COPILOT_AGENT_SESSION_ID"

func (a *app) mcpCommand() *cobra.Command {
	var tools string
	var only []string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on standard input and output, for an MCP client to start",
		Long: `Serve the tools of all your MCP servers, and Pointsman's own, as one MCP server on
standard input and output: MCP clients start this. It works through the running
Pointsman when there is one, so that its window asks; otherwise by itself, and then
asks through the client, if that can show a form.`,
		Example: "  pointsman mcp\n  pointsman mcp --tools servers --server github",
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch tools {
			case "", "all", "own", "servers":
			default:
				return usagef("--tools %s is not known; give all, own or servers", tools)
			}
			return a.serveMCP(cmd.Context(), tools, only)
		},
	}
	cmd.Flags().StringVar(&tools, "tools", "", "serve `WHICH` tools: all, own or servers (default: mcp.tools of the configuration)")
	choices(cmd, "tools", "all", "own", "servers")
	cmd.Flags().StringArrayVar(&only, "server", nil, "of the servers, serve this `NAME` alone; may be given again")
	return cmd
}

// serveMCP serves the client that has started this process, until it goes.
func (a *app) serveMCP(ctx context.Context, tools string, only []string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	m := &mcpClient{app: a, who: mcpapi.Client{Session: a.Getenv(sessionVariable), Tools: tools, Servers: only}}
	if m.who.Session == "" {
		m.who.Session = mcpapi.NewSession()
	}
	m.who.CWD, _ = os.Getwd() // shown to the person only, where it is known
	var watching sync.WaitGroup
	watching.Go(func() { watchParent(ctx, parentWatch, func() { stop(errParentGone) }) })
	err := relay.Run(ctx, relay.Options{In: a.Stdin, Out: a.Stdout, Dial: m.dial, Logger: a.logger("warn")})
	stop(nil)
	watching.Wait()
	if closed := m.close(); closed != nil {
		err = errors.Join(err, closed)
	}
	if errors.Is(err, errParentGone) || errors.Is(err, approvals.ErrShuttingDown) {
		return nil // that is how it ends
	}
	return err
}

// errParentGone ends an MCP server whose client has gone without a word.
var errParentGone = errors.New("the client has gone")

// parentWatch is how often it is looked whether the client still lives: one that
// was killed closes our input, unless another process holds it open.
const parentWatch = 2 * time.Second

// watchParent calls gone when the process that has started this one has ended; it
// looks as often as said.
func watchParent(ctx context.Context, every time.Duration, gone func()) {
	parent := os.Getppid()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if os.Getppid() != parent {
				gone()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// mcpClient is the client that has started this process, and what answers it.
type mcpClient struct {
	app *app
	who mcpapi.Client

	// Of a gateway in this process. dial is called by one goroutine at a time.
	own     *gateway.Gateway
	serving sync.WaitGroup
}

// dial opens a stream to the resident, or to a gateway of this process when there
// is none. Once there is one of this process it stays with that.
func (m *mcpClient) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	if m.own != nil {
		return m.local()
	}
	home, err := m.app.home()
	if err != nil {
		return nil, err
	}
	client, err := control.Dial(ctx, home)
	if err == nil && m.app.otherConfig(client.Info) == nil {
		stream, err := client.MCP(ctx, m.who)
		if err == nil {
			return &attachment{ReadWriteCloser: stream, client: client}, nil
		}
		client.Close()
		var refused *control.RefusedError
		if errors.As(err, &refused) {
			return nil, err
		}
		m.app.tell("the running Pointsman does not answer (%v); going on without it", err)
	} else if err != nil && !errors.Is(err, control.ErrNoResident) {
		return nil, fmt.Errorf("looking for a running Pointsman: %w", err)
	}
	if err := m.begin(ctx, home); err != nil {
		return nil, err
	}
	return m.local()
}

// attachment is a stream to the resident.
type attachment struct {
	io.ReadWriteCloser
	client *control.Client
}

func (t *attachment) Close() error {
	err := t.ReadWriteCloser.Close()
	t.client.Close()
	return err
}

// begin starts a gateway in this process. Nobody is at a desk: what needs a person
// is asked of the client. No .env is read: the client chose the directory.
func (m *mcpClient) begin(ctx context.Context, home config.Home) error {
	if m.app.Getenv(process.InsideVariable) != "" {
		return errors.New("this Pointsman was started as an MCP server of another, and would start that one's servers once more, itself among them; remove it from mcpServers")
	}
	store, err := m.app.load(loading{})
	if err != nil {
		return err
	}
	for _, notice := range store.Notices() {
		m.app.tell("warning: %s", approvals.Visible(notice.Error()))
	}
	g, err := m.app.newGateway(ctx, store, home, gateway.Options{
		Approver: mcpapi.Elicitation{}, Logger: m.app.logger(cmp.Or(store.Config().Log.Level, "warn")),
	})
	if err != nil {
		return err
	}
	g.Start()
	m.own = g
	return nil
}

// local opens a stream to the gateway of this process.
func (m *mcpClient) local() (io.ReadWriteCloser, error) {
	ours, theirs := net.Pipe()
	m.serving.Go(func() {
		_ = m.own.ServeMCP(context.Background(), theirs, m.who) // ends with the stream, or with the gateway
	})
	return ours, nil
}

func (m *mcpClient) close() error {
	if m.own == nil {
		return nil
	}
	err := m.own.Close()
	m.serving.Wait()
	return err
}
