package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/ui/connect/setup"
	"pointsman/ui/model"
)

// connectFlags are what the commands of `connect` are asked for.
type connectFlags struct {
	parts     []string
	workspace bool
	asJSON    bool
	revision  string
	yes       bool
}

func (a *app) connectCommand() *cobra.Command {
	cmd := group("connect", "Set up other programs to use Pointsman", "  pointsman connect list\n  pointsman connect preview vscode\n  pointsman connect apply vscode",
		a.connectList(), a.connectPreview(), a.connectApply(), a.connectVerify(), a.connectUndo(), a.connectSnippet(), a.connectKey())
	cmd.Long = "Set up other programs to use Pointsman: " + strings.Join(setup.Clients(), ", ") + `.
Only Pointsman's own entries in their files change. What was there is kept, and "undo"
restores it byte for byte as long as nobody else has changed the file since.`
	return cmd
}

// connectOn is a command on one program.
func (a *app) connectOn(use, short, example string, f *connectFlags, run func(context.Context, string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use + " CLIENT", Short: short, Example: example, Args: arguments(1, 1), ValidArgs: setup.Clients(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(setup.Clients(), args[0]) {
				return usagef("there is no setup of %q%s; it is one of %s", args[0], meant(args[0], setup.Clients()), strings.Join(setup.Clients(), ", "))
			}
			return run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringSliceVar(&f.parts, "parts", nil, "only these `PARTS` of it: models, mcp, hooks")
	choices(cmd, "parts", setup.Models, setup.MCP, setup.Hooks)
	cmd.Flags().BoolVar(&f.workspace, "workspace", false, "the working directory's own files instead of the user's")
	return cmd
}

func (a *app) connectList() *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List the programs that can be set up, how each is, and what defeats it", Args: arguments(0, 0),
		Example: "  pointsman connect list\n  pointsman connect list --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.listClients(cmd.Context(), f) },
	}
	jsonFlag(cmd, &f.asJSON)
	cmd.Flags().BoolVar(&f.workspace, "workspace", false, "the working directory's own files instead of the user's")
	return cmd
}

func (a *app) connectPreview() *cobra.Command {
	var f connectFlags
	cmd := a.connectOn("preview", "Show what setting a program up would change", "  pointsman connect preview vscode", &f, func(ctx context.Context, client string) error {
		s, err := a.setup(ctx, f.workspace)
		if err != nil {
			return err
		}
		plan, err := s.Plan(ctx, client, f.parts...)
		if err != nil {
			return err
		}
		if f.asJSON {
			return printJSON(a.Stdout, newPlanView(plan))
		}
		a.showPlan(plan)
		_, err = fmt.Fprintf(a.Stdout, "revision: %s\n", cmp.Or(plan.Revision, "none"))
		return err
	})
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (a *app) connectApply() *cobra.Command {
	var f connectFlags
	cmd := a.connectOn("apply", "Set a program up, after a yes", "  pointsman connect apply vscode\n  pointsman connect apply copilot --parts mcp,hooks --revision 0123456789ab", &f, func(ctx context.Context, client string) error {
		return a.applySetup(ctx, client, f)
	})
	cmd.Long = `Set a program up: show the change, and make it after a yes. --revision makes the
very change that "preview" has shown, or none; --yes makes it without asking.`
	cmd.Flags().StringVar(&f.revision, "revision", "", "make the change of this `REVISION`, and no other")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "make the change without asking")
	return cmd
}

func (a *app) connectVerify() *cobra.Command {
	var f connectFlags
	cmd := a.connectOn("verify", "Try what a program would do with its setup", "  pointsman connect verify copilot", &f, func(ctx context.Context, client string) error {
		s, err := a.setup(ctx, f.workspace)
		if err != nil {
			return err
		}
		checks, err := s.Verify(ctx, client, f.parts...)
		if err != nil {
			return err
		}
		return a.showChecks(checks, f.asJSON)
	})
	cmd.Long = `Try what a program would do with its setup: ask the endpoint with the key that it has
(which costs a short answer of a model), start the MCP server by the command that is
written in its file, run the hook.`
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (a *app) connectUndo() *cobra.Command {
	var f connectFlags
	cmd := a.connectOn("undo", "Take a program's setup back", "  pointsman connect undo vscode", &f, func(ctx context.Context, client string) error {
		s, err := a.bareSetup(f.workspace) // works whatever has become of the configuration
		if err != nil {
			return err
		}
		undone, err := s.Undo(ctx, client, f.parts...)
		for _, u := range undone {
			a.tell("%s: %s", approvals.Visible(u.Path), approvals.Visible(u.Words))
		}
		return err
	})
	cmd.Long = `Take a program's setup back: a file that is as it was left becomes what it was before,
byte for byte; in one that somebody has changed since, only Pointsman's entries go.`
	return cmd
}

func (a *app) connectSnippet() *cobra.Command {
	var f connectFlags
	cmd := a.connectOn("snippet", "Print lines for a program that has no file for them", "  pointsman connect snippet copilot >>~/.profile\n  pointsman connect snippet copilot-sdk", &f, func(ctx context.Context, client string) error {
		s, err := a.setup(ctx, false)
		if err != nil {
			return err
		}
		text, about, err := s.Snippet(client)
		if err != nil {
			return err
		}
		a.tell("%s", approvals.Visible(about))
		_, err = fmt.Fprint(a.Stdout, text)
		return err
	})
	_ = cmd.Flags().MarkHidden("parts") // they exist
	_ = cmd.Flags().MarkHidden("workspace")
	return cmd
}

func (a *app) connectKey() *cobra.Command {
	return &cobra.Command{
		Use: "key", Short: "Print the endpoint's key, for a program that takes a command for it", Args: arguments(0, 0),
		Long: `Print the key of the endpoint. Programs that take a command for it need not hold the
key themselves: the Copilot CLI in COPILOT_PROVIDER_API_KEY_COMMAND, for example.`,
		Example: "  export COPILOT_PROVIDER_API_KEY_COMMAND='pointsman connect key'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.load(loading{})
			if err != nil {
				return err
			}
			key, err := a.clientKey(store)(cmd.Context())
			if err == nil && key == "" {
				err = errors.New("no key is asked for (gateway.auth: none)")
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.Stdout, key)
			return err
		},
	}
}

