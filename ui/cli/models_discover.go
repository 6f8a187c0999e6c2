package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/models/local"
	"pointsman/ui/model"
)

func (a *app) modelsDiscoverCommand() *cobra.Command {
	var asJSON, yes bool
	cmd := &cobra.Command{
		Use: "discover [PROVIDER]", Short: "Find an Ollama or LM Studio on this machine, and add its models", Args: arguments(0, 1),
		Long: `Look for an Ollama and an LM Studio where they usually listen on this machine, and for
nothing anywhere else. What is found and not configured is added after a yes: the
provider, and each of its models under its own name in model_list.`,
		Example: "  pointsman models discover\n  pointsman models discover --json\n  pointsman models discover ollama --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && yes {
				return usagef("give --json, which only looks, or --yes, not both")
			}
			return look(cmd.Context(), a, looking[[]local.Server]{
				view: "local", keep: only(args),
				show: func(found []local.Server) error { return a.discovered(found, yes) },
			}, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&yes, "yes", false, "add without asking")
	return cmd
}

// only keeps the servers of the named provider; without a name all.
func only(args []string) func([]local.Server) []local.Server {
	return func(found []local.Server) []local.Server {
		return slices.DeleteFunc(found, func(s local.Server) bool { return len(args) == 1 && args[0] != s.Provider })
	}
}

// discovered shows what was found, and adds what is new after a yes.
func (a *app) discovered(found []local.Server, yes bool) error {
	if len(found) == 0 {
		a.tell("No Ollama and no LM Studio was found on this machine.")
		return nil
	}
	var rows [][]string
	for _, s := range found {
		state := "new"
		if s.Configured {
			state = "configured"
		}
		rows = append(rows, []string{s.Provider, s.Address, cmp.Or(s.Version, "-"), strings.Join(s.Models, ", "), state})
	}
	if err := a.table([]string{"PROVIDER", "ADDRESS", "VERSION", "MODELS", "STATE"}, rows); err != nil {
		return err
	}
	in := bufio.NewReader(a.Stdin)
	for _, s := range model.NewLocalServers(found) {
		if !yes && !a.interactive() {
			a.tell("Add it with: pointsman models discover %s --yes", s.Provider)
			continue
		}
		if err := a.addLocal(in, s, yes); err != nil {
			return err
		}
	}
	return nil
}

// addLocal adds a server to the configuration, after a yes.
func (a *app) addLocal(in *bufio.Reader, s local.Server, yes bool) error {
	store, err := a.load(loading{})
	if err != nil {
		return err
	}
	if !yes {
		yes, err := a.confirm(in, fmt.Sprintf("Add %s with %s to %s? [y/N] ", s.Title, counted(len(s.Models), "model"), approvals.Visible(store.Path())))
		if err != nil || !yes {
			a.tell("Nothing is added.")
			return err
		}
	}
	now := store.Snapshot()
	if err := store.Edit(now.Revision, model.LocalEdits(now.Config, s)); err != nil {
		return fmt.Errorf("adding %s: %w", s.Title, err)
	}
	a.tell("Added %s to %s.", s.Title, approvals.Visible(store.Path()))
	if name := model.LocalModel(now.Config, s); name != "" {
		a.tell("Try it with: pointsman chat --model %s hello", approvals.Visible(name))
	}
	return nil
}
