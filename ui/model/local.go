package model

import (
	"fmt"
	"slices"
	"strings"

	"pointsman/gateway/config"
	"pointsman/gateway/models/local"
)

// NewLocalServers are the servers that have been found and are not configured.
func NewLocalServers(found []local.Server) []local.Server {
	return slices.DeleteFunc(slices.Clone(found), func(s local.Server) bool { return s.Configured })
}

// LocalWords say in a sentence what has been found.
func LocalWords(s local.Server) string {
	title := s.Title
	if s.Version != "" {
		title += " " + clip(Printed(s.Version), 20)
	}
	if len(s.Models) == 0 {
		return title + " runs on this machine, without a model that can chat."
	}
	var shown []string
	for _, name := range s.Models[:min(len(s.Models), 3)] {
		shown = append(shown, Shorten(Printed(name), longestName/2))
	}
	names := strings.Join(shown, ", ")
	if more := len(s.Models) - 3; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s runs on this machine, with %s.", title, names)
}

// LocalAdded says what has come of adding a server.
func LocalAdded(s local.Server) string {
	return fmt.Sprintf("%s is added, with %s.", s.Title, CountOf(len(s.Models), "model"))
}

// LocalEdits are what has a local server answer: its provider, and each of its
// models under its own name in model_list. Where capabilities are declared a name
// that is none would be refused, so the provider is asked for its models instead.
func LocalEdits(c *config.Config, s local.Server) []config.Edit {
	name := LocalProvider(c, s)
	provider := c.Providers[name]
	provider.BaseURL = s.Address
	provider.Models.Discover = provider.Models.Discover || len(c.Capabilities) > 0
	edits := []config.Edit{{Path: []string{"providers", name}, Value: provider}}
	if len(c.Capabilities) > 0 || len(s.Models) == 0 {
		return edits
	}
	list := slices.Clone(c.ModelList)
	for _, m := range s.Models {
		own := m
		if slices.ContainsFunc(list, func(d config.Deployment) bool { return d.ModelName == m }) {
			own = ModelOf(name, m) // under another's name it would take turns with that
		}
		list = append(list, config.Deployment{ModelName: own, LiteLLMParams: config.LiteLLMParams{Model: localPrefix(name) + m}})
	}
	return append(edits, config.Edit{Path: []string{"model_list"}, Value: list})
}

// LocalProvider is the name of a local server's provider: the usual one, unless
// that is somewhere else.
func LocalProvider(c *config.Config, s local.Server) string {
	if there := c.Providers[s.Provider].BaseURL; there != "" && there != s.Address {
		return s.Provider + "-local"
	}
	return s.Provider
}

// localPrefix is what stands before the models of a provider in model_list: of
// those that LiteLLM knows, what it writes.
func localPrefix(provider string) string {
	if prefix, ok := map[string]string{"ollama": "ollama_chat/", "lmstudio": "lm_studio/"}[provider]; ok {
		return prefix
	}
	return ModelOf(provider, "")
}

// LocalModel is how the first model of a local server is asked for once it is added
// to what c says; "" when it has none.
func LocalModel(c *config.Config, s local.Server) string {
	if len(s.Models) == 0 {
		return ""
	}
	return ModelOf(LocalProvider(c, s), s.Models[0])
}
