package owntools

import (
	"context"
	"encoding/json"

	"pointsman/approvals"
)

// model is what a client is told of a model.
type model struct {
	Label           string   `json:"label"`
	Tier            string   `json:"tier"`
	OwnedBy         string   `json:"owned_by"`
	ContextWindow   *int64   `json:"context_window"`
	MaxOutput       *int64   `json:"max_output"`
	ReasoningEffort string   `json:"reasoning_effort"`
	Aliases         []string `json:"aliases"`
	Capability      bool     `json:"capability"` // what the model is for, rather than a model
}

func modelsTool(g Gateway) *tool {
	return &tool{
		name: "gpt6_models", title: "List the models", class: approvals.Read, input: noArguments,
		description: "Lists the models that gpt6_chat can ask, by id, with what is known of each.",
		run: func(context.Context, json.RawMessage, func(string)) (any, error) {
			list := map[string]model{}
			for _, info := range g.Models().List() {
				list[info.ID] = model{
					Label: info.Label, Tier: info.Tier, OwnedBy: info.OwnedBy, ContextWindow: info.ContextWindow, MaxOutput: info.MaxOutput,
					ReasoningEffort: info.ReasoningEffort, Aliases: append([]string{}, info.Aliases...), Capability: info.Capability,
				}
			}
			return list, nil
		},
	}
}