// setup is the setup of this machine's programs: for the resident, or for the one
// that would be started.
func (a *app) setup(ctx context.Context, workspace bool) (*setup.Setup, error) {
	s, err := a.bareSetup(workspace)
	if err != nil {
		return nil, err
	}
	store, err := a.load(loading{})
	if err != nil {
		return nil, err
	}
	s.Gateway.Default, s.Gateway.Open, s.Gateway.Key = store.Config().DefaultModel, store.Config().Gateway.Auth == "none", a.clientKey(store)
	conn, err := a.open(ctx, opening{noMCP: true})
	if err != nil {
		return nil, err
	}
	return s, errors.Join(describe(ctx, conn, &s.Gateway), conn.Close())
}

// bareSetup knows the programs and our own, and nothing of the gateway.
func (a *app) bareSetup(workspace bool) (*setup.Setup, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	machine, err := a.machine()
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program's path: %w", err)
	}
	return &setup.Setup{
		Machine: machine, State: filepath.Join(home.State, "connect"), Workspace: workspace, Gateway: setup.Gateway{Program: program, Env: setup.Variables(a.Getenv, a.configPath)},
	}, nil
}

// describe asks a gateway where it is reached, and for its models.
func describe(ctx context.Context, conn *connection, g *setup.Gateway) error {
	if err := discover(ctx, conn); err != nil {
		return err
	}
	var models []modelRow
	var status gateway.Status
	if err := errors.Join(conn.Get(ctx, "/models", &models), conn.Get(ctx, "/status", &status)); err != nil {
		return err
	}
	g.Endpoint = "http://" + reachable(status.Listen) + "/v1"
	for _, m := range models {
		g.Models = append(g.Models, setup.Model{ID: m.ID, Name: m.Label, Context: model.Known(m.ContextWindow), Output: model.Known(m.MaxOutput)})
	}
	return nil
}

// reachable is an address to call for one that is listened at.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

func (a *app) listClients(ctx context.Context, f connectFlags) error {
	s, err := a.setup(ctx, f.workspace)
	if err != nil {
		return err
	}
	if f.asJSON {
		return printJSON(a.Stdout, s.List())
	}
	return a.showClients(s.List())
}

// applySetup makes a change that was shown.
func (a *app) applySetup(ctx context.Context, client string, f connectFlags) error {
	s, err := a.setup(ctx, f.workspace)
	if err != nil {
		return err
	}
	plan, err := s.Plan(ctx, client, f.parts...)
	if err != nil {
		return err
	}
	if f.revision != "" && f.revision != plan.Revision {
		return fmt.Errorf("applying the change of revision %s: %w", f.revision, setup.ErrChanged)
	}
	if f.revision == "" {
		if agreed, err := a.agreed(plan, f.yes); err != nil || !agreed {
			return err
		}
	}
	written, err := s.Apply(ctx, plan)
	for _, path := range written {
		a.tell("wrote %s", approvals.Visible(path))
	}
	if err != nil {
		return err
	}
	for _, c := range plan.Changes {
		if c.After != "" && slices.Contains(written, c.Path) {
			a.tell("next: %s", approvals.Visible(c.After))
		}
	}
	if len(written) > 0 {
		a.tell("Try it with: pointsman connect verify %s", client)
	}
	return nil
}

// agreed shows a change, and reports whether it is to be made.
func (a *app) agreed(plan setup.Plan, yes bool) (bool, error) {
	a.showPlan(plan)
	if !plan.Changed() || yes {
		return true, nil
	}
	if !a.interactive() {
		return false, usagef("nobody can be asked here; make the change with --revision %s, or with --yes", plan.Revision)
	}
	in := &importing{app: a, in: bufio.NewReader(a.Stdin)}
	ok, err := in.confirm(fmt.Sprintf("Change %s? [y/N] ", plan.Title))
	if err == nil && !ok {
		a.tell("Nothing is changed.")
	}
	return ok, err
}
