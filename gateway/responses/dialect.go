package responses

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// Dialect is a models.Dialect. The zero value is ready.
type Dialect struct{}

// chatAlone are the fields of a chat completion's request that the Responses API
// has no place for, with the values by which they ask for nothing.
var chatAlone = map[string][]string{
	"n": {"1"}, "stop": {"[]"}, "logprobs": {"false"}, "frequency_penalty": {"0", "0.0"}, "presence_penalty": {"0", "0.0"},
	"seed": nil, "logit_bias": {"{}"}, "audio": nil, "modalities": {`["text"]`}, "prediction": nil, "web_search_options": nil,
	"functions": nil, "function_call": nil,
}

// Expressible reports whether the Responses API has a place for everything that
// a chat completion's request asks for; see models.Dialect.
func (Dialect) Expressible(b *models.Body) bool { return len(inexpressible(b)) == 0 }

// inexpressible returns the fields that the Responses API has no place for, of
// those that ask for something.
func inexpressible(b *models.Body) []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(chatAlone)) {
		if value := b.Get(key); value.Exists() && value.Type != gjson.Null && !slices.Contains(chatAlone[key], value.Raw) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Request makes a request one of the Responses API; see models.Dialect.
func (Dialect) Request(b *models.Body) (notices []string) {
	for _, key := range inexpressible(b) {
		notices = append(notices, fmt.Sprintf("%s was not sent: the Responses API, which this model is asked by, has no place for it", key))
	}
	for key := range chatAlone {
		b.Delete(key)
	}
	b.Set("input", models.Append(nil, itemsOf(b.Elements("messages"))...))
	b.Delete("messages")
	if tools := b.Elements("tools"); b.Get("tools").IsArray() {
		for i, tool := range tools {
			tools[i] = itemTool(gjson.ParseBytes(tool))
		}
		b.Set("tools", models.Append(nil, tools...))
	}
	if choice := b.Get("tool_choice"); choice.IsObject() {
		b.Set("tool_choice", itemChoice(choice))
	}
	rename(b, "max_tokens", "max_output_tokens")
	rename(b, "max_completion_tokens", "max_output_tokens")
	moveInto(b, "reasoning_effort", "reasoning", "effort")
	moveInto(b, "verbosity", "text", "verbosity")
	if format := b.Get("response_format"); format.IsObject() {
		b.Set("response_format", itemFormat(format))
	}
	moveInto(b, "response_format", "text", "format")
	dropOption(b, "include_usage")
	b.Set("store", []byte("false"))
	if reasons(b) {
		includeReasoning(b)
	}
	return notices
}

// reasons reports whether reasoning is to be expected: its items are asked for
// then, since nothing is stored. Models that do not reason refuse to be asked.
func reasons(b *models.Body) bool {
	reasoning := b.Get("reasoning")
	return reasoning.IsObject() && reasoning.Get("effort").String() != "none" || models.Reasons(b.Get("model").String())
}

func includeReasoning(b *models.Body) {
	const encrypted = "reasoning.encrypted_content"
	for _, element := range b.Get("include").Array() {
		if element.String() == encrypted {
			return
		}
	}
	var list []byte
	if b.Get("include").IsArray() {
		list = b.Raw("include")
	}
	b.Set("include", models.Append(list, models.Quote(encrypted)))
}

// rename gives a field another name, unless that is there already.
func rename(b *models.Body, from, to string) {
	value := b.Raw(from)
	if value == nil {
		return
	}
	b.Delete(from)
	if !b.Has(to) {
		b.Set(to, value)
	}
}

// moveInto makes a field a member of an object, unless that has it already.
func moveInto(b *models.Body, from, object, key string) {
	value := b.Raw(from)
	if value == nil {
		return
	}
	b.Delete(from)
	into := []byte("{}")
	if o := b.Get(object); o.IsObject() {
		into = []byte(o.Raw)
	}
	if !gjson.GetBytes(into, key).Exists() {
		b.Set(object, models.WithMember(into, key, value))
	}
}

// dropOption takes an option from stream_options.
func dropOption(b *models.Body, key string) {
	options := b.Get("stream_options")
	if !options.Get(key).Exists() {
		return
	}
	rest := models.WithMember([]byte(options.Raw), key, nil)
	if len(gjson.ParseBytes(rest).Map()) == 0 {
		b.Delete("stream_options")
		return
	}
	b.Set("stream_options", rest)
}

// itemFormat returns a response_format as the Responses API has it.
func itemFormat(format gjson.Result) []byte {
	schema := format.Get("json_schema")
	if !schema.IsObject() {
		return []byte(format.Raw)
	}
	return models.WithMember([]byte(schema.Raw), "type", []byte(`"json_schema"`))
}

// chatFormat returns a text format as chat completions have it.
func chatFormat(format gjson.Result) []byte {
	if format.Get("type").String() != "json_schema" {
		return []byte(format.Raw)
	}
	return object(text("type", "json_schema"), member{"json_schema", models.WithMember([]byte(format.Raw), "type", nil)})
}

// itemsOf returns messages as items: those that came as items as they came, but for
// thoughts that a provider would refuse.
func itemsOf(messages [][]byte) [][]byte {
	var items [][]byte
	custom := map[string]bool{} // the ids of calls of custom tools
	for _, raw := range messages {
		m := gjson.ParseBytes(raw)
		for _, call := range m.Get("tool_calls").Array() {
			custom[call.Get("id").String()] = call.Get("custom").IsObject()
		}
		if own := models.Elements([]byte(m.Get(models.ItemsMember).Raw)); sameCalls(m, own) {
			items = append(items, own...)
			continue
		}
		items = append(items, fromMessage(m, custom)...)
	}
	return withoutOrphans(items)
}

// withoutOrphans leaves out reasoning that a provider refuses: what is without the
// item that it led to (a call of ours, which the caller has not seen), and what no
// provider has sealed, or told, in its own words.
func withoutOrphans(items [][]byte) [][]byte {
	var kept [][]byte
	for i, raw := range items {
		item := gjson.ParseBytes(raw)
		if kindOf(item) == reasoningItem {
			known := item.Get("encrypted_content").String() != "" || len(item.Get("content").Array()) > 0
			if !known || i+1 == len(items) || !ledTo(gjson.ParseBytes(items[i+1])) {
				continue
			}
		}
		kept = append(kept, raw)
	}
	return kept
}

// ledTo reports whether reasoning may have led to an item.
func ledTo(item gjson.Result) bool {
	return kindOf(item) != reasoningItem && roleOf(item) != "tool" && (kindOf(item) != messageItem || item.Get("role").String() == "assistant")
}

// sameCalls reports whether the items of a message hold the calls that it has, under
// the same ids: those are replaced where a provider repeats them.
func sameCalls(m gjson.Result, items [][]byte) bool {
	if len(items) == 0 {
		return false
	}
	ids := map[string]bool{}
	for _, raw := range items {
		if item := gjson.ParseBytes(raw); isCall(item) {
			ids[item.Get("call_id").String()] = true
		}
	}
	for _, call := range m.Get("tool_calls").Array() {
		if !ids[call.Get("id").String()] {
			return false
		}
	}
	return true
}

// fromMessage returns a message of chat completions as items.
func fromMessage(m gjson.Result, custom map[string]bool) [][]byte {
	switch role := m.Get("role").String(); role {
	case "tool":
		id := m.Get("tool_call_id")
		kind := functionOutput
		if custom[id.String()] {
			kind = customOutput
		}
		return [][]byte{object(text("type", kind), raw("call_id", id), member{"output", itemContent(m.Get("content"))})}
	case "assistant":
		return fromAssistant(m)
	default:
		return [][]byte{object(text("type", messageItem), raw("role", m.Get("role")), member{"content", itemContent(m.Get("content"))})}
	}
}

func fromAssistant(m gjson.Result) [][]byte {
	var items [][]byte
	content := m.Get("content")
	said := content.String()
	if content.IsArray() {
		said = joined(content)
	}
	if said += m.Get("refusal").String(); said != "" {
		items = append(items, object(text("type", messageItem), text("role", "assistant"), text("content", said)))
	}
	for _, call := range m.Get("tool_calls").Array() {
		items = append(items, callItem(call, "", ""))
	}
	return items
}
