package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
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
	policy := &cobra.Command{
		Use: "policy", Short: "Print what this machine's administrator has settled for every user", Args: arguments(0, 0), Example: "  pointsman config policy",
		RunE: func(*cobra.Command, []string) error { return a.policyShow() },
	}
	return group("config", "See and check the configuration", "  pointsman config check", path, show, check, policy)
}

func (a *app) configPathCommand() error {
	file, err := config.Find(a.configPath, a.Getenv)
	if err != nil {
		return err
	}
	return a.print("%s", file)
}

// configInForce is a configuration as it is shown, without secrets.
type configInForce struct {
	YAML   string          `json:"yaml"`
	Values json.RawMessage `json:"values"` // what --json prints
	Held   []string        `json:"held"`   // what the file has that waits for the next start, in sentences
	Error  string          `json:"error"`  // why the rest cannot be told
}

// configViews shows the resident's configuration in force at its control socket.
func (a *app) configViews(g *gateway.Gateway, store *config.Store) map[string]func(context.Context) any {
	return map[string]func(context.Context) any{"config": func(ctx context.Context) any {
		shown, err := a.inForce(ctx, g.Config(), store)
		if err != nil {
			return configInForce{Error: err.Error()}
		}
		shown.Held = g.Status(ctx).Config.Held
		return shown
	}}
}

// inForce makes a configuration that store has loaded presentable.
func (a *app) inForce(ctx context.Context, cfg *config.Config, store *config.Store) (configInForce, error) {
	text, err := cfg.YAML()
	if err != nil {
		return configInForce{}, err
	}
	resolver := secrets.NewResolver(a.Keychain, store.LookupEnv, nil)
	values, err := json.Marshal(cfg.Describe(func(s config.Secret) bool {
		value, err := resolver.Resolve(ctx, string(s))
		return err == nil && value != ""
	}))
	return configInForce{YAML: trimNewline(text), Values: values}, err
}

// configShow prints what the resident runs with, or what would be in force if
// one were started.
func (a *app) configShow(ctx context.Context, asJSON bool) error {
	shown, err := a.residentConfig(ctx)
	if shown == nil && err == nil {
		var store *config.Store
		if store, err = a.load(loading{}); err != nil {
			return err
		}
		var own configInForce
		own, err = a.inForce(ctx, store.Config(), store)
		shown = &own
	}
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a.Stdout, shown.Values)
	}
	return a.print("%s", a.harmless(shown.YAML))
}

// residentConfig asks the resident what is in force; nil when there is none, or
// the user wants to see another file than it has.
func (a *app) residentConfig(ctx context.Context) (*configInForce, error) {
	client, err := a.resident(ctx)
	if errors.Is(err, control.ErrNoResident) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if other := a.otherConfig(client.Info); other != nil {
		a.tell("note: %v", other)
		return nil, nil
	}
	var shown configInForce
	if err := client.Get(ctx, "/config", &shown); err != nil {
		return nil, err
	}
	if shown.Error != "" {
		return nil, fmt.Errorf("the running Pointsman cannot show its configuration: %s", shown.Error)
	}
	a.tell("note: this is what the running Pointsman (process %d) works with", client.Info.PID)
	for _, sentence := range shown.Held {
		a.tell("note: the running Pointsman holds back, until its next start: %s", approvals.Visible(sentence))
	}
	return &shown, nil
}

// configCheck prints every fault, the conflicts with the administrator's policy,
// and the warnings.
func (a *app) configCheck(args []string) error {
	problems, store, err := a.problems(args)
	faults := err != nil
	for _, p := range problems {
		faults = faults || !p.Warning
		prefix := ""
		if p.Warning {
			prefix = "warning: "
		}
		a.tell("%s%s", prefix, approvals.VisibleText(p.Error()))
	}
	if store != nil {
		for _, conflict := range a.Policy().Conflicts(store.Config()) {
			faults = true
			a.tell("%s", approvals.VisibleText(conflict.Error()))
		}
		a.tellOpenDoors(store.Config())
	}
	if err != nil {
		return err
	}
	if faults {
		return silentError{}
	}
	return a.print("config ok")
}

// tellOpenDoors says which doors ask for no key, and what that comes to.
func (a *app) tellOpenDoors(cfg *config.Config) {
	for _, door := range []struct {
		open          bool
		path, address string
	}{{cfg.Gateway.Auth == "none", "gateway.auth", cfg.Gateway.Listen}, {cfg.Ollama.Enabled, "ollama.enabled", cfg.Ollama.Listen}} {
		if door.open {
			a.tell("note: %s: %s asks for no key: any program of yours can use the models there, and the tools that only read; risky calls ask you all the same", door.path, door.address)
		}
	}
}

// problems are those of the file that args name, or of the configuration that
// would be in force, which store holds when it could be. The file's own come
// first; what only the environment or the policy spoils is the error.
func (a *app) problems(args []string) (problems []config.Problem, store *config.Store, err error) {
	file, getenv := "", a.Getenv
	if len(args) == 1 {
		file, getenv = args[0], func(string) string { return "" } // the environment plays no part
		store, err = config.Load(config.Options{Path: file, Getenv: getenv, Check: a.checkPolicy})
	} else {
		if file, err = config.Find(a.configPath, getenv); err != nil {
			return nil, nil, err
		}
		store, err = a.load(loading{})
	}
	if err == nil {
		return store.Problems(), store, nil
	}
	problems = config.Check(file)
	for _, p := range problems {
		if !p.Warning {
			return problems, nil, nil
		}
	}
	return problems, nil, err
}

// checkPolicy is config.Options.Check.
func (a *app) checkPolicy(cfg *config.Config) []config.Problem { return a.Policy().Check(cfg) }

// policyShow prints what the administrator has settled.
func (a *app) policyShow() error {
	p := a.Policy()
	switch {
	case p.Path == "":
		a.tell("there is no administrator's policy on this machine")
		return nil
	case p.Fault != "":
		return fmt.Errorf("the administrator's policy %s cannot be followed, so no server is started: %s", p.Path, p.Fault)
	}
	text, err := p.YAML()
	if err != nil {
		return err
	}
	return a.print("# %s\n%s", p.Path, trimNewline(text))
}

// trimNewline drops the last line's end, which printing adds.
func trimNewline(text string) string {
	if n := len(text); n > 0 && text[n-1] == '\n' {
		return text[:n-1]
	}
	return text
}
