// Package models is who answers: the catalogue of known models and providers,
// the route from a model's name to a deployment, provider quirks, retries, and
// the wire to the provider (net/http for what is forwarded, openai-go for what we
// ask ourselves), with bodies kept as raw JSON so that nothing a client or
// provider sends is lost.
//
// The package starts no goroutine of its own but one that reads what follows a
// stream's end, for half a second at most; a stream's reader is the caller's.
package models

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"pointsman/assets"
	"pointsman/gateway/config"
)

// Catalogue is the models and providers known by name. It is fixed once made.
type Catalogue struct {
	models    []config.CatalogueModel
	byName    map[string]*config.CatalogueModel // id and aliases
	providers map[string]KnownProvider
}

// KnownProvider is an OpenAI-compatible endpoint that needs only a key.
type KnownProvider struct {
	BaseURL string `yaml:"base_url"`
	Local   bool   `yaml:"local"` // runs on this machine and takes no key
	// Responses says whether it has the Responses API. If nil, that is not known.
	Responses *bool `yaml:"responses"`
}

// offer returns what is known of the provider's Responses API.
func (p KnownProvider) offer() offer {
	switch {
	case p.Responses == nil:
		return offerUnknown
	case *p.Responses:
		return offered
	default:
		return notOffered
	}
}

// NewCatalogue returns the built-in catalogue with the user's own models added;
// an own model replaces a built-in one of the same id.
func NewCatalogue(own []config.CatalogueModel) (*Catalogue, error) {
	var built struct {
		Models    []config.CatalogueModel  `yaml:"models"`
		Providers map[string]KnownProvider `yaml:"providers"`
	}
	if err := yaml.Unmarshal(assets.ModelsYAML, &built); err != nil {
		return nil, fmt.Errorf("reading the built-in model catalogue: %w", err)
	}
	c := &Catalogue{byName: map[string]*config.CatalogueModel{}, providers: built.Providers}
	replaced := map[string]bool{}
	for _, m := range own {
		replaced[m.ID] = true
	}
	for _, m := range built.Models {
		if !replaced[m.ID] {
			c.models = append(c.models, m)
		}
	}
	c.models = append(c.models, own...)
	for i := range c.models {
		m := &c.models[i]
		c.byName[m.ID] = m
		for _, alias := range m.Aliases {
			if _, taken := c.byName[alias]; !taken {
				c.byName[alias] = m
			}
		}
	}
	return c, nil
}

// Find returns the model of that id or alias, or nil.
func (c *Catalogue) Find(name string) *config.CatalogueModel { return c.byName[name] }

// Models returns the catalogue's models in their order. They must not be changed.
func (c *Catalogue) Models() []config.CatalogueModel { return c.models }

// gpt6 reports whether id is of the GPT-6 family.
func gpt6(id string) bool { return strings.HasPrefix(id, "gpt-6") }

// glm reports whether id is one of Z.ai's models.
func glm(id string) bool { return strings.HasPrefix(id, "glm-") }
