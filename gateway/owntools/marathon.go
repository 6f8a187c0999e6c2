package owntools

import (
	"context"
	"encoding/json"
	"fmt"

	"pointsman/approvals"
	"pointsman/gateway/marathon"
)

// marathonTool begins a debug marathon. It is held to read, as gpt6_chat is: the
// models get no tools.
func marathonTool(g Gateway) (*tool, error) {
	grade := func(what string) map[string]any {
		return map[string]any{"type": "integer", "minimum": 1, "maximum": marathon.MaxGrade, "default": marathon.DefaultGrade, "description": what}
	}
	task := map[string]any{
		"type": "object", "required": []string{"question"}, "additionalProperties": false,
		"properties": map[string]any{
			"question":   map[string]any{"type": "string", "minLength": 1, "maxLength": marathon.MaxQuestion, "description": "What is asked, with all that is needed to answer it."},
			"title":      map[string]any{"type": "string", "maxLength": marathon.MaxTitle, "description": "What a person knows it by."},
			"priority":   grade("5 is done first."),
			"difficulty": grade("Of equal priorities, 5 is done first."),
			"complexity": grade("Of equal difficulties, 5 is done first."),
		},
	}
	input, err := json.Marshal(map[string]any{
		"type": "object", "required": []string{"tasks"}, "additionalProperties": false,
		"properties": map[string]any{"tasks": map[string]any{"type": "array", "minItems": 1, "maxItems": marathon.MaxTasks, "items": task}},
	})
	if err != nil {
		return nil, fmt.Errorf("describing the tool gpt6_debug_marathon: %w", err)
	}
	return &tool{
		name: "gpt6_debug_marathon", title: "Begin a debug marathon", class: approvals.Read, openWorld: true, input: string(input),
		description: "Puts 1 to 10 questions, one after the other, to several models in turn, each of which sees the earlier ones' answers. Returns at once, with a job_id: gpt6_debug_marathon_status tells how far it is and what was answered. It goes on when the caller is gone.",
		run: func(ctx context.Context, arguments json.RawMessage, _ func(string)) (any, error) {
			return g.BeginMarathon(ctx, partyOf(ctx), arguments)
		},
	}, nil
}

func marathonStatusTool(g Gateway) *tool {
	return &tool{
		name: "gpt6_debug_marathon_status", title: "State of a debug marathon", class: approvals.Read,
		description: "Tells how far a debug marathon is, and every answer so far with its time and cost.",
		input: `{"type":"object","properties":{"job_id":{"type":"string","minLength":1,"description":"What gpt6_debug_marathon has returned."}},` +
			`"required":["job_id"],"additionalProperties":false}`,
		run: func(ctx context.Context, arguments json.RawMessage, _ func(string)) (any, error) {
			var asked struct {
				JobID string `json:"job_id"`
			}
			if err := json.Unmarshal(arguments, &asked); err != nil {
				return nil, err
			}
			return g.Marathon(ctx, asked.JobID)
		},
	}
}
