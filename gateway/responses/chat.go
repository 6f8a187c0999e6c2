package responses

import (
	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// itemsAlone are the fields of a request of the Responses API that providers of
// chat completions have no place for.
var itemsAlone = []string{
	"include", "truncation", "background", "conversation", "previous_response_id", "prompt", "max_tool_calls",
	"context_management", "instructions", "text", "reasoning", "store", "stream_options",
}

// openAIAlone are fields that chat completions have at OpenAI, while others refuse
// what they do not know.
var openAIAlone = []string{"prompt_cache_key", "prompt_cache_retention", "safety_identifier"}

// Chat makes a request of the Responses API's one of chat completions; see
// models.Dialect.
func (Dialect) Chat(d *models.Deployment, b *models.Body) (notices []string) {
	b.Set("messages", models.Append(nil, plainMessages(b)...))
	tools, notices := flatten(b.Elements("tools"))
	if b.Get("tools").IsArray() {
		b.Set("tools", models.Append(nil, tools...))
		if len(tools) == 0 {
			b.Delete("tools")
		}
	}
	if choice := b.Get("tool_choice"); len(tools) == 0 || choice.IsObject() && !choice.Get(choice.Get("type").String()).IsObject() {
		b.Delete("tool_choice") // of a tool that is not there
	}
	if len(tools) == 0 {
		b.Delete("parallel_tool_calls")
	}
	limit := "max_tokens"
	if d.Provider == "openai" {
		limit = "max_completion_tokens"
	}
	rename(b, "max_output_tokens", limit)
	if effort := b.Get("reasoning").Get("effort"); effort.String() != "" && !b.Has("reasoning_effort") {
		b.Set("reasoning_effort", []byte(effort.Raw))
	}
	written := b.Get("text")
	if format := written.Get("format"); format.IsObject() && format.Get("type").String() != "text" {
		b.Set("response_format", chatFormat(format))
	}
	if verbosity := written.Get("verbosity"); verbosity.String() != "" {
		b.Set("verbosity", []byte(verbosity.Raw))
	}
	options := b.Get("stream_options").Get("include_usage").Bool()
	for _, key := range itemsAlone {
		b.Delete(key)
	}
	if options {
		b.Set("stream_options", []byte(`{"include_usage":true}`))
	}
	if d.Provider != "openai" {
		for _, key := range openAIAlone {
			b.Delete(key)
		}
	}
	return notices
}

// plainMessages returns a request's messages with its instructions before them,
// and without what only the Responses API has.
func plainMessages(b *models.Body) [][]byte {
	var list [][]byte
	if instructions := b.Get("instructions"); instructions.Type == gjson.String && instructions.String() != "" {
		list = append(list, object(text("role", "system"), raw("content", instructions)))
	}
	var seen [][]byte // what tools have shown
	for _, message := range b.Elements("messages") {
		m := gjson.ParseBytes(message)
		role := m.Get("role").String()
		if role == "assistant" && !m.Get("tool_calls").Exists() && m.Get("content").Type == gjson.Null {
			continue // what was only thought
		}
		message = models.WithMember(message, models.ItemsMember, nil)
		if role != "tool" {
			list, seen = shown(list, seen), nil
		} else if content := m.Get("content"); content.IsArray() {
			told, others := partTexts(content)
			message, seen = models.WithMember(message, "content", told), append(seen, others...)
		}
		list = append(list, message)
	}
	return shown(list, seen)
}

// partTexts parts the texts of a tool's result from what else is in it, which
// providers of chat completions take from users alone.
func partTexts(content gjson.Result) (texts []byte, others [][]byte) {
	var list [][]byte
	for _, part := range content.Array() {
		if part.Get("type").String() == "text" {
			list = append(list, []byte(part.Raw))
		} else {
			others = append(others, []byte(part.Raw))
		}
	}
	if list == nil {
		list = [][]byte{object(text("type", "text"), text("text", "(see the message after the results)"))}
	}
	return models.Append(nil, list...), others
}

// shown returns messages with one at their end that shows what tools have shown.
func shown(list, parts [][]byte) [][]byte {
	if len(parts) == 0 {
		return list
	}
	return append(list, object(text("role", "user"), member{"content", models.Append(nil, parts...)}))
}
