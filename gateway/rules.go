package gateway

import (
	"context"
	"errors"
	"net/http"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
)

// saveRules writes the remembered decisions that outlive the program into the
// configuration file, unless somebody else's rules wait there for a yes.
func (g *Gateway) saveRules(rules []approvals.Rule) error {
	return g.store.UpdateSetting([]string{"approvals", "rules"}, func(cfg *config.Config) error {
		cfg.Approvals.Rules = toConfig(rules)
		return nil
	})
}

func toConfig(rules []approvals.Rule) []config.Rule {
	var list []config.Rule
	for _, r := range rules {
		list = append(list, config.Rule{
			ID: r.ID, Action: string(r.Action), Server: r.Server, Tool: r.Tool, Definition: r.Definition,
			Arguments: r.Arguments, PathPrefix: r.PathPrefix, CommandPrefix: r.CommandPrefix, Folder: r.Folder, Until: r.Until, Created: r.Created,
		})
	}
	return list
}

func fromConfig(rules []config.Rule) []approvals.Rule {
	var list []approvals.Rule
	for _, r := range rules {
		list = append(list, approvals.Rule{
			ID: r.ID, Action: approvals.Action(r.Action), Server: r.Server, Tool: r.Tool, Definition: r.Definition,
			Arguments: r.Arguments, PathPrefix: r.PathPrefix, CommandPrefix: r.CommandPrefix, Folder: r.Folder, Until: r.Until, Created: r.Created,
		})
	}
	return list
}

// Rules lists the remembered decisions.
func (m manager) Rules(context.Context) ([]approvals.Rule, error) { return m.g.rules.List(), nil }

// RemoveRule forgets one of them.
func (m manager) RemoveRule(_ context.Context, id string) (bool, error) {
	removed, err := m.g.rules.Delete(id)
	m.g.notices.notify()
	return removed, m.refusedIfHeld(err)
}

// RestoreRule takes a removal back.
func (m manager) RestoreRule(_ context.Context, rule approvals.Rule) error {
	err := m.g.rules.Restore(rule)
	if errors.Is(err, approvals.ErrNotRemoved) {
		return &control.RefusedError{Status: http.StatusConflict, Message: err.Error()}
	}
	m.g.notices.notify()
	return m.refusedIfHeld(err)
}

// refusedIfHeld tells the windows of a change that waits for a yes in the words
// they show.
func (m manager) refusedIfHeld(err error) error {
	var held *config.HeldError
	if errors.As(err, &held) {
		return &control.RefusedError{Status: http.StatusConflict, Message: m.g.redactor.Redact(held.Error())}
	}
	return err
}
