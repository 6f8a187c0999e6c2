package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/control"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
	"pointsman/ui/model"
)

func (a *app) toolsCommand() *cobra.Command {
	var asJSON bool
	var server string
	cmd := &cobra.Command{
		Use: "tools", Short: "List the tools of the MCP servers, and what is held risky", Args: subcommandsOnly,
		Example: "  pointsman tools --server filesystem\n  pointsman tools --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return look(cmd.Context(), a, looking[[]tools.Row]{
				view: "tools", how: opening{start: true}, before: a.awaitServer(server),
				keep: func(rows []tools.Row) []tools.Row { return ofServer(rows, server) }, show: a.showTools,
			}, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().StringVar(&server, "server", "", "only the tools of server `NAME`")
	cmd.AddCommand(a.whyCommand(), &cobra.Command{
		Use: "classify", Short: "Judge tools given as JSON lines, without any server", Args: arguments(0, 0),
		Long:    "Read JSON lines {\"server\",\"name\",\"description\",\"inputSchema\",\"annotations\",\"trusted\"} and\nprint {\"server\",\"name\",\"class\",\"risky\",\"evidence\"} for each.",
		Example: "  echo '{\"server\":\"fs\",\"name\":\"delete_file\"}' | pointsman tools classify",
		RunE:    func(*cobra.Command, []string) error { return tools.ClassifyLines(a.Stdin, a.Stdout) },
	})
	return cmd
}

// awaitServer is awaitServers, and refuses a server that is not configured; ""
// means all of them.
func (a *app) awaitServer(name string) func(context.Context, *connection) error {
	return func(ctx context.Context, c *connection) error {
		if err := a.awaitServers(ctx, c); err != nil || name == "" {
			return err
		}
		var list []servers.Status
		if err := c.Get(ctx, "/servers", &list); err != nil {
			return err
		}
		var known []string
		for _, s := range list {
			known = append(known, s.Name)
		}
		switch {
		case slices.Contains(known, name):
			return nil
		case len(known) == 0:
			return fmt.Errorf("no server %q: no MCP server is configured", name)
		}
		return fmt.Errorf("no server %q%s; configured are %s", name, meant(name, known), strings.Join(known, ", "))
	}
}

func ofServer(rows []tools.Row, server string) []tools.Row {
	kept := []tools.Row{}
	for _, row := range rows {
		if server == "" || row.Server == server {
			kept = append(kept, row)
		}
	}
	return kept
}

func (a *app) showTools(list []tools.Row) error {
	var rows [][]string
	for _, t := range list {
		about := strings.Join(t.Evidence, "; ")
		if t.Missing != nil {
			about = "not offered: " + *t.Missing
		}
		rows = append(rows, []string{t.Name, t.Server, string(t.Class), yesNo(t.Asks()), about})
	}
	if len(rows) == 0 {
		a.tell("There are no tools.")
		return nil
	}
	return a.table([]string{"TOOL", "SERVER", "CLASS", "ASKS", "BECAUSE"}, rows)
}

// whyCommand answers why a tool is missing.
func (a *app) whyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "why NAME", Short: "Tell why a tool is missing, or what is in the way of its calls", Args: arguments(1, 1),
		Long:    "Tell whether a tool is offered to models, and what is in its way: its server is not\nconnected, a list leaves it out, its schema cannot be used, there are more tools than are\noffered at once, its definition has changed, or tools are paused. NAME is the name that\nmodels see, or the server's own.",
		Example: "  pointsman tools why github__create_issue\n  pointsman tools why create_issue --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return look(cmd.Context(), a, looking[[]tools.Why]{
				view: strings.TrimPrefix(control.WhyToolPath(args[0]), "/"), how: opening{start: true}, before: a.awaitQuietly, show: a.showWhy,
			}, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// awaitQuietly is awaitServers for a command that itself tells which are missing.
func (a *app) awaitQuietly(ctx context.Context, c *connection) error {
	quiet := *a
	quiet.Stderr, quiet.shown = io.Discard, nil
	return quiet.awaitServers(ctx, c)
}

func (a *app) showWhy(list []tools.Why) error {
	return a.print("%s", approvals.VisibleText(model.WhyWords(list))) // names and errors are the servers' words
}
