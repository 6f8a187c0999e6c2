package owntools

import (
	"context"
	"encoding/json"
	"fmt"

	"pointsman/approvals"
	"pointsman/gateway/ask"
)

// askTool puts a typed question to one of the capabilities that a configuration
// has. It is held to read, as gpt6_chat is: the model gets no tools.
func askTool(g Gateway, capabilities []string) (*tool, error) {
	capability := map[string]any{"type": "string", "description": "What the question needs; see list_capabilities. The user's configuration decides which model that is."}
	if len(capabilities) > 0 {
		capability["enum"] = capabilities
	}
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	input, err := json.Marshal(map[string]any{
		"type": "object", "required": []string{"capability", "prompt"}, "additionalProperties": false,
		"properties": map[string]any{
			"capability": capability,
			"prompt":     map[string]any{"type": "string", "minLength": 1, "description": "What is asked."},
			"context":    text("What alone the answer may be taken from. If it does not hold the answer, insufficient_context is true."),
			"system":     text("Put before the question, as the system's message."),
			"response_schema": map[string]any{"type": []string{"object", "string"},
				"description": "A JSON Schema with type object, or its text. The answer is then in data, and conforms to it."},
			"temperature":       map[string]any{"type": "number", "minimum": 0, "maximum": 2, "description": "0 with a schema, if absent."},
			"max_output_tokens": map[string]any{"type": "integer", "minimum": 1, "description": "The most that the answer may be."},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("describing the tool ask: %w", err)
	}
	return &tool{
		name: "ask", title: "Ask by capability", class: approvals.Read, openWorld: true, input: string(input),
		description: "Puts one question to a model chosen by what it is for, and returns an envelope of the same shape whatever happens: ok, content or data, error with a code, usage, route.",
		run: func(ctx context.Context, arguments json.RawMessage, progress func(string)) (any, error) {
			return g.Ask(ctx, partyOf(ctx), arguments, progress), nil
		},
	}, nil
}

func capabilitiesTool(g Gateway) *tool {
	return &tool{
		name: "list_capabilities", title: "List the capabilities", class: approvals.Read, input: noArguments,
		description: "Lists what ask can be asked for: what each capability is for, how its deployments are doing, and who stands in for them.",
		run: func(context.Context, json.RawMessage, func(string)) (any, error) {
			return struct {
				Capabilities []ask.Capability `json:"capabilities"`
			}{g.Capabilities()}, nil
		},
	}
}
