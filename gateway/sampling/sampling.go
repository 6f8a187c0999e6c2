// Package sampling turns what an MCP server asks a model (sampling/createMessage,
// MCP 2025-11-25) into a chat completion, and the completion into the server's
// answer. It asks nobody itself and starts no goroutine.
package sampling

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// Request is what a server asks a model.
type Request struct {
	params gjson.Result
	msgs   []map[string]any
}

// Read reads the parameters of sampling/createMessage. The error says what is
// wrong with them, to the server.
func Read(params json.RawMessage) (*Request, error) {
	if !gjson.ValidBytes(params) || !gjson.ParseBytes(params).IsObject() {
		return nil, errors.New("reading the request: it is no JSON object")
	}
	r := &Request{params: gjson.ParseBytes(params)}
	if system := r.params.Get("systemPrompt").Str; system != "" {
		r.msgs = append(r.msgs, map[string]any{"role": "system", "content": system})
	}
	messages := r.params.Get("messages").Array()
	if len(messages) == 0 {
		return nil, errors.New("reading the request: it has no messages")
	}
	if r.params.Get("maxTokens").Int() <= 0 {
		return nil, errors.New("reading the request: maxTokens must be a number above zero")
	}
	for i, m := range messages {
		if err := r.add(m); err != nil {
			return nil, fmt.Errorf("reading messages[%d]: %w", i, err)
		}
	}
	return r, nil
}

