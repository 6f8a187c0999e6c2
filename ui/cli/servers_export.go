package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/ui/connect"
)

// exportFlags are what `servers export` is asked for.
type exportFlags struct{ to, output string }

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use: "export [NAME…]", Short: "Write the MCP servers as Copilot or VS Code has them", Args: cobra.ArbitraryArgs,
		Long: `Write the MCP servers of the configuration, or those of the NAMEs, as another program
has them. No secret is written: it becomes a reference to an environment variable
(copilot) or an input that is asked for (vscode).`,
		Example: "  pointsman servers export --to vscode --output .vscode/mcp.json\n  pointsman servers export --to copilot github",
		RunE:    func(_ *cobra.Command, args []string) error { return a.exportServers(args, f) },
	}
	cmd.Flags().StringVar(&f.to, "to", "copilot", "the `PROGRAM`: "+strings.Join(connect.Targets(), " or "))
	choices(cmd, "to", connect.Targets()...)
	cmd.Flags().StringVar(&f.output, "output", "", "write to `FILE`, which must not be there yet")
	return cmd
}

func (a *app) exportServers(names []string, f exportFlags) error {
	if !slices.Contains(connect.Targets(), f.to) {
		return usagef("there is no export to %q; it is one of %s", f.to, strings.Join(connect.Targets(), ", "))
	}
	store, err := a.load(loading{})
	if err != nil {
		return err
	}
	servers, err := chosen(store.Config().MCPServers, names)
	if err != nil {
		return err
	}
	machine, err := a.machine()
	if err != nil {
		return err
	}
	out, err := connect.Export(f.to, servers, machine.Home, store.Config().Workspace())
	if err != nil {
		return err
	}
	if err := a.writeOut(f.output, out.Document); err != nil {
		return err
	}
	for _, lost := range out.Lost {
		a.tell("left out: %s", approvals.Visible(lost))
	}
	for _, need := range out.Needs {
		a.tell("note: %s", approvals.Visible(need))
	}
	return nil
}

// chosen are the servers of these names; all when there are none.
func chosen(all map[string]config.MCPServer, names []string) (map[string]config.MCPServer, error) {
	if len(names) == 0 {
		return all, nil
	}
	some := map[string]config.MCPServer{}
	for _, name := range names {
		entry, there := all[name]
		if !there {
			return nil, fmt.Errorf("no server %q is configured%s", name, meant(name, slices.Sorted(maps.Keys(all))))
		}
		some[name] = entry
	}
	return some, nil
}

// writeOut writes data to a new file, or to the standard output.
func (a *app) writeOut(path string, data []byte) error {
	if path == "" {
		_, err := a.Stdout.Write(data)
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("writing %s: there is a file already; give another name, or move it away", path)
	}
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
