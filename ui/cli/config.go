package cli

import (
	"context"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/secrets"
)

func (a *app) configCommand() *cobra.Command {
	var asJSON bool
	path := &cobra.Command{
		Use: "path", Short: "Print where the configuration is", Args: arguments(0, 0), Example: "  $EDITOR \"$(pointsman config path)\"",
		RunE: func(*cobra.Command, []string) error { return a.configPathCommand() },
	}
	show := &cobra.Command{
		Use: "show", Short: "Print the configuration in force, without secrets", Args: arguments(0, 0), Example: "  pointsman config show --json",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.configShow(cmd.Context(), asJSON) },
	}
	jsonFlag(show, &asJSON)
	check := &cobra.Command{
		Use: "check [FILE]", Short: "Print every fault of the configuration", Args: arguments(0, 1), Example: "  pointsman config check\n  pointsman config check new.yaml",
		RunE: func(_ *cobra.Command, args []string) error { return a.configCheck(args) },
	}
	return group("config", "See and check the configuration", "  pointsman config check", path, show, check)
}

func (a *app) configPathCommand() error {
	file, err := config.Find(a.configPath, a.Getenv)
	if err != nil {
		return err
	}
	return a.print("%s", file)
}

func (a *app) configShow(ctx context.Context, asJSON bool) error {
	store, err := a.load(loading{})
	if err != nil {
		return err
	}
	if !asJSON {
		text, err := store.Config().YAML()
		if err != nil {
			return err
		}
		return a.print("%s", trimNewline(text))
	}
	resolver := secrets.NewResolver(a.Keychain, store.LookupEnv, nil)
	return printJSON(a.Stdout, store.Config().Describe(func(s config.Secret) bool {
		value, err := resolver.Resolve(ctx, string(s))
		return err == nil && value != ""
	}))
}

// configCheck prints every fault, and the warnings.
func (a *app) configCheck(args []string) error {
	file, err := config.Find(a.configPath, a.Getenv)
	if err != nil {
		return err
	}
	var problems []config.Problem
	if len(args) == 1 {
		problems = config.Check(args[0])
	} else {
		problems, err = a.problems(file)
	}
	faults := err != nil
	for _, p := range problems {
		faults = faults || !p.Warning
		prefix := ""
		if p.Warning {
			prefix = "warning: "
		}
		a.tell("%s%s", prefix, approvals.VisibleText(p.Error()))
	}
	if err != nil {
		return err
	}
	if faults {
		return silentError{}
	}
	return a.print("config ok")
}

// problems are those of the configuration that would be in force. The file's own
// come first; what only the environment spoils is the error.
func (a *app) problems(file string) ([]config.Problem, error) {
	store, err := a.load(loading{})
	if err == nil {
		return store.Problems(), nil
	}
	problems := config.Check(file)
	for _, p := range problems {
		if !p.Warning {
			return problems, nil
		}
	}
	return problems, err
}

// trimNewline drops the last line's end, which printing adds.
func trimNewline(text string) string {
	if n := len(text); n > 0 && text[n-1] == '\n' {
		return text[:n-1]
	}
	return text
}
