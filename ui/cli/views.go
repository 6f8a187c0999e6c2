package cli

import (
	"context"

	"pointsman/gateway"
	"pointsman/ui/desktop"
)

// modelRow is an element of `models --json`.
type modelRow struct {
	ID              string   `json:"id"`
	Aliases         []string `json:"aliases"`
	Label           string   `json:"label"`
	Tier            string   `json:"tier"`
	ContextWindow   *int64   `json:"context_window"` // tokens; null when no provider publishes it
	MaxOutput       *int64   `json:"max_output"`
	Provider        string   `json:"provider"`
	Capability      bool     `json:"capability"` // a name of model_list rather than a model
	ReasoningEffort string   `json:"reasoning_effort"`
	Efforts         []string `json:"efforts"`
	InputCost       *float64 `json:"input_cost_per_token"` // US dollars; null when no provider publishes it
	OutputCost      *float64 `json:"output_cost_per_token"`
}

// views are what the control socket shows besides approvals and events.
func views(g *gateway.Gateway) map[string]func(context.Context) any {
	return map[string]func(context.Context) any{
		"status":       func(ctx context.Context) any { return g.Status(ctx) },
		"models":       func(context.Context) any { return modelRows(g) },
		"capabilities": func(context.Context) any { return g.Capabilities() },
		"health":       func(context.Context) any { return g.Models().Health() },
		"local":        func(ctx context.Context) any { return g.LocalServers(ctx) },
		"tools":        func(context.Context) any { return g.Tools() },
		"servers":      func(context.Context) any { return g.Servers() },
		desktop.View:   func(context.Context) any { return desktop.StateOf(g) },
	}
}

func modelRows(g *gateway.Gateway) []modelRow {
	rows := []modelRow{}
	for _, m := range g.Models().List() {
		rows = append(rows, modelRow{
			ID: m.ID, Aliases: append([]string{}, m.Aliases...), Label: m.Label, Tier: m.Tier,
			ContextWindow: m.ContextWindow, MaxOutput: m.MaxOutput, Provider: m.OwnedBy, Capability: m.Capability,
			ReasoningEffort: m.ReasoningEffort, Efforts: append([]string{}, m.Efforts...),
			InputCost: m.InputCost, OutputCost: m.OutputCost,
		})
	}
	return rows
}
