package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// flow is one secret on its way to one address.
type flow struct {
	secret  string   // the reference, as it is written
	to      string   // an address, or words for it
	builtin bool     // no file decides the address
	sender  string   // in words
	parts   []string // the settings that decide it, as gates name them
}

// carried is the text of a secret that is looked up elsewhere, in whatever part;
// "" for a literal, which whoever writes the file knows already.
func carried(s Secret) string {
	if text := string(s); isWholeRef(text) || strings.Contains(text, "$") {
		return text
	}
	return ""
}

// carriedIn lists what headers and a key carry.
func carriedIn(key Secret, headers map[string]Secret) []string {
	var all []string
	for _, s := range append(slices.Collect(maps.Values(headers)), key) {
		if text := carried(s); text != "" {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// flowsOf lists what models are asked with. borrowed names the parts whose key
// the environment gives.
func flowsOf(c *Config, borrowed map[string]Secret) []flow {
	var flows []flow
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p, part := c.Providers[name], providerPart(name)
		to := address(c, name)
		to.sender, to.parts = "provider "+name, []string{part}
		flows = append(flows, to.with(carriedIn(cmp.Or(borrowed[part], p.APIKey), p.Headers))...)
	}
	if f := c.Fallback; f.BaseURL != "" {
		to := flow{to: f.BaseURL, sender: "fallback", parts: []string{"fallback"}}
		flows = append(flows, to.with(carriedIn(cmp.Or(borrowed["fallback"], f.APIKey), nil))...)
	}
	for _, d := range c.ModelList {
		p := d.LiteLLMParams
		secrets := carriedIn(p.APIKey, p.ExtraHeaders)
		for _, to := range deploymentAddresses(c, p) {
			to.sender = fmt.Sprintf("model_list: %q", d.ModelName)
			to.parts = append(to.parts, "model_list")
			flows = append(flows, to.with(secrets)...)
		}
	}
	return flows
}

// with is the flow once for each of the secrets.
func (f flow) with(secrets []string) []flow {
	var flows []flow
	for _, secret := range secrets {
		f.secret = secret
		flows = append(flows, f)
	}
	return flows
}

func providerPart(name string) string { return join("providers", name) }

// address is where requests to a provider go.
func address(c *Config, provider string) flow {
	if base := c.Providers[provider].BaseURL; base != "" {
		return flow{to: base}
	}
	return flow{to: provider + "'s own address", builtin: true}
}

// deploymentAddresses is where requests to a deployment can go. Without a
// provider that is known they go to the one that has its model: any of them.
func deploymentAddresses(c *Config, p LiteLLMParams) []flow {
	if base := cmp.Or(p.APIBase, p.BaseURL); base != "" {
		return []flow{{to: base}}
	}
	prefix, _, named := strings.Cut(p.Model, "/")
	if _, configured := c.Providers[prefix]; named && (configured || slices.Contains(knownProviders, prefix)) {
		to := address(c, prefix)
		to.parts = []string{providerPart(prefix)}
		return []flow{to}
	}
	all := []flow{{to: "the provider that has " + p.Model, builtin: true}}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		other := address(c, name)
		other.parts = []string{providerPart(name), providerPart(prefix)} // that the prefix is none any more may be why
		all = append(all, other)
	}
	return all
}

// flowGates hold what would send a secret to where it was not sent: one for each
// provider, one for the fallback, one for the model list.
func flowGates(old, new *Config, borrowed map[string]Secret) []gate {
	names := maps.Clone(old.Providers)
	if names == nil {
		names = map[string]Provider{}
	}
	maps.Copy(names, new.Providers)
	gates := []gate{
		sends([]string{"fallback"}, borrowed, func(c *Config) any { return c.Fallback }, func(old, into *Config) { into.Fallback = old.Fallback }),
		sends([]string{"model_list"}, borrowed, func(c *Config) any { return c.ModelList }, func(old, into *Config) { into.ModelList = old.Clone().ModelList }),
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		gates = append(gates, sends([]string{"providers", name}, borrowed, func(c *Config) any {
			if p, ok := c.Providers[name]; ok {
				return p
			}
			return nil
		}, func(old, into *Config) {
			if before, ok := old.Clone().Providers[name]; ok {
				if into.Providers == nil {
					into.Providers = map[string]Provider{}
				}
				into.Providers[name] = before
				return
			}
			delete(into.Providers, name)
		}))
	}
	return gates
}

// sends is the gate of one part that decides where secrets go.
func sends(path []string, borrowed map[string]Secret, value func(*Config) any, keep func(old, into *Config)) gate {
	return gate{path: path, value: value, keep: keep, loosened: func(old, new *Config) (string, bool) {
		if reflect.DeepEqual(value(old), value(new)) {
			return "", false
		}
		for _, f := range newFlows(flowsOf(old, borrowed), flowsOf(new, borrowed)) {
			if slices.Contains(f.parts, pathTo(path)) {
				return f.sentence(), true
			}
		}
		return "", false
	}}
}

// newFlows lists what of after is not in before. A secret that went nowhere may
// go to a provider's built-in address: that is how a known provider is set up.
func newFlows(before, after []flow) []flow {
	return slices.DeleteFunc(after, func(f flow) bool {
		used := slices.ContainsFunc(before, func(b flow) bool { return b.secret == f.secret })
		known := slices.ContainsFunc(before, func(b flow) bool { return b.secret == f.secret && b.to == f.to })
		return known || f.builtin && !used
	})
}

func (f flow) sentence() string {
	to := f.to
	if !f.builtin {
		to = withoutUser(to)
	}
	return fmt.Sprintf("%s would send its key to %s", f.sender, to)
}
