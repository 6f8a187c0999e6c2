package gateway

import (
	"pointsman/approvals"
	"pointsman/gateway/config"
)

// saveRules writes the remembered decisions that outlive the program into the
// configuration file.
func (g *Gateway) saveRules(rules []approvals.Rule) error {
	return g.store.Update(func(cfg *config.Config) error {
		cfg.Approvals.Rules = toConfig(rules)
		return nil
	})
}

func toConfig(rules []approvals.Rule) []config.Rule {
	var list []config.Rule
	for _, r := range rules {
		list = append(list, config.Rule{
			ID: r.ID, Action: string(r.Action), Server: r.Server, Tool: r.Tool, Definition: r.Definition,
			Arguments: r.Arguments, PathPrefix: r.PathPrefix, Until: r.Until, Created: r.Created,
		})
	}
	return list
}

func fromConfig(rules []config.Rule) []approvals.Rule {
	var list []approvals.Rule
	for _, r := range rules {
		list = append(list, approvals.Rule{
			ID: r.ID, Action: approvals.Action(r.Action), Server: r.Server, Tool: r.Tool, Definition: r.Definition,
			Arguments: r.Arguments, PathPrefix: r.PathPrefix, Until: r.Until, Created: r.Created,
		})
	}
	return list
}
