package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/models"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// TestServer tries out a server entry that may not be saved yet.
func (m manager) TestServer(ctx context.Context, name string, entry config.MCPServer, typed map[string]string) (control.ServerTest, error) {
	entry = config.KeepMasked(m.g.Config().MCPServers[name], entry)
	only := config.Default()
	only.Sandbox = m.g.Config().Sandbox
	only.MCPServers = map[string]config.MCPServer{name: entry}
	if err := m.checkOnly(only); err != nil {
		return control.ServerTest{}, err
	}
	ctx, done, err := m.g.trying(ctx)
	if err != nil {
		return control.ServerTest{}, err
	}
	defer done()
	begun := time.Now()
	trial := m.g.host.Try(ctx, name, m.g.live.Load().policy.Confined(only)[name], m.g.resolverOver(typed).Resolve)
	return control.ServerTest{
		State: trial.State, Error: m.g.redactor.Redact(trial.Error), Tools: m.g.judged(name, entry, trial.Tools),
		Stderr: m.g.cleanLines(trial.Stderr), ServerInfo: trial.ServerInfo, Protocol: trial.Protocol, Duration: time.Since(begun),
	}, nil
}

// checkOnly refuses a configuration that holds the one entry to be tried and is
// not valid.
func (m manager) checkOnly(only *config.Config) error {
	if err := config.Faults(only.Problems()); err != nil {
		return m.invalid(err)
	}
	return nil
}

// trying begins something that the gateway's end cuts short, and waits for.
func (g *Gateway) trying(ctx context.Context) (context.Context, func(), error) {
	g.entering.Lock()
	defer g.entering.Unlock()
	if g.stopping.Err() != nil {
		return nil, nil, errStopping
	}
	g.running.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(g.stopping, func() { cancel(context.Cause(g.stopping)) })
	return ctx, func() {
		unhook()
		cancel(nil)
		g.running.Done()
	}, nil
}

// typedKeychain is a keychain with values over it that a form has and nobody has
// saved.
type typedKeychain struct {
	secrets.Keychain
	typed map[string]string // by name
}

func (k typedKeychain) Get(ctx context.Context, name string) (string, error) {
	if value, ok := k.typed[name]; ok {
		return value, nil
	}
	return k.Keychain.Get(ctx, name)
}

// resolverOver resolves as the gateway does, but for values typed into a form.
func (g *Gateway) resolverOver(typed map[string]string) *secrets.Resolver {
	for _, value := range typed {
		g.redactor.Add(value)
	}
	return secrets.NewResolver(typedKeychain{g.resolver.Keychain(), typed}, g.store.LookupEnv, g.redactor)
}

// judged returns tools as they would be judged and offered with the entry saved.
func (g *Gateway) judged(name string, entry config.MCPServer, list []servers.Tool) []tools.Row {
	rows := []tools.Row{}
	var defs []tools.Definition
	for _, t := range list {
		def, err := tools.Parse(t.Server, t.Raw, t.Trusted)
		if err != nil {
			def = tools.Broken(t.Server, t.Name, t.Raw, errors.New(g.redactor.Redact(err.Error())))
		}
		defs = append(defs, def)
	}
	settings := toolSettings(g.live.Load())
	settings.PerServer[name] = entry.Tools
	delete(settings.Prefix, name)
	if entry.Prefix != nil {
		settings.Prefix[name] = *entry.Prefix
	}
	for _, e := range tools.NewCatalogue(defs, settings).Entries() {
		rows = append(rows, e.Row())
	}
	return rows
}

// ServerLog returns what a server wrote to its standard error last.
func (m manager) ServerLog(_ context.Context, name string) ([]string, error) {
	return append([]string{}, m.g.ServerLog(name)...), nil
}

// checkPatience bounds each of the two requests to a provider that is tried out,
// unless its entry sets another time-out.
const checkPatience = 30 * time.Second

// TestProvider tries out a provider entry that may not be saved yet.
func (m manager) TestProvider(ctx context.Context, name string, p config.Provider, key string) (control.ProviderTest, error) {
	p = config.KeepMasked(m.g.Config().Providers[name], p)
	typed := map[string]string{}
	if key != "" {
		p.APIKey, typed[name] = config.Secret(keychainScheme+name), key
	}
	only := config.Default()
	only.Providers = map[string]config.Provider{name: p}
	if err := m.checkOnly(only); err != nil {
		return control.ProviderTest{}, err
	}
	only.DefaultModel, only.Models = m.g.Config().DefaultModel, m.g.Config().Models
	only.RouterSettings.NumRetries, only.Limits.RequestTimeoutS = 0, checkPatience.Seconds()
	options := m.g.routerOptions()
	options.Resolve = m.g.resolverOver(typed).Resolve
	router, err := models.NewRouter(only, options)
	if err != nil {
		return control.ProviderTest{}, err
	}
	ctx, done, err := m.g.trying(ctx)
	if err != nil {
		return control.ProviderTest{}, err
	}
	defer done()
	begun := time.Now()
	checked := router.Check(ctx, name)
	result := control.ProviderTest{Models: append([]string{}, checked.Models...), Model: checked.Model, Duration: time.Since(begun)}
	if checked.Err != nil {
		result.Message = m.g.redactor.Redact(models.Plain(checked.Err, router.Address(name)))
		result.Detail = m.g.redactor.Redact(checked.Err.Error())
		return result, nil
	}
	result.OK, result.Message = true, fmt.Sprintf("It works: %s has answered.", checked.Model)
	return result, nil
}
