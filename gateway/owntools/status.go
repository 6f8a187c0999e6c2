package owntools

import (
	"context"
	"encoding/json"

	"pointsman/approvals"
)

func statusTool(g Gateway) *tool {
	return &tool{
		name: "gpt6_status", title: "State of Pointsman", class: approvals.Read, input: noArguments,
		description: "Tells the state of Pointsman: its model provider, the MCP servers, what waits for approval.",
		run: func(ctx context.Context, _ json.RawMessage, _ func(string)) (any, error) {
			return g.Status(ctx), nil
		},
	}
}
