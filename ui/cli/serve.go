package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/secrets"
	"pointsman/ui/desktop"
	"pointsman/ui/port"
)

// serveFlags are what `serve` is asked for.
type serveFlags struct {
	listen string
	port   int
	ask    string
	noMCP  bool

	disabled []string // MCP servers that are not started in this run
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve the OpenAI-compatible endpoint until interrupted",
		Long:    "Serve the OpenAI-compatible endpoint until interrupted. At a terminal, risky calls are\nasked about here.",
		Example: "  pointsman serve\n  pointsman serve --port 8650 --ask none",
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd.Flags().Changed("port")); err != nil {
				return err
			}
			err := a.serve(cmd.Context(), serving{flags: f, loading: loading{dotEnv: true, flags: f.apply}})
			var running *control.RunningError
			if errors.As(err, &running) {
				return fmt.Errorf("%w; stop that one first, or give this one a home of its own with POINTSMAN_HOME", running)
			}
			return err
		},
	}
	f.register(cmd)
	return cmd
}

func (f *serveFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.listen, "listen", "", "listen on `ADDRESS`, such as 127.0.0.1:8640")
	cmd.Flags().IntVar(&f.port, "port", -1, "listen on this `PORT` of the configured address; 0 takes a free one")
	cmd.Flags().Lookup("port").DefValue = "0" // which help does not show; -1 is no port
	cmd.Flags().StringVar(&f.ask, "ask", "terminal", "`WHERE` risky calls are asked about: terminal or none")
	choices(cmd, "ask", "terminal", "none")
	cmd.Flags().BoolVar(&f.noMCP, "no-mcp", false, "do not connect the MCP servers")
	cmd.Flags().StringArrayVar(&f.disabled, "disable-mcp-server", nil, "do not start the MCP server of this exact `NAME` in this run; may be given again")
}

func (f *serveFlags) check(portSet bool) error {
	switch {
	case f.listen != "" && portSet:
		return usagef("give --listen or --port, not both")
	case portSet && (f.port < 0 || f.port > 65535):
		return usagef("--port %d is no port; give a number from 0 to 65535", f.port)
	case f.ask != "terminal" && f.ask != "none":
		return usagef("--ask %s is not known; give terminal or none", f.ask)
	}
	return nil
}

// apply lays the flags over the configuration.
func (f *serveFlags) apply(cfg *config.Config) {
	if f.listen != "" {
		cfg.Gateway.Listen = f.listen
	}
	cfg.DisabledMCPServers = append(slices.Clip(cfg.DisabledMCPServers), f.disabled...)
	if f.port >= 0 {
		host, _, err := net.SplitHostPort(cfg.Gateway.Listen)
		if err != nil {
			return // the address itself is at fault, and is reported
		}
		cfg.Gateway.Listen = net.JoinHostPort(host, strconv.Itoa(f.port))
	}
}

// serving says how the resident serves.
type serving struct {
	loading
	flags serveFlags
	// desktop makes what shows the gateway in the tray. Nil: nothing does.
	desktop func(*service) *desktop.Desktop
	show    bool // open the window at once
}

// serve is the resident. It returns a *control.RunningError when there is one.
func (a *app) serve(ctx context.Context, how serving) (err error) {
	home, err := a.home()
	if err != nil {
		return err
	}
	store, err := a.load(how.loading)
	if err != nil {
		return err
	}
	if err := a.checkKey(ctx, store); err != nil {
		return err
	}
	resident, err := control.Claim(home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resident.Release()) }()
	ln, err := listen(ctx, store.Config().Gateway.Listen)
	if err != nil {
		return err
	}
	return a.serveOn(ctx, ln, resident, store, home, how)
}

// listen opens the HTTP door's address, or says who has it and what to do.
func listen(ctx context.Context, address string) (net.Listener, error) {
	ln, err := port.Listen(ctx, address)
	var taken *port.TakenError
	switch {
	case errors.As(err, &taken):
		return nil, fmt.Errorf("%w; stop it, or choose another port with --port or gateway.listen", err)
	case err != nil:
		return nil, fmt.Errorf("%w; choose another address with --listen or gateway.listen", err)
	}
	return ln, nil
}

