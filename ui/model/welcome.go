package model

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"pointsman/gateway/config"
)

// FirstStart reports whether nothing is configured yet: nobody answers, and no
// server has tools.
func FirstStart(c *config.Config) bool { return c != nil && !modelChosen(c) && len(c.MCPServers) == 0 }

// DemoModel answers without a key.
const DemoModel = "demo"

// modelChosen reports whether somebody is configured who answers.
func modelChosen(c *config.Config) bool {
	for name, provider := range c.Providers {
		if provider.APIKey != "" || provider.BaseURL != "" || !NeedsKey(name) {
			return true
		}
	}
	return c.DefaultModel == DemoModel || len(c.ModelList) > 0 || c.Fallback.Enabled
}

// NeedsKey reports whether a known provider answers only with a key.
func NeedsKey(provider string) bool { return !slices.Contains(keyless, provider) }

// ProviderEdits are what makes a known provider, whose key is in the keychain
// under its name, answer.
func ProviderEdits(c *config.Config, name string) []config.Edit {
	provider := c.Providers[name]
	if NeedsKey(name) {
		provider.APIKey = config.Secret(keychainScheme + name)
	}
	return []config.Edit{{Path: []string{"providers", name}, Value: provider}}
}

// DefaultModelEdits are what makes a model answer when none is named.
func DefaultModelEdits(model string) []config.Edit {
	return []config.Edit{{Path: []string{"default_model"}, Value: model}}
}

// ScratchEdits are what adds the scratch server, which comes with the program.
func ScratchEdits() []config.Edit {
	return []config.Edit{{Path: []string{"mcpServers", "scratch"}, Value: config.MCPServer{Type: builtinType}}}
}

// ModelOf is how a provider's own name of a model is asked for.
func ModelOf(provider, name string) string { return provider + "/" + name }

// WelcomeStep is one of the first steps.
type WelcomeStep struct {
	Title string
	Done  bool
}

// WelcomeSteps are the first steps, and which of them are done.
func WelcomeSteps(c *config.Config) []WelcomeStep {
	return []WelcomeStep{
		{Title: "Model", Done: c != nil && modelChosen(c)},
		{Title: "Tools", Done: c != nil && len(c.MCPServers) > 0},
		{Title: "Copilot"},
	}
}

// ForeignDefault reports whether the model that answers when none is named is
// still the one that we come with, or the demo's, and a provider of that name
// would not have it.
func ForeignDefault(c *config.Config, provider string) bool {
	return c.DefaultModel == DemoModel || c.DefaultModel == config.Default().DefaultModel && provider != "openai" && c.DefaultProvider == ""
}

// ServersTold says which servers there are, n by the configuration; "" for none.
func ServersTold(n int, s State) string {
	if n == 0 {
		return ""
	}
	if s.Servers > 0 && s.Connected == s.Servers {
		return fmt.Sprintf("Added and connected: %s.", s.servers())
	}
	return "Added; connecting …"
}

// welcomeMark is the file in the state directory that says that the first steps
// were shown.
const welcomeMark = "welcomed"

// Welcomed reports whether the first steps were finished or skipped.
func Welcomed(home config.Home) bool {
	_, err := os.Stat(filepath.Join(home.State, welcomeMark))
	return !errors.Is(err, fs.ErrNotExist)
}

// NoteWelcomed remembers that they were.
func NoteWelcomed(home config.Home) error {
	if err := os.MkdirAll(home.State, 0o700); err != nil {
		return fmt.Errorf("remembering that the first steps were shown: %w", err)
	}
	if err := os.WriteFile(filepath.Join(home.State, welcomeMark), nil, 0o600); err != nil {
		return fmt.Errorf("remembering that the first steps were shown: %w", err)
	}
	return nil
}