// add adds one message, which may be several for a model: each result of a tool
// is one.
func (r *Request) add(m gjson.Result) error {
	role := m.Get("role").Str
	if role != "user" && role != "assistant" {
		return fmt.Errorf("the role is %q; it must be user or assistant", role)
	}
	blocks := m.Get("content").Array() // of a single block, that one
	parts, calls := []any{}, []any{}
	for _, b := range blocks {
		switch b.Get("type").Str {
		case "tool_use":
			calls = append(calls, map[string]any{
				"id": b.Get("id").Str, "type": "function",
				"function": map[string]any{"name": b.Get("name").Str, "arguments": cmp.Or(b.Get("input").Raw, "{}")},
			})
		case "tool_result":
			r.msgs = append(r.msgs, map[string]any{"role": "tool", "tool_call_id": b.Get("toolUseId").Str, "content": resultText(b)})
		default:
			part, err := partOf(b)
			if err != nil {
				return err
			}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 && len(calls) == 0 {
		return nil
	}
	message := map[string]any{"role": role, "content": plain(parts)}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	r.msgs = append(r.msgs, message)
	return nil
}

func partOf(b gjson.Result) (map[string]any, error) {
	data, kind := b.Get("data").Str, b.Get("mimeType").Str
	switch b.Get("type").Str {
	case "text":
		return map[string]any{"type": "text", "text": b.Get("text").Str}, nil
	case "image":
		return map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:" + kind + ";base64," + data}}, nil
	case "audio":
		_, format, _ := strings.Cut(kind, "/")
		return map[string]any{"type": "input_audio", "input_audio": map[string]any{"data": data, "format": format}}, nil
	}
	return nil, fmt.Errorf("content of the type %q is not known", b.Get("type").Str)
}

// plain returns text alone as a string, which every provider understands.
func plain(parts []any) any {
	if len(parts) == 0 {
		return nil
	}
	if part, ok := parts[0].(map[string]any); ok && len(parts) == 1 && part["type"] == "text" {
		return part["text"]
	}
	return parts
}

func resultText(b gjson.Result) string {
	var texts []string
	for _, c := range b.Get("content").Array() {
		if c.Get("type").Str == "text" {
			texts = append(texts, c.Get("text").Str)
		}
	}
	if s := b.Get("structuredContent"); s.Exists() && len(texts) == 0 {
		return s.Raw
	}
	return strings.Join(texts, "\n")
}

// Body returns the request to a model, which is to write at most limit tokens;
// fewer when the server wants fewer. includeContext is not followed: what other
// servers and the conversation hold is not the server's to see.
func (r *Request) Body(model string, limit int64) (*models.Body, error) {
	fields := map[string]any{
		"model": model, "stream": false, "messages": r.msgs, "max_tokens": min(limit, r.params.Get("maxTokens").Int()),
	}
	if t := r.params.Get("temperature"); t.Type == gjson.Number {
		fields["temperature"] = json.RawMessage(t.Raw)
	}
	if stop := r.params.Get("stopSequences"); stop.IsArray() && len(stop.Array()) > 0 {
		fields["stop"] = json.RawMessage(stop.Raw)
	}
	if tools := r.tools(); len(tools) > 0 {
		fields["tools"] = tools
		fields["tool_choice"] = cmp.Or(r.params.Get("toolChoice.mode").Str, "auto")
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return models.ParseBody(data)
}

// tools returns the tools that the server offers, which it runs itself.
func (r *Request) tools() []any {
	var list []any
	for _, t := range r.params.Get("tools").Array() {
		function := map[string]any{"name": t.Get("name").Str, "description": t.Get("description").Str}
		if schema := t.Get("inputSchema").Raw; schema != "" {
			function["parameters"] = json.RawMessage(schema)
		}
		list = append(list, map[string]any{"type": "function", "function": function})
	}
	return list
}

// Model returns the id of the model that fits the server's preferences best: the
// first hint that is part of the name of one of ours; else, if what it cares most
// for is cost or speed, or intelligence, one of that tier of the provider that
// serves the default model; else the default, which is "".
func (r *Request) Model(list []models.Info, defaultModel string, usable func(id string) bool) string {
	prefer := r.params.Get("modelPreferences")
	for _, hint := range prefer.Get("hints.#.name").Array() {
		for _, m := range list {
			if hint.Str != "" && named(m, hint.Str) && usable(m.ID) {
				return m.ID
			}
		}
	}
	tier := wantedTier(prefer)
	var provider string
	for _, m := range list {
		if m.ID == defaultModel {
			provider = m.OwnedBy
			if m.Tier == tier {
				return ""
			}
		}
	}
	for _, m := range list {
		if tier != "" && m.Tier == tier && m.OwnedBy == provider && usable(m.ID) {
			return m.ID
		}
	}
	return ""
}

func named(m models.Info, hint string) bool {
	hint = strings.ToLower(hint)
	for _, name := range append([]string{m.ID, m.Label}, m.Aliases...) {
		if strings.Contains(strings.ToLower(name), hint) {
			return true
		}
	}
	return false
}

// wantedTier is what the priorities, from 0 to 1, come to; "" when none leads.
func wantedTier(prefer gjson.Result) string {
	intelligence := prefer.Get("intelligencePriority").Num
	economy := max(prefer.Get("costPriority").Num, prefer.Get("speedPriority").Num)
	switch {
	case intelligence > economy:
		return "high"
	case economy > intelligence:
		return "low"
	}
	return ""
}

// Result returns a chat completion as the result of sampling/createMessage.
func Result(model string, completion []byte) (json.RawMessage, error) {
	choice := gjson.GetBytes(completion, "choices.0")
	if !choice.Exists() {
		return nil, errors.New("reading the model's answer: it has none")
	}
	content := []any{}
	if text := choice.Get("message.content").String(); text != "" {
		content = append(content, map[string]any{"type": "text", "text": text})
	}
	for _, call := range choice.Get("message.tool_calls").Array() {
		arguments := call.Get("function.arguments").Str
		if !gjson.Valid(arguments) || !gjson.Parse(arguments).IsObject() {
			arguments = "{}"
		}
		content = append(content, map[string]any{
			"type": "tool_use", "id": call.Get("id").Str, "name": call.Get("function.name").Str, "input": json.RawMessage(arguments),
		})
	}
	result := map[string]any{"role": "assistant", "model": model, "content": content, "stopReason": stopReason(choice.Get("finish_reason").Str)}
	switch len(content) {
	case 0:
		result["content"] = map[string]any{"type": "text", "text": ""}
	case 1:
		result["content"] = content[0] // servers of before 2025-11-25 know no lists
	}
	return json.Marshal(result)
}

func stopReason(finish string) string {
	switch finish {
	case "stop":
		return "endTurn"
	case "length":
		return "maxTokens"
	case "tool_calls":
		return "toolUse"
	}
	return finish
}
