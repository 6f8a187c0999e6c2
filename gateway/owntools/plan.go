package owntools

import (
	"context"
	"encoding/json"

	"pointsman/approvals"
	"pointsman/gateway/loop"
)

func planTool(g Gateway) *tool {
	return &tool{
		name: "gpt6_plan", title: "The latest plan", class: approvals.Read, input: noArguments,
		description: "Returns the plan that a model published last in this session, or else for this client, and how far it is.",
		run: func(ctx context.Context, _ json.RawMessage, _ func(string)) (any, error) {
			plan := g.Plan(partyOf(ctx))
			return struct {
				Plan         []loop.Step    `json:"plan"`
				PlanProgress map[string]int `json:"plan_progress"`
			}{append([]loop.Step{}, plan...), loop.Progress(plan)}, nil
		},
	}
}
