package owntools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"pointsman/approvals"
)

// chatTool asks a model. It is held to read: what the model does with tools is
// asked about call by call.
func chatTool(g Gateway) *tool {
	return &tool{
		name: "gpt6_chat", title: "Ask a model", class: approvals.Read, openWorld: true,
		description: "Asks one of the models that Pointsman knows and returns its answer. The model may use the user's MCP tools; each risky call waits until the user has approved it.",
		input: `{"type":"object","properties":{` +
			`"prompt":{"type":"string","minLength":1,"description":"What is asked."},` +
			`"system":{"type":"string","description":"Put before it, as the system's message."},` +
			`"model":{"type":"string","description":"A model's id, alias or capability; see gpt6_models. The default model if absent."}},` +
			`"required":["prompt"],"additionalProperties":false}`,
		run: func(ctx context.Context, arguments json.RawMessage, progress func(string)) (any, error) {
			var q Question
			if err := json.Unmarshal(arguments, &q); err != nil {
				return nil, err
			}
			if strings.TrimSpace(q.Prompt) == "" {
				return nil, errors.New("the prompt is empty")
			}
			return g.Answer(ctx, partyOf(ctx), q, progress)
		},
	}
}
