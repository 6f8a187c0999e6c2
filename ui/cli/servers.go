package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/control"
	"pointsman/gateway/servers"
)

func (a *app) serversCommand() *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, _ []string) error {
		return look(cmd.Context(), a, looking[[]servers.Status]{view: "servers", show: a.showServers}, asJSON)
	}
	cmd := &cobra.Command{
		Use: "servers", Short: "List the MCP servers and how they are; start and stop them, sign in to them", Args: subcommandsOnly, RunE: list,
		Long:    "List the MCP servers and how they are. When Pointsman does not run, they are shown as\nstopped: they are not started to be looked at.",
		Example: "  pointsman servers\n  pointsman servers list --json\n  pointsman servers restart github",
	}
	sub := &cobra.Command{Use: "list", Short: "List the MCP servers and how they are", Args: arguments(0, 0), RunE: list, Example: "  pointsman servers list --json"}
	jsonFlag(cmd, &asJSON)
	jsonFlag(sub, &asJSON)
	cmd.AddCommand(sub,
		a.keepCommand("start", "Start an MCP server that was stopped, or that rests after crashes", (*control.Client).StartServer),
		a.keepCommand("stop", "End an MCP server, and keep it stopped until it is started", (*control.Client).StopServer),
		a.keepCommand("restart", "End an MCP server and start it anew", (*control.Client).RestartServer),
		a.loginCommand(), a.loginCompleteCommand(), a.logoutCommand(), a.logsCommand(), a.importCommand(), a.exportCommand())
	cmd.AddCommand(a.libraryCommands()...)
	return cmd
}

func (a *app) showServers(list []servers.Status) error {
	var rows [][]string
	for _, s := range list {
		rows = append(rows, []string{s.Name, s.Transport, string(s.Live.Status), strconv.Itoa(s.Tools), s.Live.Since.Local().Format(time.DateTime), s.Live.Error})
	}
	if len(rows) == 0 {
		a.tell("No MCP server is configured; add one under mcpServers (see `pointsman config path`).")
		return nil
	}
	return a.table([]string{"SERVER", "TRANSPORT", "STATUS", "TOOLS", "SINCE", "ERROR"}, rows)
}

// keeping is one of the client's commands to a server.
type keeping func(c *control.Client, ctx context.Context, name string) (servers.Status, error)

func (a *app) keepCommand(verb, short string, keep keeping) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: verb + " NAME", Short: short, Args: arguments(1, 1), Example: "  pointsman servers " + verb + " github",
		RunE: func(cmd *cobra.Command, args []string) error { return a.keep(cmd.Context(), args[0], keep, asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// keep starts or stops a server of the resident, and fails when it is then not
// as it was to be.
func (a *app) keep(ctx context.Context, name string, keep keeping, asJSON bool) error {
	client, err := a.residentOfServers(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	s, err := keep(client, ctx, name)
	if err != nil {
		return err
	}
	if asJSON {
		if err := printJSON(a.Stdout, s); err != nil {
			return err
		}
	}
	switch s.Live.Status {
	case servers.Connected:
		a.tell("%s is connected, with %s.", approvals.Visible(s.Name), counted(s.Tools, "tool"))
	case servers.Stopped, servers.Disabled, servers.NotConfigured:
		a.tell("%s is stopped.", approvals.Visible(s.Name))
	default:
		a.tell("%s is not connected (%s): %s", approvals.Visible(s.Name), s.Live.Status, approvals.Visible(s.Live.Error))
		return silentError{}
	}
	return nil
}