// attendant is the person at this terminal, who is asked on the screen; nobody
// when there is none.
func (a *app) attendant(ask bool, screen *screen) *attendant {
	if !ask || !a.interactive() {
		return newAttendant(nil, screen.Line)
	}
	terminal := approvals.NewTerminal(a.Stdin, screen, approvals.TerminalOptions{Flush: a.flusher(), Question: screen.Question})
	return newAttendant(terminal, screen.Line)
}

// attend asks at the terminal. That its input ends stops the asking alone.
func (a *app) attend(ctx context.Context, person *attendant, g *gateway.Gateway) error {
	person.questions = g.Questions()
	err := person.Run(ctx, ownDesk{g.Desk()})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		a.tell("asking at this terminal has ended: %v", err)
		return nil
	}
	a.tell("this terminal's input has ended: risky calls are denied from now on")
	return nil
}

func (a *app) announce(ln net.Listener, store *config.Store, noMCP bool) {
	cfg := store.Config()
	for _, problem := range store.Problems() {
		a.tell("warning: %s", approvals.Visible(problem.Error()))
	}
	servers := len(cfg.MCPServers)
	if noMCP {
		servers = 0
	}
	a.tell("Pointsman %s serves http://%s/v1 with %s", a.Version, ln.Addr(), counted(servers, "MCP server"))
}

// counted words a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// keyPatience bounds the look for the key before anything begins.
const keyPatience = 50 * time.Millisecond

// checkKey fails when there is no keychain to have the clients' key from: then
// nobody could ever connect. A keychain that is slow, or locked, may answer
// later (see tellKey).
func (a *app) checkKey(ctx context.Context, store *config.Store) error {
	cfg := store.Config().Gateway
	if cfg.Auth == "none" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, keyPatience)
	defer cancel()
	_, err := secrets.NewResolver(a.Keychain, store.LookupEnv, nil).Resolve(ctx, string(cfg.APIKey))
	if errors.Is(err, secrets.ErrUnavailable) {
		return gateway.NoKeychainError{Err: err}
	}
	return nil
}

// tellKey makes sure that there is a key for clients, and tells where. A locked
// keychain may be unlocked later; none at all never lets anybody in.
func (a *app) tellKey(g *gateway.Gateway, cfg *config.Config) error {
	if cfg.Gateway.Auth == "none" {
		a.tell("No key is asked for (gateway.auth: none).")
		return nil
	}
	_, err := g.AccessKey()
	switch {
	case errors.Is(err, secrets.ErrUnavailable):
		return err
	case err != nil:
		a.tell("Nobody can connect yet: %v", err)
	default:
		a.tell("Clients need the key kept at %s.", keyPlace(a, cfg))
	}
	return nil
}

// keyPlace says where the gateway's key is, never what it is.
func keyPlace(a *app, cfg *config.Config) string {
	if a.Getenv("GATEWAY_API_KEY") != "" {
		return "GATEWAY_API_KEY, in the environment"
	}
	if cfg.Gateway.APIKey.IsReference() {
		return fmt.Sprintf("%s (gateway.api_key)", cfg.Gateway.APIKey)
	}
	return "gateway.api_key, in the configuration"
}

// logger writes the program's log to the standard error.
func (a *app) logger(level string) *slog.Logger {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		least = slog.LevelInfo // the configuration was checked
	}
	return slog.New(slog.NewTextHandler(a.lines(), &slog.HandlerOptions{Level: least}))
}

func (a *app) guardCommand() *cobra.Command {
	return &cobra.Command{
		Use: "guard", Short: "End the MCP servers of a gateway that was killed", Hidden: true, Args: arguments(0, 0),
		Example: "  started by the gateway itself",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runGuard(cmd.Context(), a.Stdin) },
	}
}
