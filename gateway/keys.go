package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/secrets"
)

const keychainScheme = "keychain:"

// SetSecret keeps a value in the keychain, and has it used from now on.
func (m manager) SetSecret(ctx context.Context, name, value string) error {
	if value == "" {
		return &control.RefusedError{Status: http.StatusBadRequest, Message: fmt.Sprintf("storing %q in the keychain: the value is empty; remove the entry instead", name)}
	}
	m.g.redactor.Add(value) // before anything can be said of it
	if err := m.g.resolver.Keychain().Set(ctx, name, value); err != nil {
		return withoutKeychain(err)
	}
	m.g.secretChanged(name)
	return nil
}

// DeleteSecret removes a name from the keychain; what uses it finds it gone.
func (m manager) DeleteSecret(ctx context.Context, name string) error {
	err := m.g.resolver.Keychain().Delete(ctx, name)
	if errors.Is(err, secrets.ErrNotFound) {
		return &control.RefusedError{Status: http.StatusNotFound, Message: err.Error()}
	}
	if err != nil {
		return withoutKeychain(err)
	}
	m.g.secretChanged(name)
	return nil
}

// HasSecret asks the keychain itself, not what is remembered of it.
func (m manager) HasSecret(ctx context.Context, names []string) (map[string]bool, error) {
	has := map[string]bool{}
	for _, name := range names {
		_, err := m.g.opts.Keychain.Get(ctx, name)
		if err != nil && !errors.Is(err, secrets.ErrNotFound) {
			return nil, withoutKeychain(err)
		}
		has[name] = err == nil
	}
	return has, nil
}

// withoutKeychain adds to the error of a keychain that cannot be used what works
// all the same.
func withoutKeychain(err error) error {
	if errors.Is(err, secrets.ErrLocked) || errors.Is(err, secrets.ErrUnavailable) {
		err = fmt.Errorf("%w; keys that were read before, keys of environment variables, and what needs no key go on working", err)
		return &control.RefusedError{Status: http.StatusServiceUnavailable, Message: err.Error()}
	}
	return err
}

// secretChanged has everything that uses a keychain entry look again: the door's
// key, the servers that were started with it, and the providers, whose models
// may be seen with it.
func (g *Gateway) secretChanged(name string) {
	g.key.forget()
	g.Models().Forgive()
	ref := keychainScheme + name
	cfg := g.Config()
	var stale []string
	discover := false
	for _, used := range cfg.SecretRefs() {
		if used.Ref != ref {
			continue
		}
		for server := range cfg.MCPServers {
			if within(used.Path, "mcpServers", server) && !slices.Contains(stale, server) {
				stale = append(stale, server)
			}
		}
		discover = discover || strings.HasPrefix(used.Path, "providers.")
	}
	if !g.opts.NoMCP {
		g.host.Refresh(stale...)
	}
	if discover {
		g.background(g.discover)
	}
	g.notices.notify()
}

// within reports whether a path of the configuration is inside a section's entry.
func within(path, section, entry string) bool {
	return strings.HasPrefix(path, config.JoinPath(section, entry)+".")
}

// Key returns the key that HTTP clients show; "" when none is asked for.
func (m manager) Key(context.Context) (string, error) {
	key, err := m.g.AccessKey()
	return key, withoutKeychain(err)
}

// NewKey replaces the key that HTTP clients show.
func (m manager) NewKey(ctx context.Context) (string, error) {
	name, err := m.keyName()
	if err != nil {
		return "", err
	}
	key := freshKey()
	m.g.redactor.Add(key)
	if err := m.g.resolver.Keychain().Set(ctx, name, key); err != nil {
		return "", withoutKeychain(err)
	}
	m.g.secretChanged(name)
	return key, nil
}

// keyName is the keychain's name of the key, or an error that says where the key
// is instead.
func (m manager) keyName() (string, error) {
	cfg := m.g.Config().Gateway
	refused := func(text string) error { return &control.RefusedError{Status: http.StatusConflict, Message: text} }
	if cfg.Auth == "none" {
		return "", refused("no key is asked for (gateway.auth: none); set gateway.auth to key first")
	}
	ref := string(cfg.APIKey)
	if name, ok := strings.CutPrefix(ref, keychainScheme); ok && name != "" {
		return name, nil
	}
	if name, ok := strings.CutPrefix(ref, "os.environ/"); ok {
		return "", refused("the key comes from the environment variable " + name + "; change it there and start Pointsman again")
	}
	return "", refused("the key stands in the configuration (gateway.api_key), not in the keychain; write keychain:gateway there, then make a new one")
}
