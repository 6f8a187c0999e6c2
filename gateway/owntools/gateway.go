package owntools

import (
	"context"
	"encoding/json"

	"pointsman/gateway/ask"
	"pointsman/gateway/loop"
	"pointsman/gateway/marathon"
	"pointsman/gateway/models"
	"pointsman/gateway/tools"
)

// Gateway is what the tools tell of and ask.
type Gateway interface {
	// Answer asks a model, which may use the servers' tools. What happens meanwhile
	// is told to progress, in words.
	Answer(ctx context.Context, party Party, q Question, progress func(string)) (*Answer, error)
	// Ask puts a typed question to a capability; the envelope says what came of it.
	// That it goes on is told to progress, in words.
	Ask(ctx context.Context, party Party, question json.RawMessage, progress func(string)) *ask.Envelope
	Capabilities() []ask.Capability
	// BeginMarathon reads a debug marathon and begins it. Of an id that is not known,
	// Marathon's error says so.
	BeginMarathon(ctx context.Context, party Party, request json.RawMessage) (*marathon.Job, error)
	Marathon(ctx context.Context, id string) (*marathon.Job, error)
	Models() *models.Router
	Status(ctx context.Context) any
	Tools() []tools.Row
	// Plan returns the latest plan of a party's session, else of its client; nil
	// when there is none.
	Plan(p Party) []loop.Step
}

// Question is what a model is asked.
type Question struct {
	Prompt string `json:"prompt"`
	System string `json:"system"`
	Model  string `json:"model"`
}

// Answer is what a model answered, and how that came about.
type Answer struct {
	Content      string         `json:"content"`
	Model        string         `json:"model"`
	Rounds       int            `json:"rounds"`
	UsedTools    []string       `json:"used_tools"`
	Plan         []loop.Step    `json:"plan"`
	PlanProgress map[string]int `json:"plan_progress"`
	LoopStopped  bool           `json:"loop_stopped"`
}
