package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/servers/diagnostics"
)

// followWait is how long one read of a followed log waits.
const followWait = 30 * time.Second

// logsFlags are what `servers logs` is asked for.
type logsFlags struct {
	follow, json bool
	level        string
}

func (a *app) logsCommand() *cobra.Command {
	var f logsFlags
	cmd := &cobra.Command{
		Use: "logs NAME", Short: "Show what was kept of what happened with an MCP server", Args: arguments(1, 1),
		Long: `Show what was kept of what happened with an MCP server, without credentials:
its starts and ends, messages, HTTP requests, and its standard error. It is kept in
memory, and only while diagnostics.mcp is on.`,
		Example: "  pointsman servers logs github\n  pointsman servers logs github --follow --level warning",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.serverLogs(cmd.Context(), args[0], f) },
	}
	var names []string
	for _, level := range diagnostics.Levels()[1:] {
		names = append(names, string(level))
	}
	cmd.Flags().BoolVar(&f.follow, "follow", false, "go on with what happens, until interrupted")
	cmd.Flags().StringVar(&f.level, "level", "", "leave out what is less grave than `LEVEL`: error, warning, info, debug or trace")
	choices(cmd, "level", names...)
	cmd.Flags().BoolVar(&f.json, "json", false, "print a line of JSON for each record")
	return cmd
}

// serverLogs prints a server's records, page by page.
func (a *app) serverLogs(ctx context.Context, name string, f logsFlags) error {
	client, err := a.residentOfServers(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	q := diagnostics.Query{Server: name, Max: diagnostics.MaxMax, Level: diagnostics.Level(f.level)}
	for {
		page, err := client.Diagnostics(ctx, q)
		if f.follow && ctx.Err() != nil {
			return nil // it was to go on until this
		}
		if err != nil {
			return err
		}
		if page.DroppedCount > 0 {
			a.tell("%s came too fast and are not kept any more", counted(int(page.DroppedCount), "record"))
		}
		if err := a.printEntries(page.Entries, f.json); err != nil {
			return err
		}
		switch {
		case page.Level == diagnostics.Off:
			return fmt.Errorf("nothing is kept of what happens with the MCP servers; to change that write `diagnostics: {mcp: info}` in %s (debug and trace keep more)", a.configFile())
		case len(page.Entries) == 0 && !f.follow:
			return nil
		case len(page.Entries) == 0:
			q.Wait = followWait
		}
		q.Cursor = page.Cursor
	}
}

// configFile is the configuration file, to be told to a person.
func (a *app) configFile() string {
	path, err := config.Find(a.configPath, a.Getenv)
	if err != nil {
		return "the configuration"
	}
	return approvals.Visible(path)
}

func (a *app) printEntries(entries []diagnostics.Entry, asJSON bool) error {
	for _, e := range entries {
		if asJSON {
			if err := printJSONLine(a.Stdout, e); err != nil {
				return err
			}
			continue
		}
		more := ""
		if e.Truncated {
			more = " …"
		}
		if _, err := fmt.Fprintf(a.Stdout, "%s %-7s %-9s %s%s\n", e.Time.Local().Format("15:04:05.000"), e.Level, e.Category, approvals.Visible(e.Message), more); err != nil {
			return err
		}
	}
	return nil
}

// residentOfServers attaches to the resident, which alone runs servers that one
// can speak of.
func (a *app) residentOfServers(ctx context.Context) (*control.Client, error) {
	client, err := a.resident(ctx)
	if errors.Is(err, control.ErrNoResident) {
		return nil, fmt.Errorf("%w, and so no MCP server; start it with `pointsman serve`", err)
	}
	return client, err
}
