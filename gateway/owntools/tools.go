package owntools

import (
	"context"
	"encoding/json"

	"pointsman/approvals"
	"pointsman/gateway/tools"
)

func toolsTool(g Gateway) *tool {
	return &tool{
		name: "gpt6_tools", title: "List the tools", class: approvals.Read, input: noArguments,
		description: "Lists every tool of the user's MCP servers: its risk, and why it is not offered when it is not.",
		run: func(context.Context, json.RawMessage, func(string)) (any, error) {
			return struct {
				Tools []tools.Row `json:"tools"`
			}{g.Tools()}, nil
		},
	}
}
